"""The peers: each ranks the skills of a catalog for a text.

A ranker has a `label` and `rank(text)`, which returns (skill, score), best
first. A skill that has nothing in common with the text may be left out.
"""

import re

import numpy as np


JOINTS = re.compile(r"[_-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def described(skill):
    """"name: description", the name in words: an encoder makes little of ModifyPassword."""
    return f"{JOINTS.sub(' ', skill['skill'])}: {skill['description']}"


def phrases(skill):
    """The texts that stand for a skill: its description, and what users say."""
    return [described(skill), *skill["triggers"]]


class Cosine:
    """Cosine to the nearest text of each skill."""

    def __init__(self, catalog, encoder, texts=phrases):
        what = "description" if texts is described else "best of description and triggers"
        self.label = f"{encoder.name} cosine, {what}"
        self.encoder = encoder
        self.names = [s["skill"] for s in catalog]
        lists = [[texts(s)] if texts is described else texts(s) for s in catalog]
        self.vectors = np.stack([encoder.encode(t) for texts in lists for t in texts])
        self.starts = np.cumsum([0] + [len(texts) for texts in lists[:-1]])

    def rank(self, text):
        scores = np.maximum.reduceat(self.vectors @ self.encoder.encode(text), self.starts)
        return [(self.names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")]


class BM25:
    """BM25Okapi of rank_bm25, its own constants, over name, description and triggers as one document."""

    label = "BM25 (rank_bm25)"

    def __init__(self, catalog):
        from rank_bm25 import BM25Okapi

        self.names = [s["skill"] for s in catalog]
        self.index = BM25Okapi([tokens(" ".join(phrases(s))) for s in catalog])

    def rank(self, text):
        scores = self.index.get_scores(tokens(text))
        return [(self.names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable") if scores[i] > 0]


WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")


def tokens(text):
    """Lower-case words and numbers; of a run of Han characters each character and each pair of neighbours."""
    out = []
    for run in WORDS.findall(text.lower()):
        if run[0] < "\u3400":
            out.append(run)
        else:
            out += list(run) + [run[i : i + 2] for i in range(len(run) - 1)]
    return out


class SemanticRouter:
    """IndexedRouter of semantic-router with its local index; the texts of a skill are the utterances of its route.

    aggregation and top_k are its own: the top_k nearest utterances vote, a route
    scores the mean, or the best, of its own among them.
    """

    def __init__(self, catalog, encoder, aggregation="mean", top_k=5):
        from semantic_router import Route
        from semantic_router.encoders import DenseEncoder
        from semantic_router.routers import IndexedRouter

        class Local(DenseEncoder):
            def __call__(self, docs):
                return [encoder.encode(d).tolist() for d in docs]

        self.label = f"semantic-router, {encoder.name}, " + ("as it comes" if (aggregation, top_k) == ("mean", 5) else aggregation)
        self.router = IndexedRouter(
            encoder=Local(name=encoder.name),
            routes=[Route(name=s["skill"], utterances=phrases(s)) for s in catalog],
            aggregation=aggregation,
            top_k=top_k,
        )

    def rank(self, text):
        # A route none of whose utterances is near has the score 0.
        return [(c.name, c.confidence) for c in self.router(text, limit=None) if c.confidence > 0]
