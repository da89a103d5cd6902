"""CrossWOZ: single Chinese user turns of dialogues about five domains of a trip to Beijing.

A skill is a domain and a slot that is asked for; a turn that asks for none but
names conditions is <domain>.按条件查找. Turns that only greet, thank or say
goodbye are out of scope. The descriptions are ours, made of the slot names.
Triggers come from the validation dialogues, dev is their other turns, test the
official test split. Turns stand without their dialogue, so some need a context
that they do not have.
"""

import io
import json
import zipfile

import form

FIND = "按条件查找"
FOUND_BY_CONDITIONS = ("景点", "餐馆", "酒店")


def turns(path):
    """(text, labels) of each user turn: skills as (domain, slot), none if it only greets."""
    inside = path.rsplit("/", 1)[-1].removesuffix(".zip")
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as z:
            names = [n for n in z.namelist() if n.rsplit("/", 1)[-1] == inside]
            if not names:
                raise form.SourceError(f"{path} holds no {inside}")
            data = json.load(io.TextIOWrapper(z.open(names[0]), encoding="utf8"))
    else:
        data = form.read_json(path)
    for dialogue in data.values():
        for message in dialogue["messages"]:
            if message["role"] == "usr":
                yield message["content"], labels(message["dialog_act"])


def labels(acts):
    """Skills that dialogue acts (intent, domain, slot, value) ask for; None if the turn belongs to nothing here."""
    if not acts:
        return None
    acts = [a for a in acts if a[0] != "General"]
    # A facility of a hotel, 酒店设施-叫醒服务, is the slot 酒店设施.
    asked = [(domain, slot.split("-")[0]) for intent, domain, slot, _ in acts if intent == "Request"]
    named = [(domain, FIND) for _, domain, _, _ in acts if domain in FOUND_BY_CONDITIONS]
    if acts and not asked and not named:
        return None
    return sorted(set(asked or named))


def describe(domain, slot):
    if slot == FIND:
        return f"按条件查找或推荐{domain}"
    if slot == "名称":
        return f"查找{domain}，给出名称或推荐"
    return f"查询{domain}的{slot}"


def make(folder, seed=form.SEED, triggers=form.TRIGGERS):
    def split(name):
        names = (f"{name}.json.zip", f"{name}.json")
        path = form.source(folder, *names, *(f"data/crosswoz/{n}" for n in names))
        return [(text, found) for text, found in turns(path) if found is not None]

    val, test = split("val"), split("test")
    in_test = {form.clean(text) for text, _ in test}
    pools = {}  # turns that ask for one thing and can be triggers
    for text, found in val:
        for label in found:
            pools.setdefault(label, [])
        if len(found) == 1 and form.clean(text) not in in_test:
            pools[found[0]].append(text)
    made = form.Set("crosswoz-zh", seed, triggers)
    for (domain, slot), texts in sorted(pools.items()):
        made.skill(f"{domain}.{slot}", domain, describe(domain, slot), texts)
    for part, rows in (("test", test), ("dev", val)):
        made.rng(part).shuffle(rows)
        # Thanks last, as in the other sets.
        for text, found in sorted(rows, key=lambda row: not row[1]):
            names = [f"{domain}.{slot}" for domain, slot in found]
            if all(n in made.skills for n in names):
                made.add(part, text, *names)
    return made


if __name__ == "__main__":
    form.run(make, __doc__)
