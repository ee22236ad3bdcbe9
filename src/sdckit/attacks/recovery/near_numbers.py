"""Large numbers that another released column gives to within 10 %: rounded, in other units, with noise, as a logarithm.

No arithmetic that is exact gives them back, and still they are as good as known (the p % rule with p = 10).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from sdckit.attacks.recovery import judged_relations, recovery_files, touched_cells
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Floats, Ints

NEAR = math.log1p(0.1) - 1e-9  # distance of logarithms: never more than 10 % of the truth
FEWEST = 60  # of the largest numbers to fit and judge on, where there are so many
LEAST = 32  # half of them, all hit, are the fewest that are sure to tell (`SURE_HITS`)
MOST = 20_000
LARGEST = 0.1  # share of the records that are
TRIMMED = 0.9  # of the records fitted to, those that a second fit keeps
FORMS = 3
MOST_PAIRED = 24  # columns of which two may give the numbers together
SOME_FITTED, MOSTLY = 500, 0.8  # records that two columns are fitted to; of them near, for all to be looked at

NearlyKnown = tuple[Bools, tuple[str, ...]]  # records whose number is, and in words by which columns


def near_numbers(file: recovery_files.RecoveryFile, names: Sequence[str], seed: int = 0) -> dict[str, NearlyKnown]:
    """Changed numbers of these columns (n,) that some other column gives to within 10 %, and which columns do.

    A straight line, a power and an exponential are fitted to half of the largest numbers, which alone dominate, and
    judged on the others. Without the original there is nothing to judge by.
    """
    if file.truth is None:
        return {}
    place = ("near numbers", seed, id(file.truth))
    names = [name for name in names if name in file.columns or name in file.gone]
    fresh = [name for name in names if (*place, name) not in file.memo]
    judged = touched_cells.apart(lambda name: _by_others(file, name, seed), fresh, len(file.frame))
    file.memo.update(((*place, name), known) for name, known in zip(fresh, judged, strict=True))
    return {name: known for name in names if (known := file.memo[(*place, name)]) is not None}


def _by_others(file: recovery_files.RecoveryFile, name: str, seed: int) -> NearlyKnown | None:
    truth = file.before(name).numbers if name in file.gone or name in (file.truth or {}) else None
    if truth is None:
        return None
    column = file.columns.get(name)  # None where it was left out
    own = None if column is None else column.numbers
    changed = np.ones(len(truth), np.bool_) if own is None else ~(own == truth)
    size = np.abs(truth)
    rows = np.flatnonzero(size > 0)
    rows = rows[np.argsort(size[rows], kind="stable")[::-1][: min(max(FEWEST, int(LARGEST * len(truth))), MOST)]]
    if len(rows) < LEAST or not changed[rows].any():
        return None
    least = float(size[rows].min())
    at = _signed_log(truth[rows], least)
    halves = judged_relations.Halves.of(np.isfinite(at), seed)
    released = np.zeros(len(rows), np.int32) if column is None else column.codes[rows]
    judge = judged_relations.Judge(at, changed[rows], released, halves.judge)
    signs = None if column is None else _signs(column, rows)
    others = [other for other, of in file.columns.items() if other != name and of.numeric]
    tried = FORMS * len(others) * (1 if signs is None else 2)
    near, words = np.zeros(len(truth), np.bool_), []
    for other in others:
        numbers = _middles(file.columns[other])
        for y in (numbers,) if signs is None else (numbers, _signed(signs, numbers)):
            form = next(
                (form for form in _fits(truth[rows[halves.fit]], y[rows[halves.fit]])
                 if judge.tells(_signed_log(_fitted(form, y[rows]), least), NEAR, tried)), None,
            )  # fmt: skip
            if form is not None:
                near |= changed & _is_near(_fitted(form, y), truth)
                words.append(f"{touched_cells.in_frame([other], file.columns)[0]}, to within 10 %")
                break
    if not near.any():
        by_name = {other: _middles(file.columns[other]) for other in others[:MOST_PAIRED]}
        tried += 2 * len(by_name) ** 2
        for pair, fitted in _by_pairs(by_name, truth, rows[halves.fit]):
            if judge.tells(_signed_log(fitted[rows], least), NEAR, tried):
                near |= changed & _is_near(fitted, truth)
                words.append(f"{' with '.join(touched_cells.in_frame(pair, file.columns))}, to within 10 %")
    return (near, tuple(words)) if near.any() else None


def _by_pairs(columns: Mapping[str, Floats], truth: Floats, fit: Ints) -> Iterator[tuple[tuple[str, str], Floats]]:
    """Numbers (n,) that one column times, or divided by, a straight line in another one gives, where most are near.

    Turnover by employees and turnover for each of them, by exports and their share, by last year's and the change.
    """
    some = fit[:SOME_FITTED]
    names = [name for name, own in columns.items() if len(np.unique(own[some][np.isfinite(own[some])])) > 1]
    others = np.array([columns[name][some] for name in names]).reshape(len(names), len(some))
    told = set[frozenset[str]]()
    for (i, name), divided in product(enumerate(names), (False, True)):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = others[i] / truth[some] if divided else truth[some] / others[i]
            known = np.isfinite(share) & (share != 0)  # nothing exported says nothing
            a, b = _lines(np.where(known, share, np.nan), others)
            near = np.abs(np.log((a + b * others) / share)) <= NEAR
        for j in np.flatnonzero(near[:, known].sum(axis=1) >= max(MOSTLY * known.sum(), LEAST // 2)):
            if i != j and {name, names[j]} not in told:
                told.add(frozenset({name, names[j]}))
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    line, own = a[j] + b[j] * columns[names[j]], columns[name]
                    fitted = own / line if divided else own * line
                yield (name, names[j]), np.where(fitted == 0, np.nan, fitted)


def _lines(aim: Floats, z: Floats) -> tuple[Floats, Floats]:
    """For each row of z (m, k) the a and b (m, 1) whose a + b z are next to what is aimed at (k,), by its size."""
    u, v = np.broadcast_to(1 / aim, z.shape), z / aim
    use = np.isfinite(u) & np.isfinite(v)
    for _ in range(2):
        x, y = np.where(use, u, 0), np.where(use, v, 0)
        xx, xy, yy, sx, sy = (own.sum(axis=1, keepdims=True) for own in (x * x, x * y, y * y, x, y))
        a, b = ((first / (xx * yy - xy * xy)) for first in (sx * yy - sy * xy, xx * sy - xy * sx))
        rest = np.where(use, np.abs(a * u + b * v - 1), np.inf)
        last = np.take_along_axis(np.sort(rest, axis=1), (TRIMMED * use.sum(axis=1, keepdims=True)).astype(int) - 1, 1)
        use &= rest <= last
    return a, b


def _middles(column: touched_cells.ReleasedColumn) -> Floats:
    """Its numbers (n,), of ranges the middle: not finite where a range has no end."""
    low, high = sure(column.low), sure(column.high)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((low + high) / 2)


def _signs(column: touched_cells.ReleasedColumn, rows: Ints) -> Floats | None:
    """Signs (n,) of what is released of the numbers, as a top and a bottom code leave them; None where they are alike.

    Another column that gives the sizes alone gives the numbers with them.
    """
    signs = np.sign(_middles(column)) if column.numeric else np.zeros(0)
    known = signs[rows] if len(signs) else signs
    return signs if (known > 0).any() and (known < 0).any() else None


def _signed(signs: Floats, sizes: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # a range without an end, of a record whose sign is 0
        return np.asarray(signs * np.abs(sizes))


def _signed_log(values: Floats, least: float) -> Floats:
    """Logarithms of sizes, counted from 1 for `least`, with the sign of the values: those of different sign are far."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sign(values) * np.maximum(np.log(np.abs(values) / least) + 1, 0))


def _is_near(values: Floats, truth: Floats) -> Bools:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.abs(np.log(values / truth)) <= NEAR)  # of different sign: not a number


class Form(NamedTuple):
    """A fit: how, its two factors, and the sign of what it gives, times that of y where `turns`."""

    how: str
    a: float
    b: float
    sign: float
    turns: bool


def _fits(x: Floats, y: Floats) -> Iterator[Form]:
    """Fits of x as a + b y, and of the logarithm of its size as a + b log|y| and as a + b y, those that there are."""
    size, signs, known = np.abs(x), np.sign(x), np.isfinite(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(y))
        cases = [("line", np.array([1 / size, y / size]), signs)]
        cases += [(how, np.array([np.ones(len(x)), z]), np.log(size)) for how, z in (("power", logs), ("exp", y))]
    of_all, of_y = float(signs[known].sum()), float((signs * np.sign(y))[known].sum())
    turns = abs(of_y) > abs(of_all)
    for how, terms, aim in cases:
        use = np.flatnonzero(np.isfinite(terms).all(axis=0) & np.isfinite(aim))
        for _ in range(2):
            if len(use) < LEAST // 3 or np.ptp(terms[1][use]) == 0:
                break
            factors: Floats = np.linalg.lstsq(terms[:, use].T, aim[use], rcond=None)[0]
            rest = np.abs(factors @ terms[:, use] - aim[use])
            use = use[rest <= np.quantile(rest, TRIMMED)]
        else:
            yield Form(how, float(factors[0]), float(factors[1]), math.copysign(1, of_y if turns else of_all), turns)


def _fitted(form: Form, y: Floats) -> Floats:
    """The numbers that a fit gives; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if form.how == "line":
            fitted = form.a + form.b * y
        else:
            size = np.exp(form.a + form.b * (y if form.how == "exp" else np.log(np.abs(y))))
            fitted = form.sign * (np.sign(y) if form.turns else 1.0) * size
        return np.where(np.isfinite(fitted) & (fitted != 0), fitted, np.nan)
