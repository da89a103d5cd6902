"""Tests with a tiny encoder and figures counted by hand: no weights, no network.

The metrics need nothing but Python; tests that need numpy, rank_bm25 or
semantic-router say so where they skip.
"""

import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest
import unittest.mock

import metrics


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"needs {', '.join(missing)}: install bench/peers/requirements.txt")


class Letters:
    """How often a, b and c stand in a text, as a unit vector."""

    name = "letters"
    packages = ("numpy",)
    encoded = 0

    def __init__(self, folder):
        pass

    def encode(self, text):
        import numpy as np

        Letters.encoded += 1
        v = np.array([text.lower().count(c) for c in "abc"], np.float32)
        return v / max(float(np.linalg.norm(v)), 1e-12)


CATALOG = [
    {"skill": "x", "domain": "one", "description": "aaaa", "triggers": ["bbbb", "ab"]},
    {"skill": "y", "domain": "one", "description": "bbba", "triggers": []},
    {"skill": "z", "domain": "two", "description": "cccc", "triggers": ["cb"]},
]


class Metrics(unittest.TestCase):
    def test_figures_by_hand(self):
        def row(*skills, domains=(), oos=False):
            return {"skills": list(skills), "domains": list(domains), "oos": oos}

        rows = [
            row("x", domains=["one"]),  # first: hit@1, hit@5, domain
            row("y", domains=["one"]),  # second: hit@5; the best is of its domain
            row("z", domains=["two"]),  # sixth: no hit; domain wrong
            row("z", domains=["two"]),  # nothing found: no hit, score 0
            row(oos=True),
            row(oos=True),
        ]
        rankings = [
            [("x", 0.9), ("y", 0.1)],
            [("x", 0.5), ("y", 0.4)],
            [("x", 0.3), ("a", 0.2), ("b", 0.2), ("c", 0.2), ("d", 0.2), ("z", 0.1)],
            [],
            [("x", 0.3)],
            [],
        ]
        domain_of = dict.fromkeys("xyabcd", "one") | {"z": "two"}
        got = metrics.figures(rows, rankings, domain_of)
        self.assertEqual([got["hit@1"], got["hit@5"], got["domain_hit@1"]], [1 / 4, 2 / 4, 2 / 4])
        # In scope 0.9 0.5 0.3 0, out 0.3 0: wins 2 + 2 + 1.5 + 0.5 of 8.
        self.assertEqual(got["auroc"], 6 / 8)

    def test_no_rows_of_a_kind(self):
        inside = metrics.figures([{"skills": ["x"], "domains": ["one"], "oos": False}], [[("x", 1.0)]], {"x": "one"})
        self.assertEqual(inside, {"hit@1": 1, "hit@5": 1, "domain_hit@1": 1, "auroc": None})
        outside = metrics.figures([{"skills": [], "domains": [], "oos": True}], [[("x", 1.0)]], {"x": "one"})
        self.assertEqual(outside, {"hit@1": None, "hit@5": None, "domain_hit@1": None, "auroc": None})

    def test_auroc(self):
        for inside, outside, want in (
            ([2, 3], [0, 1], 1),
            ([0, 1], [2, 3], 0),
            ([1, 1], [1, 1], 0.5),
            ([1, 3], [2], 0.5),
            ([], [1], None),
        ):
            self.assertEqual(metrics.auroc(inside, outside), want)

    def test_median(self):
        self.assertEqual([metrics.median([3, 1, 2]), metrics.median([4, 1, 3, 2]), metrics.median([7])], [2, 2, 7])


@needs("numpy")
class Rankers(unittest.TestCase):
    def setUp(self):
        import rankers

        self.rankers = rankers

    def test_names_are_read_in_words(self):
        for name, want in (("ModifyPassword", "Modify Password"), ("PDFReader2Go", "PDF Reader2 Go"), ("set_alarm-clock", "set alarm clock"), ("查天气", "查天气")):
            self.assertEqual(self.rankers.described({"skill": name, "description": "does it"}), want + ": does it")

    def test_tokens(self):
        self.assertEqual(self.rankers.tokens("Fix CI-2 now"), ["fix", "ci", "2", "now"])
        self.assertEqual(self.rankers.tokens("查天气 API"), ["查", "天", "气", "查天", "天气", "api"])
        self.assertEqual(self.rankers.tokens("?!"), [])

    def test_cosine_takes_the_best_text_of_a_skill(self):
        encoder = Letters(None)
        # "b" is the second text of x, and near the only one of y.
        best = self.rankers.Cosine(CATALOG, encoder).rank("b")
        self.assertEqual([name for name, _ in best], ["x", "y", "z"])
        self.assertAlmostEqual(best[0][1], 1)
        self.assertAlmostEqual(best[1][1], 3 / 10**0.5, places=6)
        self.assertAlmostEqual(best[2][1], 1 / 2**0.5, places=6)
        # By its description x has no b at all, and ties with z: the catalog's order.
        alone = self.rankers.Cosine(CATALOG, encoder, self.rankers.described).rank("b")
        self.assertEqual([name for name, _ in alone], ["y", "x", "z"])

    @needs("rank_bm25")
    def test_bm25_leaves_out_what_has_no_word(self):
        words = [
            {"skill": "rain", "domain": "w", "description": "weather forecast", "triggers": ["will it rain"]},
            {"skill": "mail", "domain": "m", "description": "send letters", "triggers": []},
            {"skill": "天气", "domain": "w", "description": "查天气", "triggers": []},
        ]
        ranker = self.rankers.BM25(words)
        self.assertEqual([name for name, _ in ranker.rank("the weather, please")], ["rain"])
        self.assertEqual([name for name, _ in ranker.rank("明天天气怎么样")], ["天气"])
        self.assertEqual(ranker.rank("nothing known"), [])

    @needs("semantic_router")
    def test_semantic_router(self):
        encoder = Letters(None)
        ranker = self.rankers.SemanticRouter(CATALOG, encoder, "max", 50)
        want = self.rankers.Cosine(CATALOG, encoder).rank("b")
        got = ranker.rank("b")
        self.assertEqual([name for name, _ in got], [name for name, _ in want])
        for (_, a), (_, b) in zip(got, want):
            self.assertAlmostEqual(a, b, places=6)
        # As it comes the five nearest of six vote with their mean: the "x: aaaa" of x is not among them.
        mean = dict(self.rankers.SemanticRouter(CATALOG, encoder).rank("b"))
        self.assertAlmostEqual(mean["x"], (1 + 1 / 2**0.5) / 2, places=6)


@needs("numpy")
class Cache(unittest.TestCase):
    def test_a_text_is_embedded_once(self):
        import encoders

        with tempfile.TemporaryDirectory() as folder:
            first = encoders.Cached(Letters, folder, log=lambda _: None)
            Letters.encoded = 0
            first.fill(["a", "b", "a"])
            self.assertEqual(Letters.encoded, 2)
            again = encoders.Cached(Letters, folder, log=lambda _: None)
            again.fill(["a", "b", "c"])
            self.assertEqual(Letters.encoded, 3)
            self.assertEqual(again.encode("b").tolist(), [0, 1, 0])
            self.assertEqual(Letters.encoded, 3)


@needs("numpy", "rank_bm25", "semantic_router")
class Whole(unittest.TestCase):
    def test_a_set(self):
        import encoders
        import peers

        rows = [
            {"text": "aab", "skills": ["x"], "domains": ["one"], "oos": False},
            {"text": "c", "skills": ["z"], "domains": ["two"], "oos": False},
            {"text": "?", "skills": [], "domains": [], "oos": True},
        ]
        own = {"set": "tiny", "report": {"skill_hit@1": 0.5, "skill_hit@5": 1, "domain_hit@1": 1, "abstain_auroc": 0, "latency_p50_ns": 2500}}
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "tiny"))
            for name, lines in (("tiny/catalog.jsonl", CATALOG), ("tiny/queries-dev.jsonl", rows), ("own.jsonl", [own])):
                with open(os.path.join(folder, name), "w", encoding="utf8") as f:
                    f.writelines(json.dumps(line) + "\n" for line in lines)
            out, err = io.StringIO(), io.StringIO()
            with unittest.mock.patch.object(encoders, "MiniLM", Letters), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                peers.main(
                    ["--sets", folder, "--cache", os.path.join(folder, "cache"), "--encoders", "minilm"]
                    + ["--skillrouter", "ours=" + os.path.join(folder, "own.jsonl"), "--json", os.path.join(folder, "out.json")]
                )
            with open(os.path.join(folder, "out.json"), encoding="utf8") as f:
                result = json.load(f)
        self.assertIn("| tiny | 3 | 3 | ours | 50.0 | 100.0 | 100.0 | – | 2 |", out.getvalue())
        by_peer = {r["peer"]: r for r in result["rows"]}
        self.assertEqual(len(by_peer), 6)
        best = by_peer["letters cosine, best of description and triggers"]
        self.assertEqual([best["hit@1"], best["hit@5"], best["domain_hit@1"], best["auroc"]], [1, 1, 1, 1])
        self.assertGreater(best["us"], 0)
        self.assertEqual(best["domains"], 2)


if __name__ == "__main__":
    unittest.main()
