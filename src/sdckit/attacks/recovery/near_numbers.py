"""Large numbers that another released column tells to within 10 %: rounded, in other units, with noise, as a logarithm.

No arithmetic that is exact gives them back, and still they are as good as known (the p % rule with p = 10).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.judged_relations import Halves, Judge
from sdckit.attacks.recovery.recovery_files import RecoveryFile
from sdckit.numerics.array_types import Bools, Floats

NEAR = math.log1p(0.1) - 1e-9  # distance of logarithms: never more than 10 % of the truth
FEWEST = 60  # of the largest numbers to fit and judge on
MOST = 20_000
LARGEST = 0.1  # share of the records that are
TRIMMED = 0.9  # of the records fitted to, those that a second fit keeps
FORMS = 3

Told = tuple[Bools, tuple[str, ...]]


def near_numbers(file: RecoveryFile, names: Sequence[str], seed: int = 0) -> dict[str, Told]:
    """Changed numbers of these columns (n,) that some other column tells to within 10 %, and which columns do.

    A straight line, a power and an exponential are fitted to half of the largest numbers, which alone dominate, and
    judged on the others. Without the original nothing is known to be told.
    """
    found = {}
    for name in names if file.truth is not None else ():
        place = ("near numbers", name, seed, id(file.truth))
        if place not in file.memo:
            file.memo[place] = _told(file, name, seed) if name in file.touched or _coarser(file, name) else None
        if file.memo[place] is not None:
            found[name] = file.memo[place]
    return found


def _coarser(file: RecoveryFile, name: str) -> bool:
    """Whether a column has ranges in place of its numbers."""
    column, truth = file.columns.get(name), (file.truth or {}).get(name)
    return column is not None and truth is not None and truth.numbers is not None and not truth.from_labels


def _told(file: RecoveryFile, name: str, seed: int) -> Told | None:
    assert file.truth is not None
    truth, column = file.truth[name].numbers, file.columns[name]
    if truth is None:
        return None
    own = column.numbers
    changed = np.ones(len(truth), np.bool_) if own is None else ~(own == truth)
    size = np.abs(truth)
    rows = np.flatnonzero(size > 0)
    rows = rows[np.argsort(size[rows], kind="stable")[::-1][: min(max(FEWEST, int(LARGEST * len(truth))), MOST)]]
    if len(rows) < FEWEST or not changed[rows].any():
        return None
    at = np.log(size[rows])
    halves = Halves.of(np.isfinite(at), seed)
    judge = Judge(at, changed[rows], column.codes[rows], halves.judge)
    others = [(other, y) for other, of in file.columns.items() if other != name and (y := of.numbers) is not None]
    told, words = np.zeros(len(truth), np.bool_), []
    for other, y in others:
        for form in _fits(size[rows[halves.fit]], y[rows[halves.fit]]):
            if judge.tells(_log(form, y[rows]), NEAR, FORMS * len(others)):
                with np.errstate(divide="ignore", invalid="ignore"):
                    told |= changed & (np.abs(_log(form, y) - np.log(size)) <= NEAR)
                words.append(f"{other}, to within 10 %")
                break
    return (told, tuple(words)) if told.any() else None


Form = tuple[str, float, float]


def _fits(x: Floats, y: Floats) -> Iterator[Form]:
    """Fits of x as a + b y, and of its logarithm as a + b log|y| and as a + b y, those that there are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(y))
        cases = [("line", np.array([1 / x, y / x]), np.ones(len(x)))]
        cases += [(how, np.array([np.ones(len(x)), z]), np.log(x)) for how, z in (("power", logs), ("exp", y))]
    for how, terms, aim in cases:
        use = np.flatnonzero(np.isfinite(terms).all(axis=0) & np.isfinite(aim))
        for _ in range(2):
            if len(use) < FEWEST // 4 or np.ptp(terms[1][use]) == 0:
                break
            factors: NDArray[np.float64] = np.linalg.lstsq(terms[:, use].T, aim[use], rcond=None)[0]
            rest = np.abs(factors @ terms[:, use] - aim[use])
            use = use[rest <= np.quantile(rest, TRIMMED)]
        else:
            yield how, float(factors[0]), float(factors[1])


def _log(form: Form, y: Floats) -> Floats:
    """Logarithms of the numbers that a fit gives; NaN where there are none."""
    how, a, b = form
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = np.log(np.abs(a + b * y)) if how == "line" else a + b * (y if how == "exp" else np.log(np.abs(y)))
        return np.where(np.isfinite(fitted), fitted, np.nan)
