"""Accuracy of a table alone on labelled sets: cosine to the centroid of each skill.

The router does more (a head over phrases, words in common, calibration). This is
one plain recipe for comparing tables with one another.
"""

import json
import os

import numpy as np

from teachers import unit


def read_jsonl(path):
    with open(path, encoding="utf8") as f:
        return [json.loads(line) for line in f if line.strip()]


def auroc(inside, outside):
    """Chance that an in-scope utterance scores above an out-of-scope one, a tie counting half."""
    scores = np.concatenate([inside, outside])
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(count) - (count - 1) / 2
    return (ranks[place[: len(inside)]].sum() - len(inside) * (len(inside) + 1) / 2) / (len(inside) * len(outside))


def evaluate_set(embed, catalog, queries):
    """Figures of one set, in percent. `domain1` is missing with one domain, `auroc` without out-of-scope rows."""
    catalog = sorted(catalog, key=lambda s: s["skill"])  # equal scores are ordered by name
    phrases = [[f"{s['skill']}: {s['description']}", *s["triggers"]] for s in catalog]
    vectors = embed([p for ps in phrases for p in ps])
    ends = np.cumsum([len(ps) for ps in phrases])
    skills = unit(np.stack([v.mean(0) for v in np.split(vectors, ends[:-1])]))
    scores = embed([q["text"] for q in queries]) @ skills.T
    order = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    rows = [(q, [catalog[k] for k in order[i]]) for i, q in enumerate(queries) if not q["oos"]]
    share = lambda hits: round(100 * float(np.mean(hits)), 2)
    out = {
        "n": len(rows),
        "hit1": share([top[0]["skill"] in q["skills"] for q, top in rows]),
        "hit5": share([any(s["skill"] in q["skills"] for s in top) for q, top in rows]),
    }
    if len({s["domain"] for s in catalog}) > 1:
        out["domain1"] = share([top[0]["domain"] in q["domains"] for q, top in rows])
    oos, best = np.array([q["oos"] for q in queries]), scores.max(1)
    if oos.any():
        out["auroc"] = round(100 * float(auroc(best[~oos], best[oos])), 2)
    return out


def evaluate(embed, folder, queries="queries-dev.jsonl"):
    """Figures of each set at any depth below folder, by its name: a folder with catalog.jsonl and queries."""
    out = {}
    for path, _, files in sorted(os.walk(folder)):
        if "catalog.jsonl" in files and queries in files:
            catalog, rows = (read_jsonl(os.path.join(path, f)) for f in ("catalog.jsonl", queries))
            out[os.path.basename(path)] = evaluate_set(embed, catalog, rows)
    return out
