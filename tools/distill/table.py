"""The files of the table: table.bin, vocab.txt and golden.jsonl."""

import json
import os

import numpy as np

from tokens import Embedder

# The largest value of a row becomes 7, so that a four-bit number holds ±7.
LEVELS = 7


def quantize(rows):
    """Rows as four-bit numbers (int8, -7 to 7) and one float16 scale each."""
    # Below the smallest normal float16 a scale would lose its digits; zero would be no scale at all.
    scales = np.maximum(np.abs(rows).max(1) / LEVELS, 2.0**-14).astype(np.float16)
    values = np.round(rows / scales.astype(np.float32)[:, None])
    return np.clip(values, -LEVELS, LEVELS).astype(np.int8), scales


def pack(values, scales):
    """Bytes of table.bin: rows first, dimension 2j in the low half of byte j and 2j+1 in the high half,
    both plus 8; then the scales, little-endian."""
    halves = (values + 8).astype(np.uint8)
    return (halves[:, 0::2] | halves[:, 1::2] << 4).tobytes() + scales.astype("<f2").tobytes()


def unpack(data, n):
    """Rows (float32) of the n tokens in the bytes of table.bin."""
    row = len(data) // n - 2
    if row < 1 or len(data) != n * (row + 2):
        raise ValueError(f"table.bin has {len(data)} bytes, which is no table of {n} tokens")
    halves = np.frombuffer(data, np.uint8, n * row).reshape(n, row)
    values = np.empty((n, 2 * row), np.float32)
    values[:, 0::2], values[:, 1::2] = halves & 15, halves >> 4
    return (values - 8) * np.frombuffer(data, "<f2", n, n * row).astype(np.float32)[:, None]


def write(folder, tokens, rows):
    """Writes table.bin and vocab.txt."""
    with open(os.path.join(folder, "table.bin"), "wb") as f:
        f.write(pack(*quantize(rows)))
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf8", newline="\n") as f:
        f.write("\n".join(tokens))


def read(folder):
    """The embedder of the table in folder."""
    with open(os.path.join(folder, "vocab.txt"), encoding="utf8", newline="\n") as f:
        tokens = f.read().split("\n")
    with open(os.path.join(folder, "table.bin"), "rb") as f:
        return Embedder(tokens, unpack(f.read(), len(tokens)))


# Texts of the golden vectors: utterances, then what folding and tokenising can get wrong.
GOLDEN = """
turn this pdf into plain text
which of these invoices are still unpaid?
write unit tests for the parser and run them
Book a table for four on Friday evening
summarise yesterday's meeting in three bullet points
my pods keep restarting after the last rollout
draw a chart of monthly revenue by region
what's the difference between a lease and a rental agreement
remind me to call the dentist tomorrow at 9
is there a cheaper flight to Lisbon next week
please review the pull request and merge it
how do I rotate an API key without downtime
convert 12 miles to kilometres
thank you, that is all
clean up duplicate rows in the customer spreadsheet
translate the menu into Japanese
what should I pack for a week in the mountains
the second one, please
find papers on protein folding since 2020
compress these photos without visible loss
design a landing page for a bakery
explain the error on line 42
how many vacation days do I have left
turn off the lights in the living room
prepare me for an interview as a data engineer
log my expenses from the trip to Berlin
play something calm
check our terms of service against the GDPR
ok
帮我把这份合同翻译成英文
明天北京会不会下雨
写一篇关于人工智能的公众号文章
查一下上个季度的销售数据
给客户发一封道歉邮件
这段代码为什么跑得这么慢
推荐几家附近的川菜馆
把会议改到周四下午三点
数据库连接超时怎么办
谢谢
我想给妈妈订一束花
怎么用正则表达式匹配邮箱
把这张图片的背景去掉
总结一下这篇论文的主要观点
下周去上海出差要准备什么
检查一下服务器的磁盘空间
帮我做一份年终总结的幻灯片
这个季度的预算还剩多少
给新员工写一份入职指南
换成英文再说一遍
帮我把 PDF 转成 Word
用 Python 写一个爬虫
PDF转文字
设置7点的闹钟 please
第12个文件 report
""".strip().split("\n") + [
    "", "!!!", "Don't", "don\u2019t", "don t", "12 eggs, 3 cups", "1,000", "K8s v2.5.1",
    "caf\u00e9 na\u00efve", "e\u0301cole", "\u0130stanbul", "\u212aelvin", "\ufb01le \ufb02ow",
    "\uff21\uff22\uff23 \uff12\uff10\uff12\uff16", "\uff76\uff80\uff76\uff85", "\u200bhidden\u200b text",
    "\u4eca'\u5929", "\u9f98\u9f98 hello", "\U00020bb7\u91ce\u5bb6", "na\u00efvet\u00e9 \u6578\u64da",
    "xqzzt", "a" * 1000, "supercalifragilistic" * 50,
]  # fmt: skip


def write_golden(path, embedder):
    """Writes the golden texts, one JSON object a line: text, tokens (rows) and vector (six digits)."""
    with open(path, "w", encoding="utf8", newline="\n") as f:
        for text in GOLDEN:
            ids = embedder.tokenize(text)
            vector = [round(float(x), 6) for x in embedder.vector(ids)]
            f.write(json.dumps({"text": text, "tokens": ids, "vector": vector}, ensure_ascii=False) + "\n")
