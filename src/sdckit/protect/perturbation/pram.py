"""E4: the post-randomisation method: categories change by chance, by a known matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, replace, seeds
from sdckit.data.columns import categories_of, code_column, is_number, level_name, places_in_order
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import is_few, njit, sparing
from sdckit.numerics.grouping import first_of_groups, places_among
from sdckit.numerics.threads import chunks, run
from sdckit.protect.by_household import in_two_parts, of_columns
from sdckit.protect.change import PIECE, Change, Protected, chosen, strata_rows

# The levels of a column: coding and counting them, and drawing new ones.


MOST_LEVELS = 2000  # a matrix of so many rows and columns is 32 MB
MOVE = 12  # steps of a record that is moved, about
WIDE = 1 << 16  # codes that span more are numbered anew first
TAKEN = (np.dtype(np.int64), np.dtype(np.uint32))  # types of codes that the kernels take as they are
EVERY = np.empty(0, np.int64)  # the rows of a stratum that is the whole file


class _Column(NamedTuple):
    """The arrays of `Levels` that the kernels take."""

    codes: Ints | NDArray[np.uint32]
    low: int
    level: Ints
    first: Ints


@njit(cache=True, nogil=True)
def _count(codes, low, rows, start, stop, first, count):  # type: ignore[no-untyped-def]
    """Count the records of each code among some rows, and note the first row of each.

    `rows`: row numbers, of which `start` to `stop` are counted; if empty, these are the rows themselves. Fills `first`
    and `count` (span + 1,), indexed by code minus `low`.
    """
    for t in range(start, stop):
        i = rows[t] if len(rows) else t
        here = codes[i] - low
        if count[here] == 0:
            first[here] = i
        count[here] += 1


@njit(cache=True, nogil=True)
def _move(column, rows, start, stop, chance, stay, other, source):  # type: ignore[no-untyped-def]
    """Draw a new level for each of some records from its row of the transition matrix; return how many change.

    `chance`: a uniform random number per record. `stay` (L,): diagonal of the matrix. `other` (L, L): cumulated shares
    of the other levels, row by row. Fills `source` (n,): a row that has the new level of each record.
    """
    codes, low, level, first = column
    moved, last = 0, len(stay) - 1
    for t in range(start, stop):
        i = rows[t] if len(rows) else t
        here = level[codes[i] - low]
        source[i] = i
        if here < 0 or chance[t - start] < stay[here]:
            continue
        mark = (chance[t - start] - stay[here]) / (1.0 - stay[here])
        least, most = 0, last
        while least < most:  # the first level whose running total is above the mark
            middle = (least + most) // 2
            if other[here, middle] > mark:
                most = middle
            else:
                least = middle + 1
        source[i] = first[least]
        moved += 1
    return moved


@dataclass(frozen=True, eq=False)
class Levels:
    """One column as levels in a canonical order: numbers ascending, categories as declared, else by their text."""

    # shape (n,); from `low` on: integers are used as they are
    codes: Ints | NDArray[np.uint32]
    low: int
    # shape (span + 1,); level of each code, -1 of a missing value (the last code) and of codes nobody has
    level: Ints
    labels: list[str]  # the levels, printed
    numeric: bool  # whether they are numbers
    first: Ints  # shape (L,); a row that has each level
    count: Ints  # shape (L,); records of each

    @property
    def of_record(self) -> Ints:
        """Level of each record, -1 where missing."""
        return self.level[self.codes.astype(np.int64, copy=False) - self.low]

    def counts(self, rows: Ints) -> Ints:
        """Records of each level in a stratum."""
        if len(rows) == 0:
            return self.count
        by_code, first = np.zeros(len(self.level), np.int64), np.empty(len(self.level), np.int64)
        sparing(_count, 4 * len(rows))(self.codes, self.low, rows, 0, len(rows), first, by_code)
        there = self.level >= 0
        count = np.zeros(len(self.labels), np.int64)
        count[self.level[there]] = by_code[there]
        return count

    def move(self, rows: Ints, matrix: Floats, source: Ints, rng: np.random.Generator) -> int:
        """Draw a new level for each record of a stratum, and write into `source` a row that has this level.

        Returns the number of records that change.
        """
        n = len(rows) or len(self.codes)
        others = matrix.copy()
        np.fill_diagonal(others, 0.0)
        away = others.sum(axis=1)
        stay = np.where(away > 0, np.diagonal(matrix), 1.0)
        running = np.cumsum(others, axis=1) / np.where(away > 0, away, 1.0)[:, None]
        last = running.shape[1] - 1 - np.argmax(others[:, ::-1] > 0, axis=1)
        running[np.arange(len(last)), last] = 2.0  # whatever rounding did to the total

        def moved(part: tuple[int, int]) -> int:
            """The pieces of one thread: their random numbers stay in the cache of the processor."""
            chance, total = np.empty(PIECE), 0
            for piece in range(*part):
                first, end = piece * PIECE, min((piece + 1) * PIECE, n)
                own[piece].random(out=chance[: end - first])
                total += lend(column, rows, first, end, chance, stay, running, source)
            return total

        lend = sparing(_move, MOVE * n)
        column, own = _Column(self.codes, self.low, self.level, self.first), rng.spawn(-(-n // PIECE))
        return sum(run(moved, chunks(len(own), minimum=1)))


def read_levels(frame: Any, name: str) -> Levels:
    """Code a column of any type as levels.

    Raises `DataError`: one level, none, or more than 2,000.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> found = read_levels(open_frame(pl.DataFrame({"job": ["smith", None, "clerk"]})), "job")
    >>> found.labels, found.of_record.tolist(), found.count.tolist()
    (['clerk', 'smith'], [1, -1, 0], [1, 1])
    """
    coded = code_column(frame[name])
    span = coded.span
    plain = coded.values.dtype in TAKEN and len(coded.valid) == 0 and span <= WIDE
    codes, low = (coded.values, coded.low) if plain else (coded.codes(), 0)
    if span > WIDE:
        seen = np.unique(codes[codes < span])
        _check_number(name, len(seen))
        codes = np.where(codes < span, np.searchsorted(seen, codes), len(seen))
        span = len(seen)
    by_code, first = _counted(codes, low, span + 1)
    seen = np.flatnonzero(by_code[:span])
    _check_number(name, len(seen))
    one_each = code_column(frame[name][first[seen].tolist()])  # printing levels needs a record of each only
    labels = one_each.labels(one_each.codes())
    numeric = coded.kind in {"integer", "number"}
    if numeric:
        order = sorted(range(len(seen)), key=lambda at: float(labels[at]))
    else:
        order = places_in_order(labels, categories_of(coded))
    level = places_among(seen[order], span + 1)
    texts, first, count = [labels[at] for at in order], first[seen[order]], by_code[seen[order]]
    return Levels(codes, low, level, texts, numeric, first, count)


def _counted(codes: Ints | NDArray[np.uint32], low: int, n_codes: int) -> tuple[Ints, Ints]:
    """Number of records and first row of each code."""
    if is_few(_count, len(codes)):
        here = codes.astype(np.int64, copy=False) - low
        return np.bincount(here, minlength=n_codes), first_of_groups(here, n_codes)
    parts = chunks(len(codes))
    count, first = np.zeros((len(parts), n_codes), np.int64), np.zeros((len(parts), n_codes), np.int64)
    run(lambda at: _count(codes, low, EVERY, *parts[at], first[at], count[at]), range(len(parts)))
    earliest = np.argmax(count > 0, axis=0)
    return count.sum(axis=0), first[earliest, np.arange(n_codes)]


def _check_number(name: str, n_levels: int) -> None:
    if not 2 <= n_levels <= MOST_LEVELS:
        what = "has no value" if n_levels == 0 else f"has {n_levels:,} level{'s' * (n_levels > 1)}"
        todo = "recode it to fewer" if n_levels > 1 else "there is nothing to change it to; leave it out"
        raise DataError(f"column {name!r} {what}; {todo}")


Matrix = Mapping[Any, Mapping[Any, float]]
SUM_TOLERANCE = 1e-8


def around_diagonal(stay: Floats) -> Floats:
    """Transition matrix with a given diagonal; the rest of a row is spread evenly over the other levels.

    >>> around_diagonal(np.array([0.8, 1.0])).tolist()
    [[0.8, 0.2], [0.0, 1.0]]
    """
    n = len(stay)
    made = np.repeat(((1 - stay) / max(n - 1, 1))[:, None], n, axis=1)
    np.fill_diagonal(made, stay if n > 1 else 1.0)
    return np.round(made, 15)


def invariant_of(matrix: Floats, shares: Floats) -> Floats:
    """Transition matrix times its reverse: an invariant matrix, which keeps the shares in expectation.

    `matrix` (shape (L, L)): rows sum to 1. `shares` (shape (L,)): observed shares of the levels.

    >>> shares = np.array([0.9, 0.1])
    >>> np.allclose(shares @ invariant_of(around_diagonal(np.array([0.8, 0.8])), shares), shares)
    True
    """
    joint = matrix * shares[:, None]
    reached = joint.sum(axis=0)
    back = np.divide(joint, reached, out=np.eye(len(shares)), where=reached > 0).T  # never reached: stays
    return np.asarray(matrix @ back, np.float64)


def staying(
    given: float | Mapping[Any, float], levels: Sequence[str], numeric: bool, rng: np.random.Generator
) -> Floats:
    """Probability of staying of each level: drawn between the number given and 1, or as given by level.

    Raises `DataError`: a level without one, or no probability.
    """
    if not isinstance(given, Mapping):
        return rng.uniform(given, 1.0, len(levels))
    place = _places(levels, numeric)
    chances = np.full(len(levels), np.nan)
    for level, chance in given.items():
        at = place.get(level_name(level, numeric), -1)
        if at >= 0:
            chances[at] = _chance(chance, "pd=")
    if np.isnan(chances).any():
        raise DataError(
            f"pd= gives no chance of staying for {counted(int(np.isnan(chances).sum()), 'level')} of the data; "
            "give all, or one number",
            argument="pd",
        )
    return chances


def given_matrix(given: Mapping[Any, Mapping[Any, float]], levels: Sequence[str], numeric: bool, column: str) -> Floats:
    """The transition matrix that is given for a column, in the order of its levels.

    `given`: ``{level: {level: probability}}``, what is left out is 0. `levels`: printed levels of the data.
    `numeric`: whether the levels are numbers. Raises `DataError`: not a stochastic matrix over the levels of
    the data.

    >>> given_matrix({1: {1: 0.9, 2: 0.1}, 2: {2: 1}}, ["1", "2"], True, "sex").tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    place, made = _places(levels, numeric), np.zeros((len(levels), len(levels)))
    rows = np.zeros(len(levels), np.bool_)
    for number, (start, row) in enumerate(given.items(), start=1):
        if not isinstance(row, Mapping):
            raise DataError(f"matrix of {column!r}: write it as {{level: {{level: probability}}}}")
        chances = [_chance(chance, f"matrix of {column!r}, row {number}") for chance in row.values()]
        if abs(math.fsum(chances) - 1) > SUM_TOLERANCE:
            raise DataError(
                f"matrix of {column!r} is not stochastic: row {number} sums to {math.fsum(chances):.6g}, not to 1"
            )
        at = place.get(level_name(start, numeric), -1)
        if at < 0:
            continue  # a level that nobody has
        rows[at] = True
        for target, chance in zip(row, chances, strict=True):
            to = place.get(level_name(target, numeric), -1)
            if to < 0 and chance > 0:
                raise DataError(
                    f"matrix of {column!r}: row {number} leads to a level that no record has; "
                    "leave it out, or add the level to the data first"
                )
            if to >= 0:
                made[at, to] += chance
    if not rows.all():
        lacking, n = int((~rows).sum()), len(levels)
        raise DataError(f"matrix of {column!r} has no row for {lacking} of the {n} levels of the data")
    return np.asarray(made / made.sum(axis=1, keepdims=True), np.float64)


def _places(levels: Sequence[str], numeric: bool) -> dict[float | str, int]:
    return {level_name(level, numeric): at for at, level in enumerate(levels)}


def _chance(value: object, where: str) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise DataError(f"{where}: a probability is a number from 0 to 1")
    return float(value)


def pram(
    data: Any,
    *,
    columns: Sequence[str],
    pd: float | Mapping[str, Mapping[Any, float]] = 0.8,
    alpha: float | None = None,
    matrix: Mapping[str, Matrix] | None = None,
    invariant: bool | None = None,
    strata: Sequence[str] | None = None,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Change categories at random, with probabilities that an analyst can be told of.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Categorical variables to change, each independently.
    pd : float or dict
        Least probability of staying, 0 to 1: that of each level is drawn between it and 1. Or, by column and
        level, the probabilities themselves: ``{"job": {"clerk": 0.9, "smith": 0.8}}``.
    alpha : float, optional
        Weight of the matrix, 0 to 1, against changing nothing; default 0.5, and 1 with a matrix of your own.
    matrix : dict, optional
        ``{column: {level: {level: probability}}}`` for all columns, instead of `pd`. Rows sum to 1.
    invariant : bool, optional
        Whether the frequencies of the levels are kept in expectation; default true, but a matrix of your own
        is used as it is.
    strata : sequence of str, optional
        Each stratum has a matrix of its own, and keeps its own frequencies; a missing value is a level.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. The matrices are in ``change.secret["matrix"]`` only: by column a list with one
        per stratum, in the form `matrix` takes; and the seed.

    Raises
    ------
    ColumnError
        A column that the data does not have; matrices for other columns than `columns`.
    DataError
        A matrix that is not stochastic, or lacks a level of the data; a column of one level, or of more than
        2,000.

    Notes
    -----
    A record of level l gets level m with probability R[l, m]. With P the matrix given or drawn (the rest of a
    row spread evenly over the other levels) and p the shares of the levels, Q[m, l] = P[l, m] p[l] / sum over
    j of P[j, m] p[j] is the reverse of P, and P Q keeps p; R = alpha P Q + (1 - alpha) I does as well. Not
    invariant, R = alpha P + (1 - alpha) I. Missing values stay.

    The figures that risk is measured by (frequencies of keys) mean something else afterwards: a rare
    combination may be one that nobody has.

    References
    ----------
    Gouweleeuw, J. M., Kooiman, P., Willenborg, L. C. R. J. and de Wolf, P.-P. (1998). Post randomisation for
    statistical disclosure control: theory and implementation. Journal of Official Statistics 14, 463-478.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": ["clerk", "smith"] * 50})
    >>> swap = {"job": {"clerk": {"smith": 1}, "smith": {"clerk": 1}}}
    >>> found = pram(survey, columns=["job"], matrix=swap, seed=1)
    >>> found.data["job"].head(3).to_list(), found.change.changed
    (['smith', 'clerk', 'smith'], {'job': 100})
    """
    names, within = chosen(columns), arguments.names(strata, "strata") or ()
    keeps = matrix is None if invariant is None else arguments.flag(invariant, "invariant")
    default = 0.5 if matrix is None else 1.0
    weight = arguments.share(default if alpha is None else alpha, "alpha", "is the weight of the matrix")
    _check_given(names, pd, matrix)
    parted = in_two_parts(
        data, names, household, household_variables, seed,
        lambda part, *, columns, seed: pram(
            part, columns=columns, pd=of_columns(pd, columns), alpha=alpha, matrix=of_columns(matrix, columns),
            invariant=invariant, strata=strata, seed=seed,
        ), also=within,
    )  # fmt: skip
    if parted is not None:
        return parted
    frame = replace.open_eager(data, {"columns": names, "strata": within})
    parts = strata_rows(frame, within) if within else [EVERY]
    columns_read = {name: read_levels(frame, name) for name in names}
    rng, secret = seeds.open_rng(seed)
    source: dict[str, Ints] = {}
    used: dict[str, list[dict[str, dict[str, float]]]] = {}
    changed, notes = {}, {}
    for name, levels in columns_read.items():
        whole = None if matrix is None else given_matrix(matrix[name], levels.labels, levels.numeric, name)
        stay = pd[name] if isinstance(pd, Mapping) else pd
        source[name], changed[name], used[name] = np.empty(len(frame), np.int64), 0, []
        counts, expected = [levels.counts(rows) for rows in parts], 0.0
        for rows, count in zip(parts, counts, strict=True):
            full = _transitions(levels, count, whole, stay, keeps, weight, rng)
            changed[name] += levels.move(rows, full, source[name], rng)
            expected += float(count @ (1 - np.diagonal(full)))
            used[name].append(_readable(full, np.flatnonzero(count), levels.labels))
        share = expected / levels.count.sum()
        notes[f"expected {name}"] = f"{share:.4f} of the values were expected to change"
        notes |= _narrow(counts, name) if len(parts) > 1 else {}
    change = Change(
        "pram", len(frame), changed,
        parameters={
            "columns": list(names), "matrix": "given" if matrix is not None else "drawn" if not isinstance(pd, Mapping)
            else "from the diagonal given", "invariant": keeps, "strata": list(within),
        },
        secret={"seed": secret, "matrix": used, "alpha": weight, "pd": pd if matrix is None else None},
        notes=notes,
    )  # fmt: skip
    return Protected(replace.take_rows(frame, source), change)


def _transitions(
    levels: Levels, count: Ints, whole: Floats | None, pd: Any, keeps: bool, weight: float, rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Transition matrix of a stratum; the identity for levels that do not occur there."""
    there, stays = np.flatnonzero(count), np.eye(len(levels.labels))
    if len(there) == 0:
        return stays
    if whole is None:
        own = stays.copy()
        own[np.ix_(there, there)] = around_diagonal(staying(pd, levels.labels, levels.numeric, rng)[there])
    else:
        own = whole
    if keeps:
        own = invariant_of(own, count / count.sum())
    return _kept_exact(weight * own + (1 - weight) * stays)


def _kept_exact(matrix: Floats) -> Floats:
    """Remove rounding errors: entries in [0, 1], rows that sum to 1."""
    clean = np.clip(matrix, 0.0, 1.0)
    return np.asarray(clean / clean.sum(axis=1, keepdims=True), np.float64)


def _readable(matrix: Floats, there: Ints, labels: list[str]) -> dict[str, dict[str, float]]:
    """The matrix in the form in which it can be given, without levels that the stratum lacks."""
    return {labels[i]: {labels[j]: float(matrix[i, j]) for j in np.flatnonzero(matrix[i] > 0)} for i in there}


def _narrow(counts: list[Ints], name: str) -> dict[str, str]:
    """A note on strata with a single level, in which nothing can change."""
    single = sum(int(np.count_nonzero(count) == 1) for count in counts)
    return {f"strata {name}": f"{single} strata have one level and stay as they are"} if single else {}


def _check_given(names: Sequence[str], pd: object, matrix: object) -> None:
    for role, given in {"matrix": matrix, "pd": pd}.items():
        if isinstance(given, Mapping):
            if set(given) != set(names):
                says = f"{role}= is given by column: {role}={{column: ...}} for exactly the columns to change"
                raise ColumnError(says, argument=role)
            if any(not isinstance(by_level, Mapping) for by_level in given.values()):
                how = f"{role}= of a column is given by level: {role}={{column: {{level: ...}}}}"
                raise DataError(how, argument=role)
    if matrix is not None and not isinstance(matrix, Mapping):
        raise DataError("matrix= is written {column: {level: {level: probability}}}", argument="matrix")
    if not isinstance(pd, Mapping):
        arguments.share(pd, "pd", "is the least probability of staying")
