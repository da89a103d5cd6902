"""CLINC150: 150 intents in 10 domains, and queries out of scope.

Dev is 1,900 of the official validation queries and its 100 out of scope; test
is the official test split with the test queries out of scope.
"""

import form


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    # data_oos_plus.json differs in its training queries out of scope, which are not used.
    path = form.source(folder, "data_full.json", "data_oos_plus.json", "data/data_full.json", "data/data_oos_plus.json")
    data = form.read_json(path)
    domains = form.read_json(form.source(folder, "domains.json", "data/domains.json"))
    domain_of = {intent: domain for domain, intents in domains.items() for intent in intents}

    def split(name):
        if name not in data:
            raise form.SourceError(f"{path}: no split {name}")
        pools = {}
        for text, intent in data[name]:
            pools.setdefault(intent, []).append(text)
        return pools

    made = form.Set("clinc150", seed, triggers)
    for intent, texts in sorted(split("train").items()):
        if intent not in domain_of:
            raise form.SourceError(f"domains.json has no domain of {intent}")
        made.skill(intent, domain_of[intent], form.words(intent), texts)
    for intent, texts in split("test").items():
        for text in texts:
            made.add("test", text, intent)
    for text, _ in data["oos_test"]:
        made.add("test", text)
    pools = split("val")
    for intent, texts in pools.items():
        made.rng("dev " + intent).shuffle(texts)
    made.spread("dev", pools, form.DEV - len(data["oos_val"]))
    for text, _ in data["oos_val"]:
        made.add("dev", text)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
