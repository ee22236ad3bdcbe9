"""Arithmetic by which a number follows from others of the same record: found though some records are exceptions.

Fits of few records each, of which those count that most records obey (least trimmed squares, Rousseeuw and Van Driessen
2006); factors must be fractions of whole numbers up to 100 or constants that everybody knows, so that a relation is
arithmetic and no statistic.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.derived_columns import Predictor
from sdckit.attacks.recovery.trimmed_fits import FEWEST, KEPT, most_hits, trimmed_fits
from sdckit.data.derived_formula import quoted
from sdckit.numerics.array_types import Floats

STARTS = 6  # fits of few records, of each combination
SEARCHED = 160  # records that every combination is fitted to
REFINED = 2_000  # records that the factors of a promising one are taken from
MOST_IN_PAIRS, MOST_IN_THREES, MOST_IN_PRODUCTS = 60, 24, 24
MOST_TERMS = 3  # that are fitted to few records each; of more all are fitted at once
MOST_IN_SUMS, PER_TERM = 60, 5  # columns at once, and records for each
APART = 1e-4  # least size of a term beside all others, over the largest one, where products tell the factors
PRESENT = 0.5  # of the records have such a column
NEAR = 0.02  # of the usual spread: a trimmed residual above it is not looked at further
REMEMBERED = 40_000  # fits and searches of which the outcome is kept
PROMISING = 12  # combinations of one number of terms that are refined
HITS = 0.85  # of the records fitted to, from which on a relation is handed on to be judged
ENOUGH = 0.9  # of them, from which on no less simple one is looked for
FEW_VALUES = 12  # that a number may have in a row: it follows exactly or not at all, in cells of equal terms at most
MOST_CELLS = 1_024  # of equal terms and such a number
COULD_HIT = 0.8  # of the records searched, below which no function of such terms can be handed on but by chance
FAR = 1e6  # usual spreads
USUAL = 0.3  # most records of one value among those searched: else a constant fits most of them
LARGEST_PART = 100
CONSTANTS = (
    365.25, 365.0, 30.4375, 52.0 / 12.0, 52.1775, math.log(10.0), math.log2(10.0), math.log(2.0), math.pi, 2.54,
    0.45359237, 1.609344, 1.95583, 13.7603, 24.0 * 60.0, 3600.0, 1e3, 1e4, 1e5, 1e6, 400.0, 240.0, 200.0, 250.0,
)  # fmt: skip
_OUTCOMES: dict[bytes, tuple[Any]] = {}
LOGS = ("log", "exp", "power of ten", "root", "square")

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Term:
    """A number made of one or two companions: itself, a function of it, a product or a ratio.

    A search makes each once for all sets of a stage, so that terms are told apart as objects.
    """

    how: str
    parts: tuple[int, ...]

    def values(self, numbers: Mapping[int, Floats] | Sequence[Floats], rows: NDArray[np.int64] | None = None) -> Floats:
        """The term (n,) by record; NaN where it has none."""
        x = [numbers[part] if rows is None else numbers[part][rows] for part in self.parts]
        with np.errstate(all="ignore"):
            made = _MADE[self.how](*x)
            return np.where(np.isfinite(made), made, np.nan)

    def text(self, names: Mapping[int, str]) -> str:
        """The term as a formula is written."""
        return _WRITTEN[self.how].format(*(names[part] for part in self.parts))


_MADE: dict[str, Callable[..., Floats]] = {
    "itself": lambda x: x, "log": np.log, "exp": np.exp, "power of ten": lambda x: np.power(10.0, x),
    "root": np.sqrt, "square": np.square, "product": np.multiply, "ratio": np.divide,
}  # fmt: skip
_WRITTEN = {
    "itself": "{}", "log": "log({})", "exp": "exp({})", "power of ten": "10 ** {}", "root": "sqrt({})",
    "square": "{0} * {0}", "product": "{} * {}", "ratio": "{} / {}",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Relation:
    """A number as constant + sum of factors times terms; of its logarithm if `logs`.

    `columns` are those of its companions, `formula` is as a recipe writes it if it is `plain`: of columns as they are.
    `slack` is how far printed units alone may set it off, `hits` the share of the records fitted to that it gives.
    """

    terms: tuple[Term, ...]
    factors: tuple[float, ...]
    constant: float
    logs: bool
    columns: tuple[str, ...]
    formula: str
    plain: bool
    unit: float
    slack: float
    hits: float

    @property
    def parts(self) -> frozenset[int]:
        """Places of its companions."""
        return _parts(self.terms)

    def values(self, numbers: Mapping[int, Floats] | Sequence[Floats]) -> Floats:
        """The number (n,) that the companions, by their places, give; NaN where one is missing."""
        parts = [factor * term.values(numbers) for factor, term in zip(self.factors, self.terms, strict=True)]
        total = np.asarray(self.constant + sum(parts), np.float64)
        with np.errstate(over="ignore"):
            return rounded(np.exp(total) if self.logs else total, self.unit)


def rounded(values: Floats, unit: float) -> Floats:
    """Numbers in the unit that is printed: one that lies between two of them is not both."""
    return np.round(values / unit) * unit if unit else values


def printed_unit(values: Floats) -> float:
    """Step in which numbers are printed: 1 for whole ones, 0.01 for cents; 0 where none is seen.

    >>> printed_unit(np.array([1.25, 3.0, np.nan])), printed_unit(np.array([4.0, 10.0]))
    (0.01, 1.0)
    """
    known = np.unique(values[np.isfinite(values)][:10_000])
    if not len(known):
        return 1.0
    for digits in range(7):
        scaled = known * 10.0**digits
        if (np.abs(scaled - np.round(scaled)) <= 1e-6 + 1e-12 * np.abs(scaled)).mean() > 0.999:
            return float(10.0**-digits)
    return 0.0


def printed_step(values: Floats) -> float:
    """`printed_unit`, or the step to which nearly all numbers were rounded, such as 100 or 2,500.

    >>> printed_step(np.arange(40) * 500.0), printed_step(np.arange(40.0))
    (500.0, 1.0)
    """
    unit = printed_unit(values)
    known = values[np.isfinite(values)][:10_000]
    known = known[known != 0]  # of which every step is a multiple
    if not unit or not len(known):
        return unit
    for power in range(6, 0, -1):
        for digit in (5.0, 2.5, 2.0, 1.0):
            step = digit * 10.0**power * unit
            if (np.abs(known / step - np.round(known / step)) < 1e-9).mean() > KEPT + 0.1:
                return step
    return unit


def tolerance(values: Floats) -> float:
    """Half the printed unit, within which a number is hit; next to nothing where none is seen."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return max(printed_unit(values) / 2.0, 0.0) * (1 + 1e-6) + 1e-9 * largest


def find_relations(
    y: Floats, companions: Sequence[Predictor], *, name: str = "", rows: NDArray[np.int64] | None = None, seed: int = 0,
    looked_at: LookedAt | None = None,
) -> tuple[list[Relation], int]:  # fmt: skip
    """Relations by which most of the numbers y (n,) follow from companions, and how many were tried.

    Found on the records `rows` alone, or on those that were drawn of them (`looked_at`). Columns take part in pairs, in
    threes and in products first, then what is made of the column `name` itself, then the others.

    >>> rng = np.random.default_rng(1)
    >>> wage, rest = rng.integers(500, 3000, 500) * 1.0, rng.integers(0, 900, 500) * 1.0
    >>> total = wage + rest
    >>> total[:9] += 1
    >>> names = {"rest": rest, "total": total, "other": rng.random(500)}
    >>> companions = [Predictor((name,), name, np.zeros(0, np.int32), 0, x) for name, x in names.items()]
    >>> [relation.formula for relation in find_relations(wage, companions)[0]]
    ['total - rest']
    """
    drawn = looked_at or LookedAt.of(y, np.arange(len(y)) if rows is None else rows, seed)
    search = _Search(y, companions, drawn, name)
    relations: list[Relation] = []
    for sets, logs in search.stages():
        if any(relation.hits >= ENOUGH for relation in relations):
            break
        held = [relation.parts for relation in relations if relation.hits >= HITS]
        left = [terms for terms in sets if not any(parts <= _parts(terms) for parts in held)] if held else sets
        relations += search.refined(left, logs)
    if not any(relation.hits >= ENOUGH for relation in relations):
        relations += search.of_many()
    return relations, search.tried


def _parts(terms: Sequence[Term]) -> frozenset[int]:
    return frozenset(part for term in terms for part in term.parts)


@dataclass(frozen=True, eq=False)
class LookedAt:
    """The records `at` that a search on one number looks at, drawn by chance: `some` of these, and `more`.

    `draws`: of which records a fit begins with. The number's own `tolerance` and `unit` are those of all records.
    """

    at: NDArray[np.int64]
    some: NDArray[np.int64]
    more: NDArray[np.int64]
    draws: Floats
    tolerance: float
    unit: float

    @classmethod
    def of(cls, y: Floats, rows: NDArray[np.int64], seed: int = 0) -> LookedAt:
        """Draw them among the `rows`."""
        rng = np.random.default_rng(seed)
        known = rows[np.isfinite(y[rows])]
        usual = _usual(y[known])
        some = _varied(y, rng.permutation(known), SEARCHED, usual)
        more = np.sort(_varied(y, rng.permutation(known), REFINED, usual))
        at = np.unique(np.concatenate([some, more]))  # no other record is looked at
        places = np.searchsorted(at, some), np.searchsorted(at, more)
        return cls(at, *places, rng.random((STARTS, 4)), tolerance(y), printed_unit(y))


class _Search:
    """A search on one number: the records it looks at, and its terms on them."""

    def __init__(self, y: Floats, companions: Sequence[Predictor], drawn: LookedAt, name: str) -> None:
        self.companions, self.name = companions, name
        self.some, self.more, self.draws = drawn.some, drawn.more, drawn.draws
        none, every = np.full(len(drawn.at), np.nan), [companion.numbers_of(drawn.at) for companion in companions]
        self.numbers: list[Floats] = [none if numbers is None else numbers for numbers in every]
        self.y: Floats = y[drawn.at]
        self.tolerance, self.unit = drawn.tolerance, drawn.unit
        self.few_values = bool(len(self.y)) and float(np.ptp(self.y)) < FEW_VALUES * self.unit
        self.steps: dict[int, float] = {}
        self.tried = 0

    def stages(self) -> Iterator[tuple[list[tuple[Term, ...]], bool]]:
        """Combinations of terms, the simplest first, each with whether it is about logarithms."""
        if len(self.some) < FEWEST:
            return
        there = [i for i, numbers in enumerate(self.numbers) if _varies(numbers[self.some])]
        there.sort(key=self._rank)
        itself = [Term("itself", (i,)) for i in there]
        yield [(term,) for term in itself], False
        plain = [i for i in there if _is_column(self.companions[i])]
        made = [Term(how, (i,)) for how, i in product(LOGS, plain[:MOST_IN_PAIRS])]
        first = there[:MOST_IN_PRODUCTS]
        made += [Term("product", pair) for pair in combinations(first, 2)]
        made += [Term("ratio", pair) for pair in product(first, first) if pair[0] != pair[1]]
        yield [(term,) for term in made], False
        yield list(combinations(itself[:MOST_IN_PAIRS], 2)), False
        yield list(combinations(itself[:MOST_IN_THREES], 3)), False
        logs = [Term("log", (i,)) for i in there[:MOST_IN_THREES]]
        for p in (1, 2, 3):
            yield list(combinations(logs, p)), True

    def _rank(self, i: int) -> int:
        companion = self.companions[i]
        return 0 if _is_column(companion) else 1 if self.name in companion.columns and companion.kind != "text" else 2

    def refined(self, sets: Sequence[tuple[Term, ...]], logs: bool) -> list[Relation]:
        """Relations among combinations of as many terms each."""
        y = self._target(logs)
        if not sets or np.isfinite(y[self.some]).mean() < KEPT:
            return []
        each = list(dict.fromkeys(chain.from_iterable(sets)))
        place = {term: i for i, term in enumerate(each)}
        (own,), _, (spread,) = _standard(y[None, self.some])
        made = _standard(self._made(each))[0]
        indices = np.array([*map(place.__getitem__, chain.from_iterable(sets))], np.int64).reshape(len(sets), -1)
        near = max(NEAR, 0.0 if logs else self.tolerance / spread)
        self.tried += len(sets)
        if self.few_values:
            indices = indices[_most_hits(self.y[self.some], made, indices) >= COULD_HIT]
        relations: list[Relation] = []
        for i in _promising(own, made, indices, self.draws, near):
            terms = tuple(each[term] for term in indices[i])
            if not any(relation.parts <= _parts(terms) for relation in relations):
                relations += filter(None, [self._relation(terms, logs, y)])
        return relations

    def of_many(self) -> list[Relation]:
        """The relation to all columns at once, where it is of more than three: an item by the score and the others."""
        use = [i for i, companion in enumerate(self.companions) if _is_column(companion)]
        use = [i for i in use if self.name not in self.companions[i].columns and _varies(self.numbers[i][self.more])]
        use = [i for i in use if np.isfinite(self.numbers[i][self.more]).mean() >= PRESENT][:MOST_IN_SUMS]
        if len(use) <= MOST_TERMS:
            return []
        self.tried += 1
        least = PER_TERM * len(use)

        def hits(names: Sequence[int], most: int = REFINED) -> float:
            x = np.column_stack([self.numbers[i][self.more] for i in names])
            whole = np.flatnonzero(np.isfinite(x).all(axis=1))
            whole = whole[:: max(1, len(whole) // most)]
            y, x = self.y[self.more[whole]], x[whole]
            fit = _once(lambda: _fitted(y, x, self.unit), self.unit, y, x) if len(whole) >= least else None
            if fit is None:
                return 0.0
            rest = y - x @ fit[0]
            return float((np.abs(rest - np.median(rest)) <= self.tolerance).mean())

        if hits(use, 2 * least) < HITS or (best := hits(use)) < HITS:
            return []
        for i in list(use):  # without those that do not matter, or follow from the others
            fewer = [other for other in use if other != i]
            if len(fewer) >= MOST_TERMS and hits(fewer) >= best - 0.002:
                use = fewer
        return [*filter(None, [self._relation(tuple(Term("itself", (i,)) for i in use), False, self.y)])]

    def _made(self, terms: Sequence[Term]) -> Floats:
        """The terms (t, m) of the records looked at, those of one kind at once."""
        made = np.empty((len(terms), len(self.some)))
        for how in dict.fromkeys(term.how for term in terms):
            at = [i for i, term in enumerate(terms) if term.how == how]
            x = [self._seen[[terms[i].parts[k] for i in at]] for k in range(len(terms[at[0]].parts))]
            with np.errstate(all="ignore"):
                values = _MADE[how](*x)
                made[at] = np.where(np.isfinite(values), values, np.nan)
        return made

    @cached_property
    def _seen(self) -> Floats:
        """Numbers of the companions (c, m) of the records looked at."""
        return np.array([numbers[self.some] for numbers in self.numbers])

    def _target(self, logs: bool) -> Floats:
        if not logs:
            return self.y
        with np.errstate(all="ignore"):
            return np.where(self.y > 0, np.log(self.y), np.nan)

    def _relation(self, terms: tuple[Term, ...], logs: bool, y: Floats) -> Relation | None:
        """Factors from more records, made simple; None where they are not, or where too few records obey."""
        made = np.column_stack([term.values(self.numbers, self.more) for term in terms])
        whole = np.isfinite(made).all(axis=1) & np.isfinite(y[self.more])
        made, own, truth = made[whole], y[self.more][whole], self.y[self.more][whole]
        if len(own) < FEWEST or (self.few_values and _most_hits(truth, made.T, np.arange(len(terms))[None])[0] < HITS):
            return None
        unit = 0.0 if logs else self.unit
        fit = _once(lambda: _fitted(own, made, unit), unit, own, made)
        if fit is None:
            return None
        factors = tuple(_simple(factor, error) for factor, error in zip(*fit, strict=True))
        if not all(factors):
            return None
        constant = float(np.median(own - made @ np.array(factors)))
        best, hits, varies = constant, -1.0, False
        for simple in self._constants(constant, logs):
            f = simple + made @ np.array(factors)
            with np.errstate(over="ignore"):
                given = rounded(np.exp(f) if logs else f, self.unit)
            share = float((np.abs(given - truth) <= self.tolerance).mean())
            if share > hits + 0.002:
                best, hits, varies = simple, share, _varies(given)
        if not varies:  # one value, whatever the others are: 1/365.25 * children + 1
            return None
        slack, near = self._slack(terms, factors), hits
        if not (logs or self.few_values):
            near = float((np.abs(best + made @ np.array(factors) - truth) <= slack).mean())
        if max(hits, near) < HITS:
            return None
        parts = [part for term in terms for part in term.parts]
        columns = tuple(dict.fromkeys(name for part in parts for name in self.companions[part].columns))
        formula = self._formula(terms, factors, best, logs)
        plain = all(_is_column(self.companions[part]) for part in _parts(terms))
        return Relation(terms, factors, best, logs, columns, formula, plain, self.unit, slack, hits)

    def _constants(self, constant: float, logs: bool) -> list[float]:
        """Constants to try, the simplest first."""
        if logs:
            simple = _simple(math.exp(min(constant, 50.0)), 1e-6 * math.exp(min(constant, 50.0)))
            return [0.0, math.log(simple)] if simple > 0 else [0.0]
        if not self.unit:
            return [0.0, float(round(constant)), constant]
        return [0.0, round(constant / self.unit) * self.unit, round(2 * constant / self.unit) * self.unit / 2]

    def _slack(self, terms: tuple[Term, ...], factors: tuple[float, ...]) -> float:
        if any(term.how != "itself" for term in terms):
            return self.tolerance
        for part in _parts(terms) - self.steps.keys():
            self.steps[part] = printed_step(self.numbers[part][self.more])
        steps = [self.steps[term.parts[0]] for term in terms]
        return self.tolerance + sum(abs(factor) * step / 2 for factor, step in zip(factors, steps, strict=True))

    def _formula(self, terms: tuple[Term, ...], factors: tuple[float, ...], constant: float, logs: bool) -> str:
        used = {part: self.companions[part] for part in _parts(terms)}
        names = {part: quoted(one.words) if _is_column(one) else f"({one.words})" for part, one in used.items()}
        written = [term.text(names) for term in terms]
        text = _sum(dict(zip(written, factors, strict=True)), constant)
        return f"exp({text})" if logs else text


def _promising(own: Floats, made: Floats, sets: NDArray[np.int64], draws: Floats, near: float) -> tuple[int, ...]:
    """The sets of terms that fit best."""

    def search() -> tuple[int, ...]:
        out = np.empty((len(sets), sets.shape[1] + 2))
        trimmed_fits(own, made, sets, draws, 1e-9, near, out)
        return tuple(int(i) for i in np.argsort(out[:, 0], kind="stable")[:PROMISING] if out[i, 0] <= near)

    return _once(search, near, own, made, sets, draws)


def _most_hits(y: Floats, terms: Floats, sets: NDArray[np.int64]) -> Floats:
    """Largest share of the records in which any function of each set of terms could give y."""
    shares = np.empty(len(sets))
    most_hits(y, np.ascontiguousarray(terms), sets, FEW_VALUES, MOST_CELLS, shares)
    return shares


def _once(make: Callable[[], T], number: float, *given: NDArray[Any]) -> T:
    """What is made of a number and arrays, remembered by a digest of them.

    Rounds of an attack, and releases that are judged again and again while they are made, mostly show the same.
    """
    shapes = repr([number, *(part.shape for part in given)]).encode()
    key = hashlib.blake2b(b"".join([shapes, *(part.tobytes() for part in given)])).digest()
    if (outcome := _OUTCOMES.get(key)) is None:
        outcome = (make(),)
        if len(_OUTCOMES) >= REMEMBERED:
            _OUTCOMES.clear()
        _OUTCOMES[key] = outcome
    return outcome[0]


def _usual(values: Floats) -> float:
    """The value that more than its share of the records have; NaN where there is none, or too few have another."""
    n = len(values)
    if not n:
        return math.nan
    quarters = [n // 4, n // 2, 3 * n // 4]  # in order; of more than a quarter of the records there is one among them
    distinct = np.unique(np.partition(values, quarters)[quarters])
    counts = [int(np.count_nonzero(values == value)) for value in distinct]
    most = max(counts)
    return float(distinct[counts.index(most)]) if most > USUAL * n and n - most >= FEWEST else math.nan


def _varied(y: Floats, rows: NDArray[np.int64], most: int, usual: float) -> NDArray[np.int64]:
    """So many of the rows, in which the `usual` value of y takes no more than its share."""
    if math.isnan(usual):
        return rows[:most]
    for first in (rows[: 10 * most], rows):  # the first ones mostly do
        often = y[first] == usual
        others = first[~often][:most]
        share = max(int(USUAL / (1 - USUAL) * len(others)), 1)
        if len(others) == most and np.count_nonzero(often) >= share:
            break
    return np.concatenate([others, first[often][:share]])[: 2 * most]


def _varies(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) >= FEWEST and bool((known != known[0]).any())


def _standard(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows of values (t, m), finite or NaN, less their median, over their usual spread; the medians and spreads (t,).

    What is far beyond the spread is left out.
    """
    ordered, known = np.sort(values, axis=1), np.count_nonzero(~np.isnan(values), axis=1)
    last = np.maximum(known - 1, 0)
    rows = np.arange(len(values))
    least, most = ordered[:, 0], ordered[rows, last]
    low, centre, high = (ordered[rows, (share * last).astype(np.int64)] for share in (0.1, 0.5, 0.9))
    with np.errstate(invalid="ignore", over="ignore"):
        spread, wide = high - low, np.maximum(centre - least, most - centre)
        spread = np.where(spread != 0, spread, np.where(wide != 0, wide, 1.0))
        standard = (values - centre[:, None]) / spread[:, None]
        return np.where(np.abs(standard) < FAR, standard, np.nan), centre, spread


def _fitted(y: Floats, x: Floats, unit: float) -> tuple[Floats, Floats] | None:
    """Factors (p,) and their errors (p,) by least squares on the records that obey."""
    (own,), (centre,), (size,) = _standard(y[None])
    standard, _, spread = _standard(np.ascontiguousarray(x.T))
    out = np.empty((1, len(standard) + 2))
    if few := len(standard) <= MOST_TERMS:
        trimmed_fits(own, standard, np.arange(len(standard))[None, :], _DRAWS, 1e-12, 0.0, out)
        if not np.isfinite(out[0, 0]):
            return None
    whole = np.isfinite(standard).all(axis=0)
    y, design = y[whole], np.column_stack([np.ones(np.count_nonzero(whole)), standard[:, whole].T])
    solved = np.concatenate([[out[0, 1] * size + centre], out[0, 2:] * size]) if few else _solved(design, y)
    if not few and np.median(np.abs(y - design @ solved)) > max(NEAR * size, unit):
        return None  # a statistic
    for _ in range(2):
        off = np.abs(y - design @ solved)
        near = off <= max(4 * float(np.median(off)), 2 * unit, 1e-9 * size)
        if np.count_nonzero(near) < FEWEST:
            return None
        solved = _solved(design[near], y[near])
    rest = float(np.std(y[near] - design[near] @ solved))
    try:
        inverse = np.linalg.inv(design[near].T @ design[near])
    except np.linalg.LinAlgError:
        return None
    errors = np.sqrt(np.maximum(np.diag(inverse)[1:], 0.0)) * max(rest, unit / 4, 1e-10 * size)
    return solved[1:] / spread, errors / spread


def _solved(design: Floats, y: Floats) -> NDArray[np.floating[Any]]:
    """Factors by least squares: of many terms that are well apart by their products, ten times sooner."""
    if design.shape[1] > MOST_TERMS + 1:
        gram = design.T @ design
        with suppress(np.linalg.LinAlgError):
            sizes = np.linalg.cholesky(gram).diagonal()
            if sizes.min() > APART * sizes.max():
                inverse = np.linalg.inv(gram)
                solved = inverse @ (design.T @ y)
                return solved + inverse @ (design.T @ (y - design @ solved))  # to the last digits
    return np.linalg.lstsq(design, y, rcond=None)[0]


_DRAWS = np.random.default_rng(0).random((3 * STARTS, 4))
_BELOW = np.arange(1.0, LARGEST_PART + 1)


def _simple(factor: float, error: float) -> float:
    """The simplest factor within the error: a fraction of whole numbers, or a constant; 0 for none.

    >>> _simple(0.33333, 1e-4), _simple(365.2500001, 1e-5), _simple(0.7182818, 1e-9)
    (0.3333333333333333, 365.25, 0.0)
    """
    near = max(4 * error, 1e-9 * abs(factor))
    above = np.rint(factor * _BELOW)
    size = np.abs(above)
    simple = (size > 0) & (size <= LARGEST_PART) & (np.abs(above / _BELOW - factor) <= near)
    if simple.any():
        i = simple.argmax()
        return float(above[i] / _BELOW[i])
    for constant in CONSTANTS:
        for known in (constant, 1.0 / constant):
            if abs(abs(factor) - known) <= near:
                return math.copysign(known, factor)
    return 0.0


def _is_column(companion: Predictor) -> bool:
    return companion.columns == (companion.words,)


def _times(factor: float, text: str) -> str:
    """A factor before a term: "12 * x", "x / 12", "2 * x / 3"."""
    for below in range(1, LARGEST_PART + 1):
        above = factor * below
        if abs(above - round(above)) < 1e-9 and 0 < round(above) <= LARGEST_PART:
            return (text if round(above) == 1 else f"{round(above)} * {text}") + (f" / {below}" if below > 1 else "")
    return f"{_number(factor)} * {text}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


_TERM = re.compile(
    r"(?:(?P<times>[\d.e+]+) \* )?(?P<name>[^\W\d]\w*|`[^`]+`)(?: / (?P<by>[\d.]+))?|(?P<number>[\d.e+]+)"
)


def rearranged(column: str, formula: str) -> dict[str, str]:
    """A formula of a column solved for each column in it, where it is a sum of multiples; empty where it is not.

    >>> rearranged("wage", "total - rest / 2"), rearranged("x", "a * b")
    ({'total': 'wage + rest / 2', 'rest': '2 * total - 2 * wage'}, {})
    """
    factors, constant = {quoted(column): -1.0}, 0.0
    pieces = re.split(r"(?:^| )([+-]) ?", formula if formula.startswith("-") else f"+ {formula}")[1:]
    for sign, piece in zip(pieces[::2], pieces[1::2], strict=True):
        term = _TERM.fullmatch(piece)
        if term is None or term["name"] in factors:
            return {}
        size = (1.0 if sign == "+" else -1.0) * float(term["times"] or term["number"] or 1) / float(term["by"] or 1)
        if term["name"] is None:
            constant += size
        else:
            factors[term["name"]] = size
    return {
        name.strip("`"): _sum({other: -f / factor for other, f in factors.items() if other != name}, -constant / factor)
        for name, factor in factors.items()
        if name != quoted(column)
    }


def _sum(factors: Mapping[str, float], constant: float) -> str:
    """A sum of multiples of terms as a formula writes it."""
    text = ""
    for term, factor in sorted(factors.items(), key=lambda pair: -pair[1]):
        sign = (" - " if text else "-") if factor < 0 else (" + " if text else "")
        text += f"{sign}{_times(abs(factor), term)}"
    return text + (f"{' - ' if constant < 0 else ' + '}{_number(abs(constant))}" if constant else "")
