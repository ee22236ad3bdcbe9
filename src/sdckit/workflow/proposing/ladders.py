"""Generalisation ladders of the keys (nested recodings, finest first) and the lattice of their combinations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.cells import crosstab, frequencies
from sdckit.cells.packing import Layout, PackedCodes, Tabulated
from sdckit.data.columns import MONTHS
from sdckit.data.hierarchy import Hierarchy
from sdckit.errors import ColumnError, DataError, sure
from sdckit.identity.contributions import coarsening as key_levels
from sdckit.numerics.array_types import Codes, Floats, Ints, Words
from sdckit.numerics.grouping import Groups, group, in_place, refines, sum_by
from sdckit.numerics.risk_kernel import census_risk, exact_risk
from sdckit.protect.suppression.suppression_bound import bound_of
from sdckit.protect.suppression.suppression_choices import GONE, Situation

Step = dict[str, Any]

AS_IT_IS, LEFT_OUT = "as it is", "left out"
FEW = 50  # a step names no value that fewer records have, unless it stays in the room
FEWEST_BANDS = 2
NUMBERS = ("integer", "number")
TAIL = 0.025  # of the records, at most, are beyond a top or bottom code
POOLED = (0.01, 0.02, 0.05, 0.1)  # values that fewer of the records have become one
EVEN = 0.75  # of the bits that as many equal bands would have
QUANTILES = 16


@dataclass(frozen=True, eq=False)
class Rung:
    """One level of generalisation of a key.

    `words` describe it; `step` is the recoding, None where nothing is done or the column is left out. `group` (L,):
    group of each level of the key; all 0 where it is left out. `kept`: share of the key's entropy that remains.
    """

    words: str
    step: Step | None
    group: Ints
    kept: float

    @property
    def left_out(self) -> bool:
        """Whether the column is not released."""
        return self.words == LEFT_OUT


MOST_CODES = 1 << 28  # of a key: a table of as many numbers takes two gibibytes


@dataclass(frozen=True, eq=False)
class Ladder:
    """Generalisations of a key, finest first. `codes` (L,): its levels, as the cells code them."""

    key: str
    codes: Ints
    rungs: tuple[Rung, ...]
    missing: int  # code of a missing value

    def groups_of(self, rung: int) -> Ints:
        """The group of every code of the column; a missing value is a group after the others."""
        if self.missing > MOST_CODES:
            raise DataError(f"values of the key {self.key!r} are too far apart to look for groups; recode it first")
        groups = np.zeros(self.missing + 1, np.int64)
        way = self.rungs[rung]
        groups[self.codes] = way.group
        if not way.left_out:
            groups[self.missing] = int(way.group.max(initial=0)) + 1
        return groups


def ladder_of(
    levels: key_levels.Levels, key: str, *, internal: bool = False, stays: bool = False,
    own: Sequence[tuple[str, Step, Ints]] = (),
) -> Ladder:  # fmt: skip
    """Build the generalisation ladder of a key.

    `internal`: recodings that name values few records have are taken, too. `stays`: the column is released as it is.
    `own`: recodings that the caller prefers, finest first, as words, step and groups. Hierarchies come first,
    then bands of numbers, pairs of neighbours, codes by their first characters, rare values as one.
    """
    count = len(levels.codes)
    rungs = [Rung(AS_IT_IS, None, np.arange(count, dtype=np.int64), 1.0)]
    if not stays:
        for words, step, group in own or _coarser(levels, key, internal=internal):
            last = rungs[-1].group
            after = int(group.max(initial=0)) + 1
            if 1 < after < int(last.max(initial=0)) + 1 and refines(last, group):
                rungs.append(Rung(words, step, group, _kept(levels, group, after)))
        rungs.append(Rung(LEFT_OUT, None, np.zeros(count, np.int64), 0.0))
    return Ladder(key, levels.codes, tuple(rungs), levels.coded.span)


def _kept(levels: key_levels.Levels, group: Ints, after: int) -> float:
    size = np.append(np.bincount(group, levels.size, after), levels.n_missing)
    return key_levels.entropy(size) / levels.entropy if levels.entropy else 1.0


def _coarser(levels: key_levels.Levels, key: str, *, internal: bool) -> Iterator[tuple[str, Step, Ints]]:
    """Candidate recodings of a key, finest first; `ladder_of` drops those that are not nested."""
    if len(levels.codes) < 3:  # two values, or one: as it is, or not at all
        return
    may_name = internal or int(levels.size.min()) >= FEW
    if levels.hierarchy is not None:
        yield from _up(levels, levels.hierarchy, key)
    elif levels.scale == "number":
        yield from _numbers(levels, key)
    elif levels.scale == "date":
        yield from _by_period(levels, key)
    elif levels.scale == "ordered":
        if may_name or levels.coded.kind in NUMBERS:
            yield from _neighbours(levels, key)
    elif levels.scale in ("codes", "unknown"):
        if may_name:
            yield from _by_prefix(levels, key)
        yield from _rare_as_one(levels, key, internal=internal)


def _up(levels: key_levels.Levels, hierarchy: Hierarchy, key: str) -> Iterator[tuple[str, Step, Ints]]:
    from sdckit.identity.contributions.coarsening import levels_above

    for level, names, missed in levels_above(levels.labels(), hierarchy):
        step = key_levels.along(key, levels.coded, levels.file, level, missed=missed)
        if step is not None:
            yield f"at level {level} of its hierarchy", step, _numbered(names)


def _by_period(levels: key_levels.Levels, key: str) -> Iterator[tuple[str, Step, Ints]]:
    for period in MONTHS:
        if (step := key_levels.by_period(key, levels.coded, period)) is not None:
            yield f"by {period}", step, key_levels.periods(levels, period)[0]


def _numbers(levels: key_levels.Levels, key: str) -> Iterator[tuple[str, Step, Ints]]:
    """Top and bottom codes, then bands between round edges, each time every second edge."""
    values = sure(crosstab.numbers_of(levels.coded, levels.codes))
    edges = _edges(values, levels.size)
    if not len(edges):
        return
    if (coded := _coded_ends(key, values, levels.size, edges)) is not None:
        yield coded
    while len(edges) + 1 >= FEWEST_BANDS:
        group = np.unique(np.searchsorted(edges, values, side="right"), return_inverse=True)[1].astype(np.int64)
        yield f"in {int(group.max()) + 1} bands", key_levels.in_bands(key, edges), group
        edges = key_levels.every_second(edges)


def _edges(values: Floats, size: Ints) -> Floats:
    """Round edges; where most records would be in few of the bands, quantiles brought to round numbers."""
    even = key_levels.round_edges(values, size)
    if len(even):
        in_band = np.bincount(np.searchsorted(even, values, side="right"), size, len(even) + 1)
        if key_levels.entropy(in_band) >= EVEN * math.log2(len(even) + 1):
            return even
    below = np.cumsum(size)
    at = [float(values[np.searchsorted(below, below[-1] * i / QUANTILES)]) for i in range(1, QUANTILES)]
    rounded = np.unique([float(f"{edge:.2g}") for edge in at])
    inside = rounded[(rounded > values[0]) & (rounded <= values[-1])]
    records = np.bincount(np.searchsorted(inside, values, side="right"), size, len(inside) + 1)
    enough = bool(len(inside)) and records.min() >= min(FEW, below[-1] / QUANTILES / 2)
    return inside if enough else even


def _coded_ends(key: str, values: Floats, size: Ints, edges: Floats) -> tuple[str, Step, Ints] | None:
    """Top and bottom coding at the outermost edges, where few records are beyond them."""
    n, whole = int(size.sum()), bool((values == np.floor(values)).all())
    high, low = float(edges[-1]), float(edges[0]) - 1
    limits: dict[str, float] = {}
    if 0 < int(size[values > high].sum()) <= TAIL * n:
        limits["top"] = high
    if whole and 0 < int(size[values < low].sum()) <= TAIL * n:
        limits["bottom"] = low
    if not limits:
        return None
    changed = np.clip(values, limits.get("bottom"), limits.get("top"))
    plain = {name: int(limit) if whole and float(limit).is_integer() else limit for name, limit in limits.items()}
    words = " and ".join(f"{name}-coded" for name in plain)
    return words, {"method": "top_bottom_code", "column": key, **plain}, _numbered(changed.tolist())


def _neighbours(levels: key_levels.Levels, key: str) -> Iterator[tuple[str, Step, Ints]]:
    """Groups of neighbouring codes; those of integers are written as bands, which name edges instead of values."""
    numbers = sure(crosstab.numbers_of(levels.coded, levels.codes)) if levels.coded.kind in NUMBERS else None
    labels, width = levels.labels() if numbers is None else (), 2
    while width < len(levels.codes):
        group = np.arange(len(levels.codes), dtype=np.int64) // width
        if numbers is None:
            step = key_levels.grouped(key, levels.coded, labels, group)
        else:
            step = key_levels.in_bands(key, numbers[width::width])
        if step is not None:
            yield f"in groups of {width} neighbours", step, group
        width *= 2


def _by_prefix(levels: key_levels.Levels, key: str) -> Iterator[tuple[str, Step, Ints]]:
    """Codes of one length by their first characters, as classifications are built."""
    labels = levels.labels()
    length = len(labels[0])
    if length < 2 or any(len(label) != length for label in labels) or len(labels) > key_levels.MOST_NAMED:
        return
    for cut in range(length - 1, 0, -1):
        group = _numbered([label[:cut] for label in labels])
        order = np.lexsort((np.array(labels), group))  # a group is named after its first and last code
        step = key_levels.grouped(key, levels.coded, [labels[i] for i in order], group[order])
        if step is not None:
            yield f"by the first {cut} characters of its codes", step, group


def _rare_as_one(levels: key_levels.Levels, key: str, *, internal: bool) -> Iterator[tuple[str, Step, Ints]]:
    """Pool the rarest levels into one, by growing shares of the records."""
    total, labels = int(levels.size.sum()) + levels.n_missing, levels.labels()
    order = np.argsort(levels.size, kind="stable")
    for share in POOLED:
        rare = int(np.count_nonzero(levels.size < share * total))
        if not 2 <= rare < len(labels):
            continue
        placed = np.maximum(np.arange(len(labels), dtype=np.int64) - (rare - 1), 0)
        named = levels.size if levels.coded.kind in NUMBERS else levels.size[order[:rare]]
        step = key_levels.other(key, levels.coded, [labels[i] for i in order], placed)
        if step is None or (int(named.min()) < FEW and not internal):
            continue
        yield "with its rare values as one", step, in_place(placed, order)


def _numbered(names: Sequence[Any]) -> Ints:
    """Group numbers from 0, in order of first occurrence."""
    place: Mapping[Any, int] = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names], np.int64)


# The lattice of all combinations of recodings; records beyond a limit are counted on cells, never on records.


Node = tuple[int, ...]  # a rung for each key

WORD = 64
SLACK = 1e-9  # a limit reached by rounding is reached
MOST_PRICED = 1_000  # cells at risk beyond which no bound is reckoned: it takes their square


@dataclass(frozen=True)
class Limits:
    """Limits checked during the search; the other thresholds are judged on releases."""

    k: int | None = None
    l: int | None = None  # noqa: E741 - the name the literature uses
    risk: float | None = None
    global_risk: float | None = None


@dataclass(frozen=True)
class Beyond:
    """Records beyond a limit, and expected re-identifications beyond the limit on their mean."""

    below_k: int = 0
    below_l: int = 0
    above_risk: int = 0
    expected: float = 0.0

    @property
    def records(self) -> int:
        """Largest number of records beyond any one limit."""
        return max(self.below_k, self.below_l, self.above_risk)


@dataclass(frozen=True, eq=False)
class Side:
    """Contingency table seen by one intruder: cells of their keys and the sensitive variables.

    `at`: indices of their keys among the keys of the lattice. `codes`: one array of codes per key, an entry per cell.
    `sensitive`: the same for the sensitive variables.
    """

    name: str
    at: tuple[int, ...]
    codes: tuple[Ints, ...]
    sensitive: tuple[Ints, ...]
    size: Ints
    weight: Floats | None
    wild: tuple[bool, ...]
    limits: Limits
    may_hide: bool = True  # whether a value taken out may stand for any value
    alpha: float = 1.0
    fraction: float | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """Equivalence classes of an intruder after the recodings of a node."""

    frequency: Floats
    size: Ints
    population: Floats | None
    words: Words
    layout: Layout
    of_cell: Codes
    missing: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lattice:
    """Generalisation lattice: ladders of all keys, tables of all intruders, and the `weights` of keys in the loss."""

    ladders: tuple[Ladder, ...]
    sides: tuple[Side, ...]
    weights: tuple[float, ...]
    n: int
    _words: dict[tuple[int, int, int], tuple[Words, int]] = field(default_factory=dict, repr=False)
    # by intruder and the rungs of their keys, which many nodes share; of these sides' limits, so that no copy has them
    _bounds: dict[tuple[int, Node], int] = field(default_factory=dict, init=False, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rungs of each key."""
        return tuple(len(ladder.rungs) for ladder in self.ladders)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return math.prod(self.shape)

    @cached_property
    def lost(self) -> tuple[Floats, ...]:
        """Information loss of each rung of each key, made monotone from rung to rung."""
        total = sum(self.weights)
        return tuple(
            np.maximum.accumulate([weight * (1 - rung.kept) / total for rung in ladder.rungs])
            for ladder, weight in zip(self.ladders, self.weights, strict=True)
        )

    def coarsening(self, node: Node) -> float:
        """Information loss of the recodings of a node, as a share."""
        return float(sum(losses[rung] for losses, rung in zip(self.lost, node, strict=True)))

    def all_coarsening(self) -> Floats:
        """Information loss of the recodings of every node: an array with an axis for each key."""
        total = np.zeros(())
        for losses in self.lost:
            total = np.add.outer(total, losses)
        return total

    def loss(self, node: Node, hidden: Mapping[str, float]) -> float:
        """The loss of a release: of each key, what its recoding and the `hidden` share of its values leave out."""
        kept = 0.0
        for ladder, rung, weight in zip(self.ladders, node, self.weights, strict=True):
            kept += weight * ladder.rungs[rung].kept * (1 - hidden.get(ladder.key, 0.0))
        return 1.0 - kept / sum(self.weights)

    def beyond(self, node: Node, *, most: float = math.inf) -> tuple[Beyond, ...]:
        """Records beyond each limit, for each intruder; where more than `most` are beyond one, l is not looked at."""
        return tuple(self._beyond(side, node, most) for side in self.sides)

    def least_hidden(self, node: Node) -> float:
        """Lower bound on the loss that suppression adds after the recodings of a node."""
        values = 0
        for i, side in enumerate(self.sides):
            place = i, tuple(node[j] for j in side.at)
            if place not in self._bounds:
                self._bounds[place] = self._bound(side, node)
            values = max(values, self._bounds[place])
        if values == 0:
            return 0.0
        kept = [
            weight * ladder.rungs[rung].kept
            for ladder, rung, weight in zip(self.ladders, node, self.weights, strict=True)
            if not ladder.rungs[rung].left_out and ladder.rungs[rung].kept > 0
        ]
        return values * min(kept, default=0.0) / (self.n * sum(self.weights))

    def _left(self, side: Side, node: Node) -> list[int]:
        """Indices into `side.at` of the keys that are released."""
        return [i for i, j in enumerate(side.at) if not self.ladders[j].rungs[node[j]].left_out]

    def most_combinations(self, node: Node) -> int:
        """Combinations of keys after the recodings, of the intruder who sees most; a missing value is one more."""
        left = [(side, self._left(side, node)) for side in self.sides]
        return max(len(self._classes(side, known, node)[0].size) if known else 0 for side, known in left)

    def known(self, side: Side, node: Node) -> Known | None:
        """Equivalence classes of an intruder after the recodings; None where no key is left."""
        left = self._left(side, node)
        if not left:
            return None
        classes, layout, missing = self._classes(side, left, node)
        count = len(classes.size)
        size = np.bincount(classes.of_row, side.size, count).astype(np.int64)
        total = None if side.weight is None else sum_by(classes.of_row, side.weight, count)
        frequency, population = self._frequencies(side, left, classes.words, layout, size, total, missing)
        return Known(frequency, size, population, classes.words, layout, classes.of_row, missing)

    def _classes(self, side: Side, left: Sequence[int], node: Node) -> tuple[Groups, Layout, tuple[int, ...]]:
        """Cells of an intruder grouped by the keys that are left; how these are packed, their codes of missing."""
        parts = [self._mapped(side, i, node[side.at[i]]) for i in left]
        bits = [max(0, missing).bit_length() for _, missing in parts]
        shifts = [sum(bits[:i]) for i in range(len(bits))]
        words = np.zeros(len(side.size), np.uint64)
        for (codes, _), shift in zip(parts, shifts, strict=True):
            words |= codes << np.uint64(shift)
        missing = tuple(missing_code for _, missing_code in parts)
        return group(words, bits=sum(bits)), Layout(tuple(shifts), tuple(bits)), missing

    def _mapped(self, side: Side, i: int, rung: int) -> tuple[Words, int]:
        """Recoded values of one key of an intruder, cell by cell, and the code of a missing value."""
        place = (self.sides.index(side), i, rung)
        if place not in self._words:
            table = self.ladders[side.at[i]].groups_of(rung)
            self._words[place] = table[side.codes[i]].astype(np.uint64), int(table[-1])
        return self._words[place]

    def _frequencies(
        self, side: Side, left: Sequence[int], words: Words, layout: Layout, size: Ints,
        total: Floats | None, missing: Sequence[int],
    ) -> tuple[Floats, Floats | None]:  # fmt: skip
        frequency = size.astype(np.float64)
        wild = [side.wild[i] for i in left]
        if any(wild):
            weight = np.zeros(len(size)) if total is None else total
            table = Tabulated(np.empty(0, np.int32), size, total, PackedCodes(words, layout), words, layout)
            matched = frequencies.wildcard_matches(
                table, size=frequency, weight=weight, missing_codes=missing, wild=wild, alpha=side.alpha
            )
            frequency = frequency + matched.size
            total = None if total is None else total + matched.weight
        if total is None and side.fraction is not None:
            total = frequency / side.fraction
        return frequency, total

    def _beyond(self, side: Side, node: Node, most: float) -> Beyond:
        known, limits = self.known(side, node), side.limits
        if known is None:
            return Beyond()
        below_k = below_l = above = 0
        expected = 0.0
        if limits.k is not None:
            below_k = int(known.size[known.frequency < limits.k - SLACK].sum())
        if limits.risk is not None or limits.global_risk is not None:
            population = known.population
            risk = (
                census_risk(known.frequency)
                if population is None
                else exact_risk(known.frequency, np.maximum(known.frequency, population))
            )
            if limits.risk is not None:
                above = int(known.size[risk > limits.risk + SLACK].sum())
            if limits.global_risk is not None:
                expected = max(0.0, float(risk @ known.size) - limits.global_risk * self.n)
        if limits.l is not None:
            for variable in side.sensitive:
                if max(below_k, below_l, above) > most:
                    break
                below_l = max(below_l, _below_l(known, variable, limits.l))
        return Beyond(below_k, below_l, above, expected)

    def _bound(self, side: Side, node: Node) -> int:
        """Lower bound on the number of values suppressed for one intruder."""
        known, limit = self.known(side, node), side.limits.l
        if known is None:
            return 0
        # a class without missing values gains no member: each record in one with too few values loses a value itself
        every = () if limit is None else side.sensitive
        lone = max((_below_l(known, variable, limit or 0, whole=True) for variable in every), default=0)
        return max(lone, self._bound_for_k(known, side))

    def _bound_for_k(self, known: Known, side: Side) -> int:
        at_risk = 0 if side.limits.k is None else int((known.frequency < side.limits.k - SLACK).sum())
        if side.limits.k is None or not at_risk:
            return 0
        if at_risk > MOST_PRICED:  # k records that lost every key would match all: the bound is at most k of these
            return 1
        k, missing = side.limits.k, np.array(known.missing)
        codes = np.stack([known.layout.decode(known.words, j) for j in range(len(missing))], axis=1)
        count = len(known.size)
        at = Situation(
            of_row=np.empty(0, np.int32), size=known.size.astype(np.float64), frequency=known.frequency,
            first=np.arange(count), codes=np.where(codes >= missing, GONE, codes), stratum=np.zeros(count, np.int64),
        )  # fmt: skip
        return bound_of(at, k, side.alpha) if side.alpha else 1


def _below_l(known: Known, sensitive: Ints, l: int, *, whole: bool = False) -> int:  # noqa: E741
    """Records in classes with fewer than l distinct values; with `whole`, only in classes without a missing key."""
    span = int(sensitive.max(initial=0)) + 1
    pairs = group((known.of_cell.astype(np.int64) * span + sensitive).astype(np.uint64))
    kinds = np.bincount((pairs.words // np.uint64(span)).astype(np.int64), minlength=len(known.size))
    few = kinds < l
    for j, missing in enumerate(known.missing if whole else ()):
        few &= known.layout.decode(known.words, j) < missing
    return int(known.size[few].sum())


MOST_NODES = 1_000_000


def thinned(lattice: Lattice, most: int = MOST_NODES) -> Lattice:
    """Thin a lattice to at most `most` nodes by dropping every second inner rung of the longest ladder."""
    ladders = list(lattice.ladders)
    while int(np.prod([float(len(ladder.rungs)) for ladder in ladders])) > most:
        j = max(range(len(ladders)), key=lambda i: len(ladders[i].rungs))
        rungs = ladders[j].rungs
        if len(rungs) <= 2:
            raise ColumnError(f"{len(ladders)} keys are too many for a search; name fewer, or keep some (keep=)")
        inner = rungs[1:-1]
        ladders[j] = Ladder(ladders[j].key, ladders[j].codes, (rungs[0], *inner[1::2], rungs[-1]), ladders[j].missing)
    return Lattice(tuple(ladders), lattice.sides, lattice.weights, lattice.n)
