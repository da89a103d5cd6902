"""The space of the table: both teachers' vectors in one, centred, cut to a few dimensions."""

import numpy as np

from teachers import unit


def main_axes(covariance, n):
    """The n directions of most variance, as columns. The sign of an eigenvector is chance: here its
    largest value is positive, so that machines agree."""
    axes = np.linalg.eigh(covariance)[1][:, ::-1][:, :n]
    largest = axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])]
    return axes * np.where(largest < 0, -1, 1).astype(axes.dtype)


class Space:
    """Where the English teacher's vectors go as they are and the Chinese teacher's are turned to.

    The turn is the orthogonal map (Procrustes) that brings English texts embedded by both teachers
    closest together. It keeps the geometry of the Chinese teacher, which knows Chinese, and lets a
    Chinese utterance find an English skill.
    """

    def __init__(self, english, chinese, english_by_chinese, english_words, words_by_chinese, dim):
        """english[:len(english_by_chinese)] and english_words are the same texts as the ones embedded by
        the Chinese teacher; words are centred like texts, so that both kinds share an origin."""
        shared = len(english_by_chinese)
        self.english_mean = english.mean(0)
        self.chinese_mean = chinese.mean(0)
        foreign_mean = english_by_chinese.mean(0)

        centred = unit(english - self.english_mean)
        self.english_axes = main_axes(centred.T @ centred, dim)
        texts, words = (unit(x - foreign_mean) for x in (english_by_chinese, words_by_chinese))
        own = unit(chinese - self.chinese_mean)
        axes = main_axes(own.T @ own / len(own) + texts.T @ texts / shared, dim)
        goal = np.concatenate([centred[:shared], unit(english_words - self.english_mean)]) @ self.english_axes
        left, _, right = np.linalg.svd((np.concatenate([texts, words]) @ axes).T @ goal)
        self.chinese_axes = axes @ (left @ right)

    def from_english(self, vectors):
        return unit(vectors - self.english_mean) @ self.english_axes

    def from_chinese(self, vectors):
        return unit(vectors - self.chinese_mean) @ self.chinese_axes
