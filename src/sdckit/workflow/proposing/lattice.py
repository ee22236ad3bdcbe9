"""Every combination of recodings, and the records beyond a limit in it: counted on cells, never on records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.frequencies import wildcard_matches
from sdckit.cells.packing import Layout, PackedCodes, Tabulated
from sdckit.numerics.array_types import Ints, Words
from sdckit.numerics.grouping import group, sum_by
from sdckit.numerics.risk_kernel import census_risk, exact_risk
from sdckit.protect.suppression.suppression_bound import lower_bound, needs_unbounded
from sdckit.protect.suppression.suppression_choices import GONE, Order, Situation, find_choices
from sdckit.workflow.proposing.ladders import Ladder

Node = tuple[int, ...]  # a rung for each key

WORD = 64
SLACK = 1e-9  # a limit reached by rounding is reached


@dataclass(frozen=True)
class Limits:
    """What is looked at on the way: the other thresholds are judged on releases."""

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
        """The most of any limit."""
        return max(self.below_k, self.below_l, self.above_risk)


@dataclass(frozen=True, eq=False)
class Side:
    """What one intruder sees: cells of their keys and the sensitive variables.

    `at`: places of their keys among the keys of the lattice. `codes`: those keys, cell by cell. `sensitive`: the
    sensitive variables, likewise.
    """

    name: str
    at: tuple[int, ...]
    codes: tuple[Ints, ...]
    sensitive: tuple[Ints, ...]
    size: Ints
    weight: NDArray[np.float64] | None
    wild: tuple[bool, ...]
    limits: Limits
    may_hide: bool = True  # whether a value taken out may stand for any value
    alpha: float = 1.0
    fraction: float | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """The cells of an intruder after the recodings of a node."""

    frequency: NDArray[np.float64]
    size: Ints
    population: NDArray[np.float64] | None
    words: Words
    layout: Layout
    of_cell: NDArray[np.int32]
    missing: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lattice:
    """Ladders of all keys and what each intruder sees. `weights`: what a key counts for in the loss."""

    ladders: tuple[Ladder, ...]
    sides: tuple[Side, ...]
    weights: tuple[float, ...]
    n: int
    _words: dict[tuple[int, int, int], tuple[Words, int]] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rungs of each key."""
        return tuple(len(one.rungs) for one in self.ladders)

    @property
    def size(self) -> int:
        """Nodes."""
        return math.prod(self.shape)

    @cached_property
    def lost(self) -> tuple[NDArray[np.float64], ...]:
        """What each rung of each key adds to the loss by itself; it never falls from rung to rung."""
        total = sum(self.weights)
        return tuple(
            np.maximum.accumulate([weight * (1 - rung.kept) / total for rung in one.rungs])
            for one, weight in zip(self.ladders, self.weights, strict=True)
        )

    def coarsening(self, node: Node) -> float:
        """The share of information that the recodings of a node lose."""
        return float(sum(one[rung] for one, rung in zip(self.lost, node, strict=True)))

    def all_coarsening(self) -> NDArray[np.float64]:
        """The same of every node, an axis for each key."""
        found = np.zeros(())
        for one in self.lost:
            found = np.add.outer(found, one)
        return found

    def loss(self, node: Node, hidden: Mapping[str, float]) -> float:
        """The loss of a release: of each key, what its recoding and the `hidden` share of its values leave out."""
        kept = 0.0
        for one, rung, weight in zip(self.ladders, node, self.weights, strict=True):
            kept += weight * one.rungs[rung].kept * (1 - hidden.get(one.key, 0.0))
        return 1.0 - kept / sum(self.weights)

    def beyond(self, node: Node) -> tuple[Beyond, ...]:
        """Records beyond a limit, for each intruder."""
        return tuple(self._beyond(side, node) for side in self.sides)

    def least_hidden(self, node: Node) -> float:
        """Loss that suppression adds at least, after the recodings of a node."""
        values = max((self._bound(side, node) for side in self.sides), default=0)
        if values == 0:
            return 0.0
        kept = [
            weight * one.rungs[rung].kept
            for one, rung, weight in zip(self.ladders, node, self.weights, strict=True)
            if not one.rungs[rung].left_out and one.rungs[rung].kept > 0
        ]
        return values * min(kept, default=0.0) / (self.n * sum(self.weights))

    def _left(self, side: Side, node: Node) -> list[int]:
        """Places in `side` of the keys that are released."""
        return [i for i, j in enumerate(side.at) if not self.ladders[j].rungs[node[j]].left_out]

    def known(self, side: Side, node: Node) -> Known | None:
        """The cells of an intruder after the recodings; None where they know nothing any more."""
        left = self._left(side, node)
        if not left:
            return None
        parts = [self._mapped(side, i, node[side.at[i]]) for i in left]
        bits = [max(0, missing).bit_length() for _, missing in parts]
        shifts = [sum(bits[:i]) for i in range(len(bits))]
        words = np.zeros(len(side.size), np.uint64)
        for (codes, _), shift in zip(parts, shifts, strict=True):
            words |= codes << np.uint64(shift)
        found = group(words, bits=sum(bits))
        count = len(found.size)
        size = np.bincount(found.of_row, side.size, count).astype(np.int64)
        total = None if side.weight is None else sum_by(found.of_row, side.weight, count)
        missing = tuple(one for _, one in parts)
        layout = Layout(tuple(shifts), tuple(bits))
        frequency, population = self._frequencies(side, left, found.words, layout, size, total, missing)
        return Known(frequency, size, population, found.words, layout, found.of_row, missing)

    def _mapped(self, side: Side, i: int, rung: int) -> tuple[Words, int]:
        """The groups of one key of an intruder, cell by cell, and the code of a missing value."""
        place = (self.sides.index(side), i, rung)
        if place not in self._words:
            table = self.ladders[side.at[i]].groups_of(rung)
            self._words[place] = table[side.codes[i]].astype(np.uint64), int(table[-1])
        return self._words[place]

    def _frequencies(
        self, side: Side, left: Sequence[int], words: Words, layout: Layout, size: Ints,
        total: NDArray[np.float64] | None, missing: Sequence[int],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:  # fmt: skip
        frequency = size.astype(np.float64)
        wild = [side.wild[i] for i in left]
        if any(wild):
            weight = np.zeros(len(size)) if total is None else total
            table = Tabulated(np.empty(0, np.int32), size, total, PackedCodes(words, layout), words, layout)
            matched = wildcard_matches(
                table, size=frequency, weight=weight, missing_codes=missing, wild=wild, alpha=side.alpha
            )
            frequency = frequency + matched.size
            total = None if total is None else total + matched.weight
        if total is None and side.fraction is not None:
            total = frequency / side.fraction
        return frequency, total

    def _beyond(self, side: Side, node: Node) -> Beyond:
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
            below_l = max((_below_l(known, one, limits.l) for one in side.sensitive), default=0)
        return Beyond(below_k, below_l, above, expected)

    def _bound(self, side: Side, node: Node) -> int:
        """Values that are taken out at least for one intruder."""
        known, limit = self.known(side, node), side.limits.l
        if known is None:
            return 0
        # a class without missing values gains no member: each record in one with too few values loses a value itself
        every = () if limit is None else side.sensitive
        lone = max((_below_l(known, one, limit or 0, whole=True) for one in every), default=0)
        return max(lone, self._bound_for_k(known, side))

    def _bound_for_k(self, known: Known, side: Side) -> int:
        if side.limits.k is None or not (known.frequency < side.limits.k - SLACK).any():
            return 0
        k, missing = side.limits.k, np.array(known.missing)
        codes = np.stack([known.layout.decode(known.words, j) for j in range(len(missing))], axis=1)
        count = len(known.size)
        at = Situation(
            of_row=np.empty(0, np.int32), size=known.size.astype(np.float64), frequency=known.frequency,
            first=np.arange(count), codes=np.where(codes >= missing, GONE, codes), stratum=np.zeros(count, np.int64),
        )  # fmt: skip
        choices = find_choices(at, k, Order((0.0,) * len(missing), strict=False), largest=0)
        return lower_bound(at, k, choices, needs_unbounded(at, k), side.alpha) if side.alpha else 1


def _below_l(known: Known, sensitive: Ints, l: int, *, whole: bool = False) -> int:  # noqa: E741
    """Records in cells with fewer than l different values; of `whole`, in cells that lack no key."""
    span = int(sensitive.max(initial=0)) + 1
    pairs = group((known.of_cell.astype(np.int64) * span + sensitive).astype(np.uint64))
    kinds = np.bincount((pairs.words // np.uint64(span)).astype(np.int64), minlength=len(known.size))
    few = kinds < l
    for j, missing in enumerate(known.missing if whole else ()):
        few &= known.layout.decode(known.words, j) < missing
    return int(known.size[few].sum())
