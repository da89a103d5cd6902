"""API-Bank: 101 APIs in 11 scenarios, and what users say in its level-1 dialogues.

An utterance is all user turns of a dialogue joined; its skills are the APIs
called, without GetUserToken where others are. A third is dev, the rest test. No
triggers, whatever --triggers says: there is nothing to draw them from.
"""

import ast
import glob
import json
import os
import re

import form

TOKEN = "GetUserToken"
SAMPLES = "lv1-lv2-samples/level-1-given-desc"


def description(info):
    """The description in a cell of api_info: Python source of the class, or an object in JSON."""
    try:
        return json.loads(info)["description"]
    except (ValueError, KeyError, TypeError):
        pass
    found = re.search(r"""description\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", info)
    return ast.literal_eval(found.group(1)) if found else form.clean(info)


def dialogue(path):
    """(joined user turns, APIs called in order) of one file."""
    said, called = [], []
    with open(path, encoding="utf8") as f:
        for line in filter(str.strip, f):
            turn = json.loads(line)
            if turn["role"] == "User":
                said.append(turn["text"])
            elif turn["role"] == "API":
                called.append(turn["api_name"])
    others = [name for name in dict.fromkeys(called) if name != TOKEN]
    return " ".join(said), others or called[:1]


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    table = form.source(folder, "data/all_apis.csv", "all_apis.csv", "api-bank/data/all_apis.csv")
    samples = form.source(folder, SAMPLES, "api-bank/" + SAMPLES)
    made = form.Set("api-bank", seed, 0)
    for name, scenario, info in form.read_csv(table, "类名", "应用场景", "api_info"):
        made.skill(name, scenario, description(info))
    paths = sorted(glob.glob(os.path.join(samples, "*.jsonl")))
    if not paths:
        raise form.SourceError(f"{samples} holds no .jsonl")
    made.rng("dialogues").shuffle(paths)
    for i, path in enumerate(paths):
        text, called = dialogue(path)
        for name in called:
            if name not in made.skills:
                made.leave_out("calls of APIs that the table does not have", name)
        called = [name for name in called if name in made.skills]
        if called:
            made.add("dev" if i < len(paths) // 3 else "test", text, *called)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
