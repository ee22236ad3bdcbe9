"""Designs of logistic models written out in full, and their fit by a plain loop, for comparison."""

from __future__ import annotations

import numpy as np


def dense(design):
    """The matrix that a design stands for, element by element."""
    out = np.zeros((design.n_rows, design.n_columns))
    for row in range(design.n_rows):
        for atoms, offset in zip(design.terms.tolist(), design.offset.tolist(), strict=True):
            column, entry = 0, 1.0
            for atom in (a for a in atoms if a >= 0):
                width, slot = int(design.width[atom]), int(design.slot[atom])
                if width == 0:
                    entry *= design.values[slot, row]
                else:
                    code = int(design.codes[slot, row])
                    entry *= code > 0
                    column = column * width + code - 1
            if entry != 0:
                out[row, offset + column] = entry
    return out


def plain_fit(x, weight, member, *, stop=1e-14, steps=200):
    """Scores by iterated least squares, begun at 1/4 and 3/4, until the deviance stands still.

    Rows stand for `weight` records; `member` is 0 or 1. `x` may have any rank.
    """
    p = (member + 0.5) / 2
    eta, before = np.log(p / (1 - p)), np.inf
    for _ in range(steps):
        curve = np.maximum(p * (1 - p), 1e-300)
        working = eta + (member - p) / curve
        root = np.sqrt(weight * curve)
        slope = np.linalg.lstsq(x * root[:, None], working * root, rcond=None)[0]
        eta = x @ slope
        p = 1 / (1 + np.exp(-eta))
        deviance = -2 * np.sum(weight * (member * eta - np.logaddexp(0, eta)))
        if abs(deviance - before) / (abs(deviance) + 0.1) < stop:
            break
        before = deviance
    return p
