"""Rankings in, figures out: the definitions of package eval, in plain Python."""

import bisect


def first_right(ranking, right):
    """Place of the first right skill in a ranking, counted from 0; None if there is none."""
    return next((i for i, skill in enumerate(ranking) if skill in right), None)


def auroc(positives, negatives):
    """Probability that a positive scores above a negative, ties counting half; None if one side is empty."""
    if not positives or not negatives:
        return None
    negatives = sorted(negatives)
    wins = 0.0
    for p in positives:
        below, upto = bisect.bisect_left(negatives, p), bisect.bisect_right(negatives, p)
        wins += below + (upto - below) / 2
    return wins / len(positives) / len(negatives)


def median(values):
    """The lower median, as package eval takes it."""
    return sorted(values)[(len(values) - 1) // 2]


def figures(rows, rankings, domain_of):
    """Figures of one peer on one set, each a share from 0 to 1, or None where no row counts.

    A row is {skills, domains, oos}. The ranking beside it is a list of (skill,
    score), best first, empty if nothing was found. A right skill at the top is a
    hit@1, one of the first five a hit@5; a domain hit is a best skill whose
    domain is a right one. All three are shares of the rows in scope. auroc tells
    rows in scope from the others by the best score, 0 where nothing was found.
    """
    hits = {"hit@1": 0, "hit@5": 0, "domain_hit@1": 0}
    inside, outside = [], []
    for row, ranking in zip(rows, rankings, strict=True):
        top = ranking[0][1] if ranking else 0.0
        if row["oos"]:
            outside.append(top)
            continue
        inside.append(top)
        place = first_right([skill for skill, _ in ranking], row["skills"])
        hits["hit@1"] += place == 0
        hits["hit@5"] += place is not None and place < 5
        hits["domain_hit@1"] += bool(ranking) and domain_of[ranking[0][0]] in row["domains"]
    shares = {name: n / len(inside) if inside else None for name, n in hits.items()}
    return {**shares, "auroc": auroc(inside, outside)}
