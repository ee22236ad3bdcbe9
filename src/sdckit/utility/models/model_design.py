"""Outcomes and design matrices from a formula, coded alike in every file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.plans.count_cells import most_cells, too_many
from sdckit.cells.plans.model_cells import Within
from sdckit.data import formula_text, pd
from sdckit.data.columns import first_rows
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats, Ints

# Linearly independent columns of a design.


TOLERANCE = 1e-7  # share of a column's length left after projecting out the columns before it


def independent_columns(matrix: Floats) -> Bools:
    """Columns that are no linear combination of those before them.

    >>> independent_columns(np.array([[1.0, 2, 0, 1], [1, 2, 1, 0], [1, 2, 1, 0]])).tolist()
    [True, False, True, False]
    """
    length: Floats = np.linalg.norm(matrix, axis=0)
    kept: Bools = length > 0
    if not kept.any():
        return kept
    # R of the QR decomposition has all inner products of the columns, in p rows instead of n.
    triangle: Floats = np.linalg.qr(matrix[:, kept] / length[kept], mode="r")  # type: ignore[assignment]
    basis: list[Floats] = []
    for j, at in enumerate(np.flatnonzero(kept).tolist()):
        rest = triangle[:, j].copy()
        for _ in range(2):  # the second pass removes what rounding left
            for unit in basis:
                rest -= (unit @ rest) * unit
        size = float(np.linalg.norm(rest))
        if size > TOLERANCE:
            basis.append(rest / size)
        else:
            kept[at] = False
    return kept


# Which coefficients of a model are determined by few records: they, or sums of them, would reveal values.
# An estimate that is linear in the outcome, ``sum of c y``, reveals a group of records as far as their share in
# ``sum of c^2``. Over all linear combinations of coefficients that share is at most the leverage
# of the record (of the group: the largest eigenvalue of its block of the hat matrix).


FEWEST = 5  # records that a published coefficient must rest on
MOST_OF_ONE = 0.5  # largest share of one record; two equal ones have a half each
MOST_OF_FEW = 0.9  # largest share of four; of five equal ones, four have 0.8
FURTHEST = 1e150  # squares of what is beyond are infinite
PART = 0.1  # of the largest contribution: the least sum of those behind the two largest (p% rule)
NEGLIGIBLE = 0.01  # leverage; four such records do not make the difference between 0.8 and 0.9
SCANS = 25
LEAST_SPREAD = 1e-6
ZERO = 1e-10
DIGITS = 9  # of a share: what rounding leaves decides nothing, or the order of the records would


@dataclass(frozen=True, eq=False)
class Mass:
    """What each of k rows of a design stands for: one record in memory, all that are alike where an engine counted.

    `n`: all records. `records`, `total`, `squares` (k,): records of a weight above 0, the sum of their weights and of
    the squares. `tops` (k, 4): the largest weights of a row, 0 where there are fewer; (k, 1) where a row is a record.
    `weighted`: whether these are survey weights; all are 1 where not. `within`: where a row holds many outcomes, whose
    mean it has.
    """

    n: int
    records: Floats
    total: Floats
    squares: Floats
    tops: Floats
    weighted: bool
    within: Within | None = None

    @classmethod
    def of(cls, n: int, weights: Floats | None) -> Mass:
        """Rows that are n records, with survey weights or none."""
        own = np.ones(n) if weights is None else weights
        return cls(n, (own > 0).astype(np.float64), own, own * own, own[:, None], weights is not None)

    @classmethod
    def counted(cls, times: Ints) -> Mass:
        """Rows that stand for so many records each, without weights.

        >>> Mass.counted(np.array([2, 7])).tops.tolist()
        [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
        """
        own, places = times.astype(np.float64), np.arange(FEWEST - 1)
        return cls(int(times.sum()), own, own, own, (places < own[:, None]).astype(np.float64), False)

    def take(self, rows: Bools | Ints) -> Mass:
        """Some of the rows; `n` stays."""
        return replace(
            self, records=self.records[rows], total=self.total[rows], squares=self.squares[rows], tops=self.tops[rows],
            within=None if self.within is None else self.within.take(rows),
        )  # fmt: skip

    def times(self, factors: Floats) -> Mass:
        """The same with the weights of each row times a factor."""
        return replace(
            self, total=self.total * factors, squares=self.squares * factors**2, tops=self.tops * factors[:, None]
        )

    def apart(self, outcome: Floats) -> tuple[Floats, Floats]:
        """For each row the sum of the weighted distances of outcomes from their median, and the largest, (k, 4)."""
        if self.within is not None:
            return self.within.apart
        centred = np.abs(outcome - _median(outcome[:, None], self.records)[0])
        return self.total * centred, self.tops * centred[:, None]

    def residuals(self, outcome: Floats, fitted: Floats) -> tuple[Floats, Floats, Floats]:
        """The sums of the weighted squares of residuals, and of the squared weighted ones; the largest, (k, 4)."""
        if self.within is not None:
            return self.within.residuals(fitted)
        rest = np.abs(outcome - fitted)
        return self.total * rest**2, self.squares * rest**2, self.tops * rest[:, None]

    def is_dominated(self, total: Floats, tops: Floats, part: float) -> bool:
        """As `is_dominated` of the records, from the sum of each row and the largest in it."""
        at = np.argpartition(tops[:, 0], -2)[-2:] if len(tops) > 2 else np.arange(len(tops))
        two = np.sort(tops[at].ravel())[::-1][:2]  # of rows alike the heaviest
        if self.records.sum() < 3:
            return bool(tops.any())
        return bool(two[0] > 0 and total.sum() - two.sum() < part * two[0] * (1 - 10.0**-DIGITS))


def coefficients_of_few(
    matrix: Floats, outcome: Floats, weights: Floats | Mass | None = None, *, counted: Sequence[Bools] = ()
) -> tuple[Bools, Bools]:
    """Which coefficients of a regression are not to be published, and of which not even the standard error.

    `matrix` (n, p), `outcome` (n,), survey `weights` (n,) or None; of rows that stand for several records their `Mass`.
    `counted`: sets of records (those of an outcome) that a coefficient counts; each must be carried by enough of them.
    Returns (p,) and (p,), the second containing the first. A column that follows from others is in none.

    >>> x = np.column_stack([np.ones(60), np.arange(60) % 2, np.arange(60) == 7.0])
    >>> coefficients_of_few(x, np.arange(60.0) % 11)[0].tolist()
    [False, False, True]
    """
    mass = as_mass(matrix, weights)
    used = mass.records > 0
    design, y, mass = matrix[used], outcome[used], mass.take(used)
    kept = independent_columns(design * np.sqrt(mass.records)[:, None])
    few = np.zeros(matrix.shape[1], bool)
    if not kept.any():
        return few, few.copy()
    loads, rows = _functionals(design[:, kept], mass)
    carried = carried_by_few(loads, rows, _sparse(design[:, kept], mass.records), mass)
    off = off_mode(y, mass.records) if mass.within is None else mass.within.off
    for group in (off, *(group[used] for group in counted)):
        if not group.all():
            carried |= carried_by_few(loads, rows[group], carried, mass.take(group))
    total, tops = mass.apart(y)
    _, squares, largest = mass.residuals(y, design[:, kept] @ (loads @ (rows.T @ (mass.total * y))))
    perfect = largest[:, 0] <= ZERO * np.abs(y).max() * mass.tops[:, 0]
    squares, largest = np.where(perfect, 0.0, squares), np.where(perfect[:, None], 0.0, largest) ** 2
    spread = np.full(len(carried), not mass.weighted and mass.is_dominated(squares, largest, 2 * PART))
    for j, load in enumerate(loads):
        shares = np.abs(rows @ load)
        carried[j] |= mass.is_dominated(shares * total, shares[:, None] * tops, PART)
        if mass.weighted:
            spread[j] = mass.is_dominated(shares**2 * squares, shares[:, None] ** 2 * largest, 2 * PART)
    few[kept] = carried
    wide = few.copy()
    wide[kept] |= spread
    return few, wide


def as_mass(matrix: Floats, weights: Floats | Mass | None) -> Mass:
    """What the rows of a design stand for, from survey weights where these are given."""
    return weights if isinstance(weights, Mass) else Mass.of(len(matrix), weights)


def largest_shares(matrix: Floats, weights: Floats | Mass | None = None, spread: Floats | None = None) -> Floats:
    """Largest change of each coefficient when the outcome of one record changes by one.

    `spread` (n,): the variance of each outcome, for a model of log-odds or of logarithms.

    >>> largest_shares(np.column_stack([np.ones(50), np.arange(50) < 10])).round(3).tolist()
    [0.025, 0.1]
    """
    mass = as_mass(matrix, weights)
    used = mass.records > 0
    design, mass = matrix[used], mass.take(used)
    kept = independent_columns(design * np.sqrt(mass.records)[:, None])
    out = np.zeros(matrix.shape[1])
    if kept.any():
        of_each = np.ones(len(design)) if spread is None else np.maximum(spread[used], LEAST_SPREAD)
        loads, rows = _functionals(design[:, kept], mass.times(of_each))
        out[kept] = [(np.abs(rows @ load) * mass.tops[:, 0]).max() for load in loads]
    return out


def carried_by_few(loads: Floats, rows: Floats, few: Bools | None = None, mass: Mass | None = None) -> Bools:
    """Which of p sums over records rest on fewer than five of them, alone or in linear combinations.

    The weights of record i in the p sums are ``loads @ rows[i]``: `loads` (p, r), `rows` (n, r), times its own weight
    where rows stand for records with their `mass`. `few` (p,): known already, never told. Where a sum of several rests
    on a few records, the one that they carry most is added, and the rest is looked at again.

    >>> rows = np.vstack([np.eye(2), np.tile([[0.0, 1.0]], (9, 1))])  # the first record, and ten others
    >>> carried_by_few(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), rows).tolist()
    [True, False, True]
    """
    mass = Mass.of(len(rows), None) if mass is None else mass
    out = np.zeros(len(loads), bool) if few is None else few.copy()
    rows, loads = _orthonormal(rows, loads, mass.squares)
    size: Floats = np.linalg.norm(loads, axis=1)
    speaks = size > ZERO * max(float(size.max(initial=0.0)), 1e-300)
    loads = loads / np.where(speaks, size, 1.0)[:, None]
    at = np.flatnonzero(_leverage(rows * mass.tops[:, :1]) >= NEGLIGIBLE)
    if len(at) == 0:
        return out
    # of rows alike the four heaviest say all: no other has more of any sum
    rows = (rows[at][:, None, :] * mass.tops[at][:, :, None]).reshape(-1, rows.shape[1])
    rows = rows[_leverage(rows) >= NEGLIGIBLE]
    rows = rows[_in_order(rows @ loads.T)]
    shares = np.round((rows @ loads.T) ** 2, DIGITS)
    out |= speaks & _concentrated(shares)
    while (left := np.flatnonzero(speaks & ~out)).size:
        group = _worst_group(rows @ _row_space(loads[left]))
        if group is None:
            break
        out[left[np.argmax(shares[np.ix_(group, left)].sum(axis=0).round(DIGITS))]] = True
    return out


def is_dominated(contributions: Floats, part: float = PART) -> bool:
    """Whether the second largest contributor could derive the largest from the sum of all (p% rule).

    The p per cent rule: those behind the two largest have less than `part` of the largest.

    >>> is_dominated(np.array([1000.0, 20, 30, 25])), is_dominated(np.array([100.0, 20, 30, 25]))
    (True, False)
    """
    if len(contributions) < 3:
        return bool(contributions.any())
    second, first = np.partition(contributions, -2)[-2:]
    return bool(first > 0 and contributions.sum() - first - second < part * first)


def sum_of_few(shares: Floats, values: Floats) -> tuple[bool, bool]:
    """Whether ``sum of shares * values`` rests on few records, and whether its variance does.

    >>> shares = np.full(100, 0.01)
    >>> sum_of_few(shares, np.arange(100.0)), sum_of_few(shares, (np.arange(100) < 3) * 5.0)
    ((False, False), (True, True))
    """
    shares, values = shares[shares > 0], values[shares > 0]
    if len(values) < FEWEST:
        return True, True
    parts = np.sort(shares**2)[::-1] / (shares @ shares)
    centred = shares * (values - np.median(values))
    few = bool(
        parts[0] > MOST_OF_ONE
        or parts[: FEWEST - 1].sum() > MOST_OF_FEW
        or 0 < off_mode(values).sum() < FEWEST
        or is_dominated(np.abs(centred), PART)
    )
    mean = shares @ values / shares.sum() if values.min() < values.max() else values[0]
    residual = shares * (values - mean)
    return few, few or is_dominated(residual**2, 2 * PART)


def off_mode(values: Floats, records: Floats | None = None) -> Bools:
    """Records whose value is not the mode; all of them where the mode itself is the value of few.

    `records`: how many have each of the values, one unless given.

    >>> off_mode(np.array([0.0, 0, 0, 0, 0, 7])).tolist(), off_mode(np.array([1.0, 2, 3])).tolist()
    ([False, False, False, False, False, True], [True, True, True])
    """
    levels, at = np.unique(values, return_inverse=True)
    counts = np.bincount(at, records)
    mode = int(np.argmax(counts))
    return values != levels[mode] if counts[mode] >= FEWEST else np.ones(len(values), bool)


def _sparse(design: Floats, records: Floats) -> Bools:
    """Columns in which fewer than five records differ from the median."""
    others = records @ (design != _median(design, records))
    return np.asarray((others > 0) & (others < FEWEST), np.bool_)


def _median(columns: Floats, records: Floats) -> Floats:
    """The median of each column, from rows of so many records each."""
    if (records == 1).all():
        return np.median(columns, axis=0)
    order = np.argsort(columns, axis=0)
    ends, n = np.cumsum(records[order], axis=0), float(records.sum())
    two = [(ends <= place).sum(axis=0) for place in ((n - 1) // 2, n // 2)]
    columns = np.take_along_axis(columns, order, 0)
    return np.asarray(sum(columns[at, np.arange(columns.shape[1])] for at in two) / 2)


def _functionals(design: Floats, mass: Mass) -> tuple[Floats, Floats]:
    """The linear weights of the records in each coefficient, as ``rows @ loads.T`` times the weight of a record.

    Times their weights, the records' rows have orthonormal columns.
    """
    scale: Floats = np.sqrt(mass.records @ design**2)
    design = design / scale
    back: Floats = np.linalg.inv(np.linalg.qr(np.sqrt(mass.total)[:, None] * design, mode="r"))  # independent columns
    rows: Floats = design @ back
    weight = mass.tops[0, 0]
    if (mass.tops[:, 0] == weight).all() and (mass.total == weight * mass.records).all():
        return back * np.sqrt(weight) / scale[:, None], rows / np.sqrt(weight)
    turn: Floats = np.linalg.qr(np.sqrt(mass.squares)[:, None] * rows, mode="r")  # type: ignore[assignment]
    loads: Floats = back @ turn.T / scale[:, None]
    return loads, rows @ np.linalg.inv(turn)


def _orthonormal(rows: Floats, loads: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The same linear functionals with orthonormal columns of `rows`, directions of zero variance removed."""
    size, basis = np.linalg.eigh((rows * squares[:, None]).T @ rows)
    kept = size > ZERO * max(float(size.max(initial=0.0)), 1e-300)
    root = np.sqrt(size[kept])
    return rows @ (basis[:, kept] / root), loads @ (basis[:, kept] * root)


def _leverage(rows: Floats) -> Floats:
    return np.asarray(np.round((rows**2).sum(axis=1), DIGITS))


def _in_order(shares: Floats) -> Ints:
    """An order of rows by what they have of each sum, whatever their order before; a row and its negative are alike."""
    shares = np.round(shares, DIGITS)
    first = np.argmax(shares != 0, axis=1)
    signs = np.sign(shares[np.arange(len(shares)), first])
    return np.lexsort((shares * signs[:, None]).T)


def _row_space(loads: Floats) -> Floats:
    """Orthonormal basis (columns) of the row space."""
    _, size, turned = np.linalg.svd(loads, full_matrices=False)
    return np.asarray(turned[size > ZERO**0.5 * size[0]].T)


def _concentrated(shares: Floats) -> Bools:
    """Columns in which one record has more than a half, or four have nearly all."""
    top = np.sort(shares, axis=0)[::-1][: FEWEST - 1]
    return np.asarray((top[0] > MOST_OF_ONE) | (top.sum(axis=0).round(DIGITS) > MOST_OF_FEW), np.bool_)


def _worst_group(rows: Floats) -> Ints | None:
    """Records that have nearly all of some linear combination of the (nearly orthonormal) columns; None without.

    From every record that could be the largest of four, the four with most of a sum and the sum that they have most
    of are sought in turns.
    """
    leverage = _leverage(rows)
    if leverage.max(initial=0.0) > MOST_OF_ONE:
        return np.array([np.argmax(leverage)])
    for start in np.flatnonzero(leverage >= MOST_OF_FEW / (FEWEST - 1)).tolist():
        direction: Floats = rows[start]
        last = -1.0
        for _ in range(SCANS):
            group = np.argsort(-np.round((rows @ direction) ** 2, DIGITS), kind="stable")[: FEWEST - 1]
            sizes, vectors = np.linalg.eigh(rows[group].T @ rows[group])
            if round(float(sizes[-1]), DIGITS) > MOST_OF_FEW:
                return group
            if sizes[-1] <= last + 1e-6:
                break
            last, direction = float(sizes[-1]), vectors[:, -1]
    return None


# Names of coefficients as they may be published: without levels that few records have.


RARE = "rare"
MARKS = ("", "T.", "S.", "H.", "D.")  # how formulaic writes a level, by contrast
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
Pieces = Mapping[str, str]  # column names of a factor, and the published form of each


def common_levels(frame: Any, columns: Sequence[str], times: Ints | None = None) -> dict[str, frozenset[str]]:
    """For each categorical column of a pandas frame, the levels of five or more records; `times`: of each row."""
    common = {}
    for name in columns:
        if frame[name].dtype == "category":
            labels = frame[name].cat.categories
            held = np.bincount(frame[name].cat.codes + 1, times, len(labels) + 1)[1:]
            counts = dict(zip(labels, held.tolist(), strict=True))
            common[name] = frozenset(str(label) for label, n in counts.items() if n >= FEWEST)
    return common


def published_names(names: Sequence[str], spec: Any, common: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Published names of a model's columns, levels of few records as "rare".

    `spec`: what formulaic says of the columns. `common`: levels that may be named, by column. A name that is not
    recognised is that of its term alone.
    """
    anything = frozenset().union(*common.values())
    out: dict[str, str] = {}
    for part in spec.structure:
        factors = [(factor.expr, _pieces(factor, spec, common, anything)) for factor in part.term.factors]
        hidden = ":".join(f"{published_text(expression, anything)}[{RARE}]" for expression, _ in factors)
        plain = [str(expression) for expression, _ in factors] == ["1"]
        for name in map(str, part.columns):
            out[name] = name if plain else published_name(name, factors) or hidden
    return tuple(out.get(name, f"term[{RARE}]") for name in names)


def published_name(name: str, factors: Sequence[tuple[str, Pieces | None]]) -> str:
    """Published name of a column, put together from those of its factors; "" where it cannot be parsed with certainty.

    `factors`: expression and pieces of each; None for one that is a number.

    >>> sex = {"sex[T.f]": "sex[T.f]", "sex[T.bishop]": "sex[rare]"}
    >>> published_name("sex[T.bishop]:bs(age, df=4)[2]", [("sex", sex), ("bs(age, df=4)", None)])
    'sex[rare]:bs(age, df=4)[2]'
    """
    readings = set(_read(name, factors))
    return readings.pop() if len(readings) == 1 else ""


def published_text(text: str, common: frozenset[str]) -> str:
    """A formula, or a part of one, in which quoted words are replaced unless they are common levels.

    >>> published_text("C(job, contr.treatment(base='bishop')) + C(sex, contr.treatment(base='f'))", frozenset({"f"}))
    "C(job, contr.treatment(base='rare')) + C(sex, contr.treatment(base='f'))"
    """
    return LITERAL.sub(lambda match: match[0] if match[0][1:-1] in common else f"'{RARE}'", text)


def names_apart(names: Sequence[str]) -> list[str]:
    """Make names unique: a repeated one gets a number.

    >>> names_apart(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _read(rest: str, factors: Sequence[tuple[str, Pieces | None]]) -> Iterator[str]:
    """Yield the published form of every parse of a name as factor pieces in order; a base level has no piece."""
    for at, (expression, pieces) in enumerate(factors):
        for piece, shown in _own(rest, expression) if pieces is None else pieces.items():
            behind = rest[len(piece) :]
            if rest == piece:
                yield shown
            elif rest.startswith(piece) and behind.startswith(":"):
                yield from (f"{shown}:{other}" for other in _read(behind[1:], factors[at + 1 :]))


def _own(rest: str, expression: str) -> list[tuple[str, str]]:
    """Column names of a numeric factor: as it stands, or the columns that it expanded to."""
    if not rest.startswith(expression):
        return []
    index = re.match(r"\[\d+\]", rest[len(expression) :])
    piece = expression + (index[0] if index else "")
    return [(piece, piece)]


def _pieces(factor: Any, spec: Any, common: Mapping[str, frozenset[str]], anything: frozenset[str]) -> Pieces | None:
    kind, state = spec.encoder_state.get(factor.expr, (None, {}))
    if "categories" not in (state or {}):
        return None if kind is None or kind.value != "categorical" else {}
    columns = {str(column) for column in spec.factor_variables.get(factor, ())} & common.keys()
    levels = common[columns.pop()] if len(columns) == 1 else frozenset({"True", "False"})
    words = published_text(factor.expr, anything)
    hidden = f"{words}[{RARE}]"
    pieces: dict[str, str] = {}
    for level in map(str, state["categories"]):
        for mark in MARKS:
            piece = f"{factor.expr}[{mark}{level}]"
            common_one = level in levels and pieces.get(piece) != hidden
            pieces[piece] = f"{words}[{mark}{level}]" if common_one else hidden
    for mark in (".L", ".Q", ".C", *(f"^{power}" for power in range(4, len(state["categories"])))):
        pieces.setdefault(f"{factor.expr}[{mark}]", f"{words}[{mark}]")
    return pieces


MOST_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class Design:
    """Design matrix of one file.

    `rows`: records without a missing value in the columns used. `matrix` (n, p): a column per term. `outcome` (n,):
    the left side where it is an expression; None where it is a column.
    """

    rows: Ints
    matrix: Floats
    outcome: Floats | None


def column_values(pair: Pair, name: str, *, as_category: bool = False) -> tuple[Any, ...]:
    """A column of each file for a formula: floats, or categories with the levels of all files.

    True and false are 1 and 0; text, categories and dates are categories, numbers with `as_category` too.

    Raises DataError: more than 1,000 categories, or no value at all.
    """
    if ("numbers", name) in pair.memo and not as_category:
        return pair.numbers(name)
    shared = pair.codes(name)
    if shared.kind == "numbers" and not as_category:
        return pair.numbers(name)
    labels = shared.labels()[1:]
    if shared.kind == "true and false" and not as_category:
        numbers = np.array([np.nan, *(float(label == "True") for label in labels)])
        return tuple(numbers[codes] for codes in shared.codes)
    if shared.n_levels == 0:
        raise DataError(f"formula: {name!r} has no value at all", argument="formula")
    if shared.n_levels > MOST_LEVELS:
        raise DataError(
            f"formula: {name!r} has {shared.n_levels} categories; group them first, or convert the column to numbers",
            argument="formula",
        )
    # The base level must have records in every file: levels that a file lacks come last.
    present = np.array([np.bincount(codes, minlength=len(labels) + 1)[1:] > 0 for codes in shared.codes]).all(axis=0)
    order = np.argsort(~present, kind="stable")
    place = np.concatenate([[-1], np.argsort(order)])
    ordered = [labels[j] for j in order.tolist()]
    return tuple(pd.Categorical.from_codes(place[codes], ordered) for codes in shared.codes)


def designs(
    pair: Pair, sides: formula_text.Sides, complete: Sequence[Bools]
) -> tuple[tuple[str, ...], tuple[str, ...], list[Design]]:
    """Names of the terms, their published form, and the design of each file, the original first.

    `complete`: records of each file that the caller can use otherwise (weights, outcome). Raises DataError: the
    formula cannot be evaluated; a term is not finite, with the rows; no complete record is left.

    What a transformation takes from the data (the knots of a spline, a mean) is taken from the original and
    kept for the releases.
    """
    columns = {name: column_values(pair, name, as_category=name in sides.categories) for name in sides.columns}
    files = [
        pd.DataFrame({name: values[j] for name, values in columns.items()}, index=range(len(usable)))
        for j, usable in enumerate(complete)
    ]
    names: tuple[str, ...] = ()
    spec: Any = sides.terms
    left: Any = None if sides.outcome_column is not None else f"0 + {sides.outcome}"
    out = []
    counted = pair.times is not None
    for label, frame, usable in zip(pair.names, files, complete, strict=True):
        rows = np.flatnonzero(frame.notna().all(axis=1).to_numpy() & usable)
        if counted and len(rows):
            _, terms, _ = _evaluated(sides.terms, frame.iloc[rows[:1]], rows[:1], label, counted=True)
            if len(rows) > (most := most_cells(len(terms))):
                raise too_many(len(rows), len(columns), most)
        if len(rows) == 0:
            raise DataError(f"{label}: no record has a value in every column of the formula")
        part = frame.iloc[rows]
        matrix, names, spec = _evaluated(spec, part, rows, label, counted=counted)
        outcome = None
        if left is not None:
            values, outcome_names, left = _evaluated(left, part, rows, label, counted=counted)
            if len(outcome_names) != 1:
                raise DataError(
                    "formula: the left side must be one number per record, or the name of a column", argument="formula"
                )
            outcome = values[:, 0]
        out.append(Design(rows, matrix, outcome))
    common = common_levels(files[0], list(columns), None if pair.times is None else pair.times[0])
    return names, published_names(names, spec, common), out


def _evaluated(
    spec: Any, frame: Any, rows: Ints, label: str, *, counted: bool = False
) -> tuple[Floats, tuple[str, ...], Any]:
    """Values of the columns, their names, and the model specification that evaluates them for the next file.

    `counted`: whether rows stand for records that have no numbers.
    """
    from formulaic import Formula
    from formulaic.errors import DataMismatchWarning

    context = {"np": np, **{name: getattr(np, name) for name in formula_text.FUNCTIONS}}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DataMismatchWarning)
            evaluate = Formula(spec) if isinstance(spec, str) else spec
            matrix = evaluate.get_model_matrix(frame, context=context, na_action="ignore", output="pandas")
            values = matrix.to_numpy(np.float64)
    except DataMismatchWarning:
        raise DataError(
            f"{label}: a variable that stands in C() and elsewhere has values that the original has not; give C() "
            "a column of its own"
        ) from None
    except Exception as error:  # noqa: BLE001 - the formula is the caller's, and messages may show values
        raise DataError(
            f"{label}: the formula cannot be evaluated ({type(error).__name__}); check its brackets, that "
            "functions are given numbers, and that splines say extrapolation='extend' where a release reaches farther"
        ) from None
    names = tuple(str(name) for name in matrix.columns)
    if len(names) == 0:
        raise DataError("formula: there is no term on the right; give at least the constant 1", argument="formula")
    for name, column in zip(names, values.T, strict=True):
        if len(wrong := rows[~(np.abs(column) <= FURTHEST)]):
            where = np.zeros(int(rows[-1]) + 1, bool)
            where[wrong] = True
            shown = "some records" if counted else first_rows(where)
            raise DataError(f"{label}: {name} is not a finite number in {shown}, or beyond 1e150; change the formula")
    return values, names, matrix.model_spec
