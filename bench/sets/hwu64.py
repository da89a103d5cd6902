"""HWU64: 64 intents of a home assistant in 18 scenarios, cross-validation fold KFold_1.

The texts are answer_from_anno: the answers of people, cleaned. Dev is 2,000 of
the fold's training queries that are no triggers; test is its test set.
"""

import glob
import os

import form

FOLD = "CrossValidation/autoGeneFromRealAnno/autoGene_2018_03_22-13_01_25_169/CrossValidation/KFold_1"


def read(folder):
    pools = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
        for scenario, intent, text in form.read_csv(path, "scenario", "intent", "answer_from_anno", delimiter=";"):
            pools.setdefault((scenario, intent), []).append(text)
    if not pools:
        raise form.SourceError(f"{folder} holds no .csv")
    return pools


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    train = read(form.source(folder, "trainset", FOLD + "/trainset"))
    test = read(form.source(folder, "testset/csv", FOLD + "/testset/csv"))
    made = form.Set("hwu64", seed, triggers)
    rest = {}
    for (scenario, intent), texts in sorted(train.items()):
        name = f"{scenario}_{intent}"
        rest[name] = made.skill(name, scenario, form.words(name), texts)
    for (scenario, intent), texts in test.items():
        name = f"{scenario}_{intent}"
        if name not in rest:
            raise form.SourceError(f"testset has {name}, trainset has not")
        for text in texts:
            made.add("test", text, name)
    made.spread("dev", rest, form.DEV)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
