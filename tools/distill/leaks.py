"""Texts to train on must not hold what is measured on: whole sentences of evaluation sets among them are leaks."""

import collections
import json
import os
import re

from tokens import HAN, fold

MIN_WORDS, MIN_HAN = 5, 8  # shorter sentences are common property

_END = re.compile(r"(?<=[.!?])\s+|[。！？；\n]+")
_WORD = re.compile("[a-z0-9]+|[\u3400-\u9fff]")


def sentences(text):
    """The sentences of text, and text as a whole, as words and Han characters alone, case and accents
    folded: what is long enough to be recognised, each once."""
    out = {}
    for part in [text, *_END.split(text)]:
        words = _WORD.findall(fold(part))
        han = sum(1 for w in words if HAN.match(w))
        if han >= MIN_HAN or len(words) - han >= MIN_WORDS:
            out[" ".join(words)] = None
    return list(out)


def evaluation_texts(folder):
    """Yields (file, line, text) of every utterance in the .jsonl files below folder: `text` of a row of
    queries, `user` of each turn of a dialogue. Catalogs have neither."""
    for path in sorted(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.endswith(".jsonl")):
        with open(path, encoding="utf8") as f:
            for number, line in enumerate(f, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as err:
                    raise ValueError(f"{path}:{number}: not JSON: {err}") from err
                if not isinstance(row, dict):
                    continue
                if isinstance(row.get("text"), str):
                    yield path, number, row["text"]
                for turn in row.get("turns") or []:
                    if isinstance(turn, dict) and isinstance(turn.get("user"), str):
                        yield path, number, turn["user"]


# place: (file, line) of the text; sentence: what it shares; held: "file:line" in the sets.
Leak = collections.namedtuple("Leak", "place sentence held")


def find(texts, folder):
    """The leaks among texts, [(file, line, text)], and how many evaluation sentences were looked for.
    A folder without any is an error: it would prove nothing."""
    held = {}
    for path, number, text in evaluation_texts(folder):
        for s in sentences(text):
            held.setdefault(s, f"{path}:{number}")
    if not held:
        raise ValueError(f"{folder}: no evaluation sentence in any .jsonl file below it")
    found = []
    for path, number, text in texts:
        found += [Leak((path, number), s, held[s]) for s in sentences(text) if s in held]
    return found, len(held)
