"""The form of a set, and how its rows are drawn.

A set is a folder with catalog.jsonl (a skill a line: skill, domain,
description, triggers), queries-dev.jsonl and queries-test.jsonl (an utterance a
line: text, skills, domains, oos). Lines are written in one order, and a draw
depends on the seed, the set and the skill alone: the same input gives the same
bytes.
"""

import argparse
import csv
import json
import os
import random
import sys

SEED = 20261130
TRIGGERS = 5
DEV = 2000  # about so many utterances in queries-dev.jsonl, where there are more


class SourceError(Exception):
    """The input is not in the published form."""


class Set:
    """A set being made: skills first, then its two files of utterances."""

    def __init__(self, name, seed=SEED, triggers=TRIGGERS):
        self.name, self.seed, self.triggers = name, seed, triggers
        self.skills = {}
        self.rows = {"dev": [], "test": []}
        self.dropped = 0  # utterances that equal a trigger, or one that is there already
        self.left_out = {}  # why → of what, each once: rows that the source itself does not explain
        self._taken = set()

    def leave_out(self, why, what):
        self.left_out.setdefault(why, {})[what] = True

    def rng(self, what):
        return random.Random(f"{self.seed}/{self.name}/{what}")

    def skill(self, name, domain, description, phrases=()):
        """Adds a skill. Some of the phrases become its triggers; returns the others, shuffled.

        Triggers are at most a third of the phrases, so that rare skills keep some to ask for.
        """
        if name in self.skills:
            raise SourceError(f"skill {name} comes twice")
        phrases = list(dict.fromkeys(map(clean, phrases)))
        self.rng(name).shuffle(phrases)
        n = min(self.triggers, max(len(phrases) // 3, min(len(phrases), 1)))
        self.skills[name] = {"skill": name, "domain": domain, "description": clean(description), "triggers": phrases[:n]}
        self._taken.update(phrases[:n])
        return phrases[n:]

    def add(self, part, text, *skills):
        """Adds an utterance to dev or test; without a skill it is out of scope. False if it was there, or is a trigger."""
        text = clean(text)
        if not text or text in self._taken:
            self.dropped += 1
            return False
        self._taken.add(text)
        domains = dict.fromkeys(self.skills[s]["domain"] for s in skills)
        self.rows[part].append({"text": text, "skills": list(skills), "domains": list(domains), "oos": not skills})
        return True

    def spread(self, part, pools, n):
        """Adds n utterances of pools, a dict of skill → texts, one of each skill in turn; returns what is left of each."""
        pools = {skill: list(texts) for skill, texts in sorted(pools.items())}
        while n > 0 and any(pools.values()):
            for skill, texts in pools.items():
                added = False
                while not added and n > 0 and texts:
                    added = self.add(part, texts.pop(0), skill)
                n -= added
        return pools

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        files = {
            "catalog.jsonl": [self.skills[name] for name in sorted(self.skills)],
            "queries-dev.jsonl": self.rows["dev"],
            "queries-test.jsonl": self.rows["test"],
        }
        for name, lines in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf8", newline="\n") as f:
                f.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def counts(self):
        """One line for people."""
        domains = len({s["domain"] for s in self.skills.values()})
        oos = {part: sum(r["oos"] for r in rows) for part, rows in self.rows.items()}
        return (
            f"{self.name}: {len(self.skills)} skills in {domains} domain{'s' * (domains != 1)}; "
            f"dev {len(self.rows['dev'])} utterances ({oos['dev']} out of scope), "
            f"test {len(self.rows['test'])} ({oos['test']}); {self.dropped} dropped, repeats or triggers"
        )


def clean(text):
    return " ".join(text.split())


def words(name):
    """A name written with underscores, as a description."""
    return name.replace("_", " ")


def source(folder, *names):
    """Path of the first of the files that is there."""
    for name in names:
        path = os.path.join(folder, *name.split("/"))
        if os.path.exists(path):
            return path
    raise SourceError(f"{folder} holds no {' or '.join(names)}: bench/sets/README.md says what to fetch")


def read_json(path):
    try:
        with open(path, encoding="utf-8-sig") as f:
            return json.load(f)
    except ValueError as err:
        raise SourceError(f"{path}: {err}") from err


def read_csv(path, *columns, delimiter=","):
    """Rows of a CSV file with a header, as tuples of the columns named."""
    with open(path, encoding="utf-8-sig", newline="") as f:
        reader = csv.DictReader(f, delimiter=delimiter)
        missing = [c for c in columns if c not in (reader.fieldnames or [])]
        if missing:
            raise SourceError(f"{path}: no column {', '.join(missing)}; there are {', '.join(reader.fieldnames or [])}")
        for row in reader:
            values = tuple(row[c] for c in columns)
            if None in values:
                raise SourceError(f"{path}:{reader.line_num}: too few columns")
            yield values


def run(make, description):
    """The command of a script: make(input folder, seed, triggers) returns a Set."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("input", help="folder with the published files")
    parser.add_argument("output", help="folder for catalog.jsonl, queries-dev.jsonl and queries-test.jsonl; made if it is missing")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the draw (default %(default)s)")
    parser.add_argument("--triggers", type=int, default=TRIGGERS, help="triggers a skill, 0 for none (default %(default)s)")
    args = parser.parse_args()
    if args.triggers < 0:
        parser.error(f"--triggers {args.triggers}: write 0 for none")
    try:
        made = make(args.input, args.seed, args.triggers)
    except SourceError as err:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {err}")
    made.write(args.output)
    print(made.counts())
    for why, what in made.left_out.items():
        print(f"left out, {why}: {', '.join(what)}")
