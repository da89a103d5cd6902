"""Fits the rows of a table: the normalised sum of a text's rows shall be the teacher's vector of the text.

The gradients are written out, because numpy then is all that training needs;
the tests compare them with differences of the loss.
"""

import time

import numpy as np


class Bags:
    """Many lists of rows, one after the other: bag i is flat[starts[i]:starts[i+1]], and none is empty."""

    def __init__(self, lists):
        self.lengths = np.array([len(x) for x in lists], np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.flat = np.fromiter((i for x in lists for i in x), np.int64, self.starts[-1])

    def __len__(self):
        return len(self.lengths)

    def select(self, members):
        """Rows of the given bags, and where each begins among them."""
        lengths = self.lengths[members]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return self.flat[np.repeat(self.starts[members] - starts, lengths) + np.arange(lengths.sum())], starts


def loss_and_gradient(sums, targets, relation, soft, temperature):
    """Loss of a batch, and its gradient by the sums of rows.

    Three parts: 1 - cosine to the target; `relation` times the mean squared difference between the
    similarities inside the batch and those of the targets; `soft` times the Kullback-Leibler divergence
    of each text's similarities to the others, as a softmax at `temperature`, from the targets'.
    """
    n = len(sums)
    norms = np.linalg.norm(sums, axis=1, keepdims=True) + np.float32(1e-6)
    x = sums / norms
    ours, theirs = x @ x.T, targets @ targets.T
    difference = ours - theirs
    loss = 1 - float(np.einsum("ij,ij->", x, targets)) / n
    loss += relation * float(np.einsum("ij,ij->", difference, difference)) / n**2
    d = difference
    d *= np.float32(2 * relation / n**2)
    if soft:
        log_p, p = _log_softmax(ours, temperature)
        log_q, q = _log_softmax(theirs, temperature)
        p_minus_q = p - q
        log_q -= log_p
        np.fill_diagonal(log_q, 0)
        loss += soft * float(np.einsum("ij,ij->", q, log_q)) / n
        p_minus_q *= np.float32(soft / (n * temperature))
        d += p_minus_q
    dx = (d + d.T) @ x - targets / np.float32(n)
    return loss, (dx - x * np.einsum("ij,ij->i", x, dx)[:, None]) / norms


def _log_softmax(similarities, temperature):
    """Log and value of the softmax of each row over the other texts, the text itself left out."""
    log_p = similarities * np.float32(1 / temperature)
    np.fill_diagonal(log_p, -1e4)
    log_p -= log_p.max(1, keepdims=True)
    p = np.exp(log_p)
    total = p.sum(1, keepdims=True)
    p /= total
    log_p -= np.log(total)
    return log_p, p


class SparseAdam:
    """Adam that moves, and keeps the moments of, only the rows that a batch touched."""

    BETA1, BETA2, EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)

    def __init__(self, rows):
        self.rows = rows
        self.first, self.second = np.zeros_like(rows), np.zeros_like(rows)
        self.step = 0

    def update(self, touched, gradient, rate):
        self.step += 1
        first, second = self.first[touched], self.second[touched]
        first += (gradient - first) * (1 - self.BETA1)
        second += (gradient * gradient - second) * (1 - self.BETA2)
        self.first[touched], self.second[touched] = first, second
        rate *= np.sqrt(1 - float(self.BETA2) ** self.step) / (1 - float(self.BETA1) ** self.step)
        self.rows[touched] -= np.float32(rate) * first / (np.sqrt(second) + self.EPSILON)


def train(rows, bags, targets, settings, log):
    """Changes rows (float32) so that the sums of bags point to targets (unit, one a bag)."""
    rng = np.random.Generator(np.random.PCG64(settings.seed))
    adam, size = SparseAdam(rows), min(settings.batch, len(bags))
    batches = len(bags) // size
    steps, started = settings.epochs * batches, time.monotonic()
    for epoch in range(settings.epochs):
        order, total = rng.permutation(len(bags)), 0.0
        for batch in range(batches):
            members = order[batch * size : (batch + 1) * size]
            tokens, starts = bags.select(members)
            # Dropout: a dropped token is not in the sum.
            kept = (rng.random(len(tokens), np.float32) > settings.dropout).astype(np.float32)[:, None]
            sums = np.add.reduceat(rows[tokens] * kept, starts, axis=0)
            loss, gradient = loss_and_gradient(sums, targets[members], settings.relation, settings.soft, settings.temperature)
            # Rows that stand several times in the batch get the sum of their gradients.
            gradient = np.repeat(gradient, bags.lengths[members], axis=0) * kept
            by_row = np.argsort(tokens, kind="stable")
            touched, first = np.unique(tokens[by_row], return_index=True)
            rate = settings.rate * (1 - adam.step / steps) + 1e-5
            adam.update(touched, np.add.reduceat(gradient[by_row], first, axis=0), rate)
            total += loss
        log(f"epoch {epoch + 1} of {settings.epochs}: loss {total / batches:.4f}, {time.monotonic() - started:.0f} s")
