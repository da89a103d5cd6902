"""From text to rows of the table, and from rows to a vector.

This is the reference of the Go package embed: the golden vectors are computed
here, and Go must give the same tokens and, to 1e-6, the same vectors.
"""

import re
import unicodedata

import numpy as np

HAN = re.compile("[\u3400-\u9fff]")
LONGEST_WORD = 18  # letters of the longest token; what is longer cannot match
LONGEST_HAN = 4  # characters of the longest Chinese token
NUMBER = "<num>"

_RUNS = re.compile("[a-z]+|[0-9]+|[\u3400-\u9fff]+")


def fold(text):
    """NFKC, lower case, accents off, straight and curly apostrophes dropped."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).lower())
    text = "".join(c for c in text if not unicodedata.combining(c))
    return text.replace("'", "").replace("\u2019", "")


class Tokenizer:
    """Finds tokens: the rows of a table by the lines of its vocabulary."""

    def __init__(self, tokens):
        self.index = {t: i for i, t in enumerate(tokens)}

    def __call__(self, text):
        """Rows in text order: a word if it is known, else its pieces; a digit alone as itself, a longer
        number as <num>; of a run of Han characters every known substring, by where it begins, shorter first."""
        out = []
        for match in _RUNS.finditer(fold(text)):
            run = match.group()
            if run[0] <= "9":
                self._add(out, run if len(run) == 1 else NUMBER)
            elif run[0] <= "z":
                self._add(out, run) or self._add_pieces(out, run)
            else:
                for start in range(len(run)):
                    for end in range(start + 1, min(start + LONGEST_HAN, len(run)) + 1):
                        self._add(out, run[start:end])
        return out

    def _add(self, out, token):
        row = self.index.get(token)
        if row is not None:
            out.append(row)
        return row is not None

    def _add_pieces(self, out, word):
        """The longest piece each time; a single letter only at the very end, else it is passed over."""
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + LONGEST_WORD), start, -1):
                if end - start == 1 and end < len(word):
                    continue
                if self._add(out, word[start:end] if start == 0 else "##" + word[start:end]):
                    start = end
                    break
            else:
                start += 1


class Embedder:
    """A table with its vocabulary: text to unit vector."""

    def __init__(self, tokens, rows):
        self.tokenize, self.rows = Tokenizer(tokens), rows
        self.han = np.array([bool(HAN.match(t)) for t in tokens])

    def vector(self, ids):
        """Unit vector of rows, zeros if there are none. Beside a Han token all others count twice:
        foreign words in a Chinese text are names and terms, few against the overlapping Chinese tokens."""
        if not ids:
            return np.zeros(self.rows.shape[1], np.float32)
        han = self.han[ids]
        weights = np.where(han.any() & ~han, 2, 1).astype(np.float32)
        v = weights @ self.rows[ids]
        return v / max(np.linalg.norm(v), 1e-12)

    def __call__(self, texts):
        """One vector a text, in order."""
        return np.stack([self.vector(self.tokenize(t)) for t in texts])
