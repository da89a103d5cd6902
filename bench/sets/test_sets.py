"""Tests of the scripts on made-up files in the published forms: the standard library is enough, no network."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import api_bank
import banking77
import clinc150
import crosswoz
import form
import hwu64
import metatool

HERE = os.path.dirname(os.path.abspath(__file__))


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def put(self, name, text):
        path = os.path.join(self.folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf8", newline="") as f:
            f.write(text)

    def put_json(self, name, value):
        self.put(name, json.dumps(value, ensure_ascii=False, indent=4))

    def assertSound(self, made):
        """What holds of every set: no text twice, none a trigger, names and domains known."""
        triggers = {t for s in made.skills.values() for t in s["triggers"]}
        texts = [r["text"] for part in made.rows.values() for r in part]
        self.assertEqual(len(texts), len(set(texts)))
        self.assertFalse(triggers & set(texts))
        for part in made.rows.values():
            for row in part:
                self.assertEqual(row["oos"], not row["skills"])
                self.assertEqual(set(row["domains"]), {made.skills[s]["domain"] for s in row["skills"]})
        self.assertTrue(made.rows["dev"] and made.rows["test"])


class Form(InFolder):
    def test_triggers_are_at_most_a_third(self):
        for phrases, want in ((0, 0), (1, 1), (2, 1), (5, 1), (6, 2), (15, 5), (40, 5)):
            made = form.Set("s")
            rest = made.skill("x", "d", "x", [f"text {i}" for i in range(phrases)])
            self.assertEqual((len(made.skills["x"]["triggers"]), len(rest)), (want, phrases - want))

    def test_a_draw_depends_on_seed_and_skill_alone(self):
        def draw(seed, *skills):
            made = form.Set("s", seed)
            for name in skills:
                made.skill(name, "d", name, [f"text {name} {i}" for i in range(30)])
            return made.skills["b"]["triggers"]

        self.assertEqual(draw(1, "a", "b"), draw(1, "b"))
        self.assertNotEqual(draw(1, "b"), draw(2, "b"))

    def test_spread_takes_of_each_in_turn(self):
        made = form.Set("s")
        for name in "ab":
            made.skill(name, "d", name)
        left = made.spread("dev", {"b": ["b1"], "a": ["a1", "a1", "a2", "a3", "a4"]}, 4)
        self.assertEqual([r["text"] for r in made.rows["dev"]], ["a1", "b1", "a2", "a3"])
        self.assertEqual(left, {"a": ["a4"], "b": []})
        self.assertEqual(made.dropped, 1)

    def test_two_skills_of_one_domain(self):
        made = form.Set("s")
        for name, domain in (("a", "d"), ("b", "d"), ("c", "e")):
            made.skill(name, domain, name)
        made.add("dev", " both\n needs ", "a", "b", "c")
        self.assertEqual(made.rows["dev"], [{"text": "both needs", "skills": ["a", "b", "c"], "domains": ["d", "e"], "oos": False}])

    def test_errors_say_file_and_what(self):
        self.put("x.csv", "text,label\na,b\n")
        with self.assertRaisesRegex(form.SourceError, r"x\.csv: no column category; there are text, label"):
            list(form.read_csv(os.path.join(self.folder, "x.csv"), "text", "category"))
        self.put("x.csv", "text,category\na,b\nc\n")
        with self.assertRaisesRegex(form.SourceError, r"x\.csv:3: too few columns"):
            list(form.read_csv(os.path.join(self.folder, "x.csv"), "text", "category"))
        self.put("x.json", "{")
        with self.assertRaisesRegex(form.SourceError, r"x\.json: "):
            form.read_json(os.path.join(self.folder, "x.json"))
        with self.assertRaisesRegex(form.SourceError, "holds no train.csv or banking_data/train.csv"):
            banking77.make(self.folder)


class Clinc150(InFolder):
    def test_make(self):
        def texts(split, n):
            return [[f"{verb} it, {split} {i}", intent] for intent, verb in (("pay_bill", "pay"), ("alarm", "wake")) for i in range(n)]

        data = {"train": texts("train", 20), "val": texts("val", 6), "test": texts("test", 3)}
        data |= {f"oos_{split}": [[f"why, {split} {i}", "oos"] for i in range(2)] for split in ("train", "val", "test")}
        data["test"].append(["pay it, test 0", "pay_bill"])
        self.put_json("data/data_full.json", data)
        self.put_json("data/domains.json", {"banking": ["pay_bill"], "utility": ["alarm"]})
        made = clinc150.make(self.folder)
        self.assertSound(made)
        self.assertEqual(made.skills["pay_bill"]["domain"], "banking")
        self.assertEqual(made.skills["pay_bill"]["description"], "pay bill")
        self.assertEqual(len(made.skills["alarm"]["triggers"]), 5)
        self.assertEqual([len(made.rows["dev"]), len(made.rows["test"]), made.dropped], [12 + 2, 6 + 2, 1])
        self.assertEqual([r["skills"] for r in made.rows["dev"][:3]], [["alarm"], ["pay_bill"], ["alarm"]])
        self.assertTrue(all("val" in r["text"] for r in made.rows["dev"]))
        self.assertEqual([r["oos"] for r in made.rows["dev"][-3:]], [False, True, True])

    def test_an_intent_without_domain(self):
        self.put_json("data_full.json", {"train": [["a", "lost"]]})
        self.put_json("domains.json", {})
        with self.assertRaisesRegex(form.SourceError, "no domain of lost"):
            clinc150.make(self.folder)


class Banking77(InFolder):
    def test_make(self):
        train = "".join(f'"My card, number {i}, is gone",lost_card\r\nHow old {i}?,age_limit\r\n' for i in range(20))
        self.put("train.csv", "text,category\r\n" + train)
        self.put("test.csv", 'text,category\r\n"Gone, my card",lost_card\r\nMy age?,age_limit\r\n')
        made = banking77.make(self.folder)
        self.assertSound(made)
        self.assertEqual({s["domain"] for s in made.skills.values()}, {"banking"})
        self.assertIn("My card, number", made.skills["lost_card"]["triggers"][0])
        self.assertEqual([len(made.rows["dev"]), len(made.rows["test"])], [30, 2])


class Hwu64(InFolder):
    HEAD = "answerid;scenario;intent;answer_annotation;answer_from_anno;answer_from_user\n"

    def file(self, scenario, intent, texts):
        return self.HEAD + "".join(f'{i};{scenario};{intent};"{t} [date : today]";"{t} today";"{t.upper()} today."\n' for i, t in enumerate(texts))

    def test_make(self):
        fold = hwu64.FOLD
        self.put(f"{fold}/trainset/alarm_remove.csv", self.file("alarm", "remove", [f"cancel alarm {i}" for i in range(18)]))
        self.put(f"{fold}/trainset/iot_hue_lightoff.csv", self.file("iot", "hue_lightoff", [f"lights off {i}" for i in range(9)]))
        self.put(f"{fold}/testset/csv/alarm_remove.csv", self.file("alarm", "remove", ["no alarm"]))
        self.put(f"{fold}/testset/csv/iot_hue_lightoff.csv", self.file("iot", "hue_lightoff", ["dark"]))
        whole = hwu64.make(self.folder)
        self.assertSound(whole)
        self.assertEqual(list(whole.skills), ["alarm_remove", "iot_hue_lightoff"])
        self.assertEqual(whole.skills["iot_hue_lightoff"]["domain"], "iot")
        self.assertEqual(len(whole.skills["iot_hue_lightoff"]["triggers"]), 3)
        self.assertEqual(whole.rows["test"][0]["text"], "no alarm today")
        # The fold's own folder does as well.
        self.assertEqual(hwu64.make(os.path.join(self.folder, *fold.split("/"))).rows, whole.rows)


class MetaTool(InFolder):
    def test_make(self):
        self.put_json("dataset/plugin_des.json", {"Chess": "Play chess.", "NewsTool": "The news \n of today.", "Unasked": "Never."})
        rows = [f'"Play, please, {i}",Chess' for i in range(1000)] + [f"News {i}?,NewsTool" for i in range(950)]
        rows += ["Either?,Chess", "Either?,NewsTool", "Whose?,Nobody"]
        self.put("dataset/data/all_clean_data.csv", "Query,Tool\n" + "\n".join(rows) + "\n")
        both = [{"query": f'"Chess news {i}?"', "tool": ["Chess", "NewsTool"]} for i in range(110)]
        both.append({"query": "Another", "tool": ["Chess", "Gone"]})
        self.put_json("dataset/data/multi_tool_query_golden.json", both)
        self.assertEqual({s["domain"] for s in metatool.make(self.folder).skills.values()}, {"tools"})
        self.put_json("domains.json", {"games": ["Chess"], "news": ["NewsTool", "Unasked"]})
        made = metatool.make(self.folder)
        self.assertSound(made)
        self.assertEqual(made.skills["NewsTool"]["description"], "The news of today.")
        self.assertEqual([made.skills[s]["domain"] for s in ("Chess", "NewsTool")], ["games", "news"])
        self.assertNotIn("Unasked", made.skills)
        self.assertEqual(made.left_out, {"queries of tools without a description or a domain": {"Nobody": True}})
        self.assertEqual([len(made.rows["dev"]), len(made.rows["test"])], [2000, 1950 - 10 - 1900 + 10])
        pairs = [r for r in made.rows["dev"] if len(r["skills"]) == 2]
        self.assertEqual(len(pairs), 100)
        self.assertRegex(pairs[0]["text"], r"^Chess news \d+\?$")
        self.assertFalse([r for part in made.rows.values() for r in part if r["text"] == "Either?"])


class CrossWOZ(InFolder):
    def dialogues(self, split, n):
        turns = []
        for i in range(n):
            turns += [
                (f"{split}{i}，酒店电话多少？", [["Inform", "酒店", "名称", f"店{i}"], ["Request", "酒店", "电话", ""]]),
                (f"{split}{i}，有叫醒服务吗？", [["Request", "酒店", "酒店设施-叫醒服务", ""]]),
                (f"{split}{i}，找个便宜的餐馆", [["General", "greet", "none", "none"], ["Inform", "餐馆", "人均消费", "50以下"]]),
                (f"{split}{i}，景点附近的餐馆，电话呢", [["Select", "餐馆", "源领域", "景点"], ["Request", "餐馆", "电话", ""], ["Request", "景点", "电话", ""]]),
                (f"{split}{i}，从这里出发", [["Inform", "地铁", "出发地", "这里"]]),
                (f"{split}{i}，谢谢", [["General", "thank", "none", "none"]]),
                (f"{split}{i}，未标注", []),
            ]
        messages = []
        for text, acts in turns:
            messages += [{"content": text, "role": "usr", "dialog_act": acts, "user_state": []}]
            messages += [{"content": "好的。", "role": "sys", "dialog_act": [["General", "welcome", "none", "none"]], "sys_state": {}}]
        return {"4231": {"sys-usr": [19, 85], "goal": [], "messages": messages, "type": "不独立多领域"}}

    def put_zip(self, name, value):
        path = os.path.join(self.folder, "data", "crosswoz")
        os.makedirs(path, exist_ok=True)
        with zipfile.ZipFile(os.path.join(path, name + ".json.zip"), "w") as z:
            z.writestr(name + ".json", json.dumps(value, ensure_ascii=False))

    def test_make(self):
        val = self.dialogues("验证", 6)
        val["4231"]["messages"].append({"content": "测试0，谢谢", "role": "usr", "dialog_act": [["General", "thank", "none", "none"]]})
        self.put_zip("val", val)
        self.put_zip("test", self.dialogues("测试", 2))
        made = crosswoz.make(self.folder)
        self.assertSound(made)
        self.assertEqual(
            {s["skill"]: (s["description"], len(s["triggers"])) for s in made.skills.values()},
            {
                "景点.电话": ("查询景点的电话", 0),
                "酒店.电话": ("查询酒店的电话", 2),
                "酒店.酒店设施": ("查询酒店的酒店设施", 2),
                "餐馆.按条件查找": ("按条件查找或推荐餐馆", 2),
                "餐馆.电话": ("查询餐馆的电话", 0),
            },
        )
        self.assertEqual([len(made.rows["dev"]), len(made.rows["test"])], [6 * 5 - 6, 2 * 5])
        self.assertEqual([r["oos"] for r in made.rows["test"]], [False] * 8 + [True] * 2)
        two = [r for r in made.rows["test"] if len(r["skills"]) == 2]
        self.assertEqual([(r["skills"], r["domains"]) for r in two], [(["景点.电话", "餐馆.电话"], ["景点", "餐馆"])] * 2)


class ApiBank(InFolder):
    def test_make(self):
        token = 'class GetUserToken(API):\n    description = "Get the user\'s token."\n    input_parameters = {}\n'
        alarm = "class AddAlarm(API):\n    description = 'Add an alarm.'\n"
        cells = [("账号管理", "GetUserToken", token), ("日程管理", "AddAlarm", alarm), ("日程管理", "Memo", '{"description": "A memo."}')]
        lines = [f'{i},{scenario},{name},"{info.replace(chr(34), chr(34) * 2)}"' for i, (scenario, name, info) in enumerate(cells)]
        self.put("data/all_apis.csv", "id,应用场景,类名,api_info\n" + "\n".join(lines) + "\n")
        for i in range(6):
            turns = [
                {"role": "User", "text": f"Wake me, please, {i}."},
                {"role": "AI", "text": "Who are you?"},
                {"role": "User", "text": "It is me."},
                {"role": "API", "api_name": "GetUserToken", "param_dict": {"username": "me"}, "result": {"output": {}, "exception": None}},
                {"role": "API", "api_name": "AddAlarm", "param_dict": {"time": "7"}, "result": {"output": "success", "exception": None}},
                {"role": "AI", "text": "Done."},
            ]
            if i == 0:
                turns[4]["api_name"] = "Unknown"
            if i == 2:
                del turns[4]
            self.put(f"{api_bank.SAMPLES}/AddAlarm-level-1-{i}.jsonl", "".join(json.dumps(t) + "\n" for t in turns))
        made = api_bank.make(self.folder)
        self.assertSound(made)
        self.assertEqual([s["description"] for s in made.skills.values()], ["Get the user's token.", "Add an alarm.", "A memo."])
        self.assertEqual(len(made.rows["dev"]) + len(made.rows["test"]), 5)
        self.assertEqual(made.left_out, {"calls of APIs that the table does not have": {"Unknown": True}})
        by_text = {r["text"]: r["skills"] for part in made.rows.values() for r in part}
        self.assertEqual(by_text["Wake me, please, 2. It is me."], ["GetUserToken"])
        self.assertNotIn("Wake me, please, 0. It is me.", by_text)
        self.assertEqual(by_text["Wake me, please, 1. It is me."], ["AddAlarm"])


class Command(InFolder):
    def run_script(self, *args):
        return subprocess.run([sys.executable, os.path.join(HERE, "banking77.py"), *args], capture_output=True, text=True)

    def test_same_input_same_bytes(self):
        self.put("in/train.csv", "text,category\n" + "".join(f"card {i},a\nage {i},b\n" for i in range(20)))
        self.put("in/test.csv", "text,category\nmy card,a\n")
        source = os.path.join(self.folder, "in")
        written = []
        for out, seed in (("one", "7"), ("two", "7"), ("three", "8")):
            done = self.run_script(source, os.path.join(self.folder, out), "--seed", seed, "--triggers", "3")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, "banking77: 2 skills in 1 domain; dev 34 utterances (0 out of scope), test 1 (0); 0 dropped, repeats or triggers\n")
            files = {}
            for name in sorted(os.listdir(os.path.join(self.folder, out))):
                with open(os.path.join(self.folder, out, name), "rb") as f:
                    files[name] = f.read()
            written.append(files)
        self.assertEqual(list(written[0]), ["catalog.jsonl", "queries-dev.jsonl", "queries-test.jsonl"])
        self.assertEqual(written[0], written[1])
        self.assertNotEqual(written[0], written[2])
        skill = json.loads(written[0]["catalog.jsonl"].splitlines()[0])
        self.assertEqual((list(skill), len(skill["triggers"])), (["skill", "domain", "description", "triggers"], 3))
        row = json.loads(written[0]["queries-test.jsonl"])
        self.assertEqual(row, {"text": "my card", "skills": ["a"], "domains": ["banking"], "oos": False})

    def test_missing_input(self):
        done = self.run_script(self.folder, os.path.join(self.folder, "out"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("banking77.py: ", done.stderr)
        self.assertIn("bench/sets/README.md says what to fetch", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "out")))


if __name__ == "__main__":
    unittest.main()
