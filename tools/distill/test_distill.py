"""Tests of the pipeline on a tiny corpus with made-up teachers: numpy is enough, no weights, no network."""

import contextlib
import gzip
import io
import json
import os
import tempfile
import unittest
import zlib
from unittest import mock

import distill  # first: it sets the number of threads before numpy is loaded
import numpy as np

import evaluate
import leaks
import packages
import space
import table
import teachers
import train
import vocabulary
from tokens import Embedder, Tokenizer, fold

ENGLISH = [
    "send the invoice",
    "pay the invoice today",
    "play calm music",
    "play the music louder",
    "book a flight",
    "book the cheap flight today",
] * 8
CHINESE = ["发送发票", "今天付发票", "播放音乐", "播放安静的音乐", "订机票", "今天订便宜的机票"] * 8
SMALL = distill.Settings(dim=8, english_words=16, han_characters=30, chinese_words=6, shared=20, held_out=4, epochs=30, batch=16, rate=0.05)


class FakeLexicon:
    def english(self):
        return "the invoice music flight play book pay send today calm x1 supercalifragilistic".split()

    def chinese(self):
        return ["发票", "音乐", "机票"]

    def more_chinese(self):
        return ["播放", "音乐", "a", "今天今天今天"]

    def pieces(self):
        return ["[CLS]", "louder", "##er", "##2", "##loud"]

    def frequency(self, token, chinese):
        return 0.05 if token == "the" else 1e-4


def fake_teacher(teacher_name, size):
    """A teacher that adds up a random vector a letter: like texts have like vectors."""

    class Fake:
        name, dim, encoded = teacher_name, size, []

        def encode(self, texts):
            self.encoded.extend(texts)
            sums = [sum(np.random.RandomState(zlib.crc32(c.encode()) % 2**31).randn(size) for c in t) for t in texts]
            return teachers.unit(np.array(sums, np.float32))

    return Fake


def silent(_):
    pass


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf8") as f:
            f.write(text)
        return path

    def write_rows(self, name, rows):
        return self.write(name, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows))


class TokensTest(unittest.TestCase):
    def test_fold(self):
        for text, want in (("Caf\u00e9", "cafe"), ("don\u2019t Don't", "dont dont"), ("\uff21\uff11", "a1"), ("\ufb01le", "file")):
            self.assertEqual(fold(text), want)

    def test_tokens(self):
        words = ["play", "a", "un", "##do", "##g", "7", "发", "发票", "票据单证", "<num>"]
        tokenize = Tokenizer(words)
        for text, want in (
            ("Play 7", ["play", "7"]),
            ("70", ["<num>"]),
            ("8", []),
            ("undog", ["un", "##do", "##g"]),
            ("ungdo", ["un", "##do"]),  # a single letter counts only at the end
            ("发票据单证", ["发", "发票", "票据单证"]),
            ("zzz!", []),
        ):
            self.assertEqual([words[i] for i in tokenize(text)], want, text)

    def test_others_count_twice_beside_han(self):
        embedder = Embedder(["pdf", "转", "<num>"], np.array([[1, 0], [0, 2], [1, 0]], np.float32))
        np.testing.assert_allclose(embedder(["pdf"])[0], [1, 0])
        np.testing.assert_allclose(embedder(["转 pdf", "转 12"]), [[2**-0.5, 2**-0.5]] * 2, atol=1e-6)
        np.testing.assert_array_equal(embedder(["?"])[0], [0, 0])


class TableTest(Folder):
    def test_layout(self):
        values, scales = np.array([[-7, 7], [0, 1]], np.int8), np.array([1, 0.5], np.float16)
        self.assertEqual(table.pack(values, scales), bytes([0xF1, 0x98, 0x00, 0x3C, 0x00, 0x38]))

    def test_round_trip(self):
        rows = np.random.RandomState(0).randn(5, 8).astype(np.float32)
        rows[2] = 0
        table.write(self.folder, ["a", "b", "c", "d", "<num>"], rows)
        got = table.read(self.folder)
        self.assertLess(np.abs(got.rows - rows).max(), np.abs(rows).max() / 7)
        np.testing.assert_array_equal(got.rows[2], np.zeros(8))
        table.write(self.folder, ["a", "b", "c", "d", "<num>"], got.rows)
        np.testing.assert_allclose(table.read(self.folder).rows, got.rows, rtol=1e-3)

    def test_no_scale_is_zero(self):
        self.assertGreater(table.quantize(np.zeros((1, 4), np.float32))[1][0], 0)

    def test_other_length(self):
        with self.assertRaisesRegex(ValueError, "table.bin has 7 bytes"):
            table.unpack(bytes(7), 2)

    def test_golden(self):
        path = os.path.join(self.folder, "golden.jsonl")
        table.write_golden(path, Embedder(["pdf", "<num>"], np.eye(2, dtype=np.float32)))
        rows = evaluate.read_jsonl(path)
        self.assertEqual(len(rows), 77)
        self.assertEqual(rows[0], {"text": "turn this pdf into plain text", "tokens": [0], "vector": [1.0, 0.0]})


class VocabularyTest(unittest.TestCase):
    def test_order(self):
        got = vocabulary.build(FakeLexicon(), CHINESE, distill.Settings(english_words=3, han_characters=2, chinese_words=4))
        self.assertEqual(got[:3], ["the", "invoice", "music"])
        self.assertEqual(got[3:39], list("abcdefghijklmnopqrstuvwxyz0123456789"))
        self.assertEqual(got[39:41], ["##er", "##loud"])
        self.assertEqual(got[41:], ["票", "发", "发票", "音乐", "机票", "播放", "<num>"])


class TrainTest(unittest.TestCase):
    def test_gradient(self):
        rng = np.random.RandomState(3)
        sums, targets = rng.randn(6, 5), teachers.unit(rng.randn(6, 5))
        parts = (5.0, 0.7, 0.5)
        _, gradient = train.loss_and_gradient(sums, targets, *parts)
        numeric = np.empty_like(sums)
        for i in np.ndindex(*sums.shape):
            step = np.zeros_like(sums)
            step[i] = 1e-5
            up, down = (train.loss_and_gradient(sums + s, targets, *parts)[0] for s in (step, -step))
            numeric[i] = (up - down) / 2e-5
        np.testing.assert_allclose(gradient, numeric, atol=1e-5)

    def test_bags(self):
        bags = train.Bags([[5, 6], [7], [8, 9, 5]])
        tokens, starts = bags.select(np.array([2, 0]))
        self.assertEqual((tokens.tolist(), starts.tolist()), ([8, 9, 5, 5, 6], [0, 3]))

    def test_only_touched_rows_move(self):
        rows = np.zeros((3, 2), np.float32)
        train.SparseAdam(rows).update(np.array([1]), np.array([[1, -1]], np.float32), 0.1)
        np.testing.assert_allclose(rows, [[0, 0], [-0.1, 0.1], [0, 0]], atol=1e-5)


class SpaceTest(unittest.TestCase):
    def test_turn_brings_the_teachers_together(self):
        rng = np.random.RandomState(1)
        english = teachers.unit(rng.randn(300, 6) + 0.5)
        turn = np.linalg.qr(rng.randn(6, 6))[0]
        common = space.Space(english[:200], english[200:250] @ turn, english[:200] @ turn, english[250:], english[250:] @ turn, 6)
        common.chinese_mean = english[:200].mean(0) @ turn
        np.testing.assert_allclose(common.from_chinese(english @ turn), common.from_english(english), atol=1e-6)

    def test_sign_of_axes(self):
        covariance = np.cov(np.random.RandomState(2).randn(4, 50))
        axes = space.main_axes(covariance, 3)
        self.assertTrue((axes[np.abs(axes).argmax(0), range(3)] > 0).all())
        variances = np.diag(axes.T @ covariance @ axes)
        self.assertEqual(sorted(variances, reverse=True), list(variances))


class CacheTest(Folder):
    def test_computes_each_text_once(self):
        teacher = fake_teacher("fake", 4)
        with mock.patch.object(teachers.Cache, "SHARD", 2):
            first = teachers.Cache(self.folder, silent).vectors(teacher, ["a", "b", "a", "c"])
            second = teachers.Cache(self.folder, silent).vectors(teacher, ["c", "d", "a"])
        self.assertEqual(teacher.encoded, ["a", "b", "c", "d"])
        np.testing.assert_array_equal(first[0], first[2])
        np.testing.assert_array_equal(second[[2, 0]], first[[0, 3]])

    def test_half_written_shard_is_made_anew(self):
        teacher = fake_teacher("fake", 4)
        want = teachers.Cache(self.folder, silent).vectors(teacher, ["a"])
        os.remove(os.path.join(self.folder, "fake-0000.json"))
        np.testing.assert_array_equal(teachers.Cache(self.folder, silent).vectors(teacher, ["a"]), want)

    def test_no_shard_is_overwritten(self):
        teacher = fake_teacher("fake", 4)
        with mock.patch.object(teachers.Cache, "SHARD", 1):
            want = teachers.Cache(self.folder, silent).vectors(teacher, ["a", "b", "c"])
            os.remove(os.path.join(self.folder, "fake-0001.json"))
            got = teachers.Cache(self.folder, silent).vectors(teacher, ["a", "b", "c"])
        np.testing.assert_array_equal(got, want)
        self.assertEqual(teacher.encoded, ["a", "b", "c", "b"])

    def test_safetensors(self):
        header = json.dumps({"__metadata__": {}, "w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
        path = os.path.join(self.folder, "w.safetensors")
        with open(path, "wb") as f:
            f.write(len(header).to_bytes(8, "little") + header + np.array([1, -2], "<f4").tobytes())
        np.testing.assert_array_equal(teachers.read_safetensors(path)["w"], [[1, -2]])

    def test_missing_package(self):
        with self.assertRaisesRegex(packages.PackageError, "no_such_package_here is not installed"):
            packages.pinned("no_such_package_here/x")


class LeaksTest(Folder):
    def setUp(self):
        super().setUp()
        self.write_rows("sets/s/queries-dev.jsonl", [{"text": "Can you cancel my order? Thanks", "skills": []}, {"text": "帮我取消昨天的订单吧"}])
        self.write_rows("sets/dialogues/d.jsonl", [{"turns": [{"user": "what about the day after tomorrow"}]}])
        self.write_rows("sets/s/catalog.jsonl", [{"skill": "s", "description": "cancels orders that were not sent yet"}])

    def leaks(self, text):
        self.write("texts/en.txt", "fine line\n" + text + "\n")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = distill.main(["leaks", "--texts", os.path.join(self.folder, "texts"), "--sets", os.path.join(self.folder, "sets")])
        return code, out.getvalue()

    def test_leaks(self):
        for text in (
            "can you cancel my order",
            "Hello there. Can you CANCEL my order?!",
            "what about the day after tomorrow",
            "帮我取消昨天的订单吧。",
        ):
            code, out = self.leaks(text)
            self.assertEqual(code, 1, text)
            self.assertRegex(out, r"en\.txt:2: is in .*jsonl:\d: ")

    def test_no_leaks(self):
        for text in ("thanks", "can you cancel my orders", "so can you cancel my order", "取消订单", "cancels orders that were not sent yet"):
            code, out = self.leaks(text)
            self.assertEqual((code, out[:10]), (0, "leaks: 0 i"), text)

    def test_nothing_to_look_for(self):
        with self.assertRaisesRegex(ValueError, "no evaluation sentence"):
            leaks.find([], os.path.join(self.folder, "texts"))

    def test_bad_row(self):
        self.write("sets/x.jsonl", "{\n")
        with self.assertRaisesRegex(ValueError, "x.jsonl:1: not JSON"):
            leaks.find([], os.path.join(self.folder, "sets"))


class EvaluateTest(unittest.TestCase):
    def test_figures(self):
        vectors = {"pay: p": [1, 0], "send: s": [0, 1], "pay it": [1, 0.1], "send it": [0.1, 1], "hm": [0.6, -0.6], "post it": [1, 0.2]}

        def embed(texts):
            return teachers.unit(np.array([vectors[t] for t in texts], np.float32))

        catalog = [{"skill": k, "description": k[0], "domain": k + "s", "triggers": []} for k in ("send", "pay")]
        queries = [
            {"text": "pay it", "skills": ["pay"], "domains": ["pays"], "oos": False},
            {"text": "send it", "skills": ["send"], "domains": ["sends"], "oos": False},
            {"text": "post it", "skills": ["send"], "domains": ["sends"], "oos": False},
            {"text": "hm", "skills": [], "domains": [], "oos": True},
        ]
        got = evaluate.evaluate_set(embed, catalog, queries)
        self.assertEqual(got, {"n": 3, "hit1": 66.67, "hit5": 100.0, "domain1": 66.67, "auroc": 100.0})

    def test_auroc(self):
        self.assertEqual(evaluate.auroc(np.array([2, 3]), np.array([1, 2])), 0.875)


class PipelineTest(Folder):
    def run_once(self, cache):
        english, chinese = fake_teacher("english", 24), fake_teacher("chinese", 20)
        return distill.distill(ENGLISH + CHINESE, teachers.Cache(cache, silent), FakeLexicon(), english, chinese, SMALL, silent)

    def test_same_bytes_from_an_empty_and_a_warm_cache(self):
        cache = os.path.join(self.folder, "cache")
        tokens, first, report = self.run_once(cache)
        _, second, _ = self.run_once(cache)
        np.testing.assert_array_equal(first, second)
        self.assertEqual(first.shape, (len(tokens), SMALL.dim))
        self.assertEqual(report["texts"], {"english": 48, "chinese": 48, "trained": 90, "without_token": 0})

    def test_learns(self):
        _, _, report = self.run_once(self.folder)
        self.assertGreater(report["agreement"]["english"]["cosine"], 0.9)
        self.assertGreater(report["agreement"]["chinese"]["cosine"], 0.9)

    def test_one_language_alone(self):
        with self.assertRaisesRegex(ValueError, "48 English and 0 Chinese"):
            distill.distill(ENGLISH, None, FakeLexicon(), None, None, SMALL, silent)

    def test_read_texts(self):
        self.write("b.txt", "two\n\n  three \n")
        self.write("c.md", "not read\n")
        with gzip.open(os.path.join(self.folder, "a.txt.gz"), "wt", encoding="utf8") as f:
            f.write("一\n")
        got = [(os.path.basename(p), i, t) for p, i, t in distill.read_texts(self.folder)]
        self.assertEqual(got, [("a.txt.gz", 1, "一"), ("b.txt", 1, "two"), ("b.txt", 3, "three")])

    def test_command(self):
        """The whole command with small settings, made-up teachers and a leaking text."""
        texts, out = (os.path.join(self.folder, d) for d in ("texts", "out"))
        self.write("texts/en.txt", "\n".join([*ENGLISH, "please pay this one old invoice"]))
        self.write("texts/zh.txt", "\n".join(CHINESE))
        self.write_rows("sets/s/catalog.jsonl", [{"skill": k, "description": k, "domain": k, "triggers": []} for k in ("invoice", "music")])
        rows = [{"text": "please pay this one old invoice", "skills": ["invoice"], "domains": ["invoice"], "oos": False}]
        self.write_rows("sets/s/queries-dev.jsonl", rows)
        argv = ["--texts", texts, "--cache", os.path.join(self.folder, "cache"), "--out", out, "--sets", os.path.join(self.folder, "sets")]
        small = mock.Mock(side_effect=lambda seed: SMALL, seed=1)
        with (
            mock.patch.multiple(teachers, MiniLM=fake_teacher("english", 24), USE=fake_teacher("chinese", 20)),
            mock.patch.object(vocabulary, "Lexicon", FakeLexicon),
            mock.patch.object(distill, "Settings", small),
            mock.patch.object(distill, "PACKAGES", ("numpy",)),
            mock.patch.object(distill, "log", silent),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            self.assertEqual(distill.main(argv), 1)
            self.assertFalse(os.path.exists(out))
            self.assertEqual(distill.main([*argv, "--drop-leaks"]), 0)
            self.assertEqual(distill.main([*argv, "--drop-leaks", "--compare", out]), 0)
        with open(os.path.join(out, "report.json"), encoding="utf8") as f:
            report = json.load(f)
        self.assertEqual(report["texts"]["dropped_as_leaks"], 1)
        self.assertEqual(report["outputs"]["table.bin"], distill.describe(out, ["table.bin"])["table.bin"])
        self.assertEqual(report["evaluation"]["new"], report["evaluation"]["old"])
        self.assertEqual(report["evaluation"]["new"]["s"]["n"], 1)


if __name__ == "__main__":
    unittest.main()
