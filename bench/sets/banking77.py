"""BANKING77: 77 intents of one bank, close to each other; a flat set in one domain.

Dev is 2,000 of the official training queries that are no triggers; test is the
official test split.
"""

import form


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    pools = {}
    for text, intent in form.read_csv(form.source(folder, "train.csv", "banking_data/train.csv"), "text", "category"):
        pools.setdefault(intent, []).append(text)
    made = form.Set("banking77", seed, triggers)
    rest = {intent: made.skill(intent, "banking", form.words(intent), texts) for intent, texts in sorted(pools.items())}
    test = form.source(folder, "test.csv", "banking_data/test.csv")
    for text, intent in form.read_csv(test, "text", "category"):
        if intent not in pools:
            raise form.SourceError(f"{test}: category {intent} is not in train.csv")
        made.add("test", text, intent)
    made.spread("dev", rest, form.DEV)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
