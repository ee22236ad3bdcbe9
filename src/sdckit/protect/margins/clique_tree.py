"""Trees of tables of few variables: counted, chosen by noisy scores, or declared and put in order."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import run
from sdckit.protect.margins import consistent_margins
from sdckit.protect.margins.privacy_budget import SPLIT, Spent, noisy_choice, noisy_counts, scale_of

WIDEST = 3  # variables of a chosen table
FEW_VARIABLES = 40  # up to so many all triples are tried as the first table, beyond it all pairs
NOISE_WEIGHT = 0.06  # of the noise that a table would get in all its cells, off its score: fitting removes most of it
FEW_RECORDS = 1 << 17  # up to so many NumPy counts, and nothing is compiled

# Counting.


@njit(cache=True, nogil=True)
def _count_three(a, b, c, n_b, n_c, out):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        out[(a[i] * n_b + b[i]) * n_c + c[i]] += 1


def count_cells(codes: Codes, sizes: Sequence[int], variables: Sequence[int]) -> Ints:
    """Records of each combination of the codes of some variables; `codes` has shape (variables, n).

    >>> count_cells(np.array([[0, 1, 1], [0, 0, 0]], np.int32), [2, 2], [0, 1]).tolist()
    [[1, 0], [2, 0]]
    """
    shape = tuple(sizes[variable] for variable in variables)
    if len(shape) == 3 and codes.shape[1] > FEW_RECORDS:
        out = np.zeros(math.prod(shape), np.int64)
        _count_three(*(codes[variable] for variable in variables), *shape[1:], out)
        return out.reshape(shape)
    cell = codes[variables[0]].astype(np.int64)
    for variable, size in zip(variables[1:], shape[1:], strict=True):
        cell *= size
        cell += codes[variable]
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)


# Declared tables: an order in which each attaches to one before it.


def tree_order(cliques: Sequence[Sequence[int]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Separator and variables (those of the separator first) of each table, each attached to one before it.

    Tables within others are left out. The tables must have the running-intersection property: see `in_a_circle`.

    >>> tree_order([(0, 1), (2, 3), (1, 2)])
    [((), (0, 1)), ((1,), (1, 2)), ((2,), (2, 3))]
    """
    sets = [set(clique) for clique in cliques]
    left = [i for i in range(len(sets)) if not any(sets[i] < s or (sets[i] == s and j < i) for j, s in enumerate(sets))]
    done: list[int] = []
    out = []
    while left:  # a spanning tree of largest overlaps
        overlap = [max((len(sets[i] & sets[j]) for j in done), default=0) for i in left]
        i = left.pop(int(np.argmax(overlap)))
        shared = set().union(*(sets[j] for j in done)) & sets[i]
        out.append((tuple(sorted(shared)), (*sorted(shared), *(v for v in cliques[i] if v not in shared))))
        done.append(i)
    return out


def in_a_circle(cliques: Sequence[Sequence[int]]) -> list[int]:
    """The tables that keep the others from being a tree: what is left after Graham's reduction; none where it is one.

    >>> in_a_circle([(0, 1), (1, 2), (2, 0), (0, 3)]), in_a_circle([(0, 1), (1, 2)])
    ([0, 1, 2], [])
    """
    left = {i: set(clique) for i, clique in enumerate(cliques)}
    while True:
        single = {v for v in set().union(*left.values()) if sum(v in s for s in left.values()) == 1}
        reduced = {i: s - single for i, s in left.items()}
        within = next((i for i, s in reduced.items() if any(s <= t for j, t in reduced.items() if j != i)), None)
        if within is not None:
            reduced.pop(within)
        if len(reduced) <= 1:
            return []
        if within is None and not single:
            return sorted(reduced)
        left = reduced


# Chosen tables, measured one after the other.


def attachable(sizes: Sequence[int], max_cells: int) -> set[int]:
    """The variables that fit into a table with any other; they are all reached from any of them.

    >>> sorted(attachable([4, 5, 900], 1000)), sorted(attachable([9], 1000))
    ([0, 1], [])
    """
    least = [min((*sizes[:v], *sizes[v + 1 :]), default=max_cells + 1) for v in range(len(sizes))]
    return {v for v, size in enumerate(sizes) if size * least[v] <= max_cells}


@dataclass(eq=False)
class Measuring:
    """Private data while they are measured: codes, the noisy one-way margins, what is left of the budget.

    `single`: by variable, without negative counts and with the sum `n`.
    """

    codes: Codes
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: int  # of a person
    single: list[Floats] = field(default_factory=list)
    n: int = 0
    spent: list[Spent] = field(default_factory=list)
    cliques: list[consistent_margins.Clique] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)  # of the cliques, NaN of a one-way margin

    def one_way(self, rho: float, n: int | None) -> None:
        """Measure all one-way margins, and the number of records where it is not declared."""
        noisy = []
        for variable, name in enumerate(self.names):
            counts = count_cells(self.codes, self.sizes, [variable])
            measured, spent = noisy_counts(counts, rho / len(self.names), self.rows, (name,), "one-way")
            noisy.append(measured.astype(np.float64))
            self.spent.append(spent)
        weights = 1 / np.array(self.sizes)  # variances of the sums are in proportion to the sizes
        total = float(np.average([counts.sum() for counts in noisy], weights=weights))
        self.n = max(1, round(total)) if n is None else n
        self.single = [consistent_margins.on_simplex(counts, self.n) for counts in noisy]

    def clique(self, separator: tuple[int, ...], variables: tuple[int, ...], shared: Floats, rho: float) -> None:
        """Measure a table and fit it to those before it."""
        names = tuple(self.names[variable] for variable in variables)
        noisy, spent = noisy_counts(count_cells(self.codes, self.sizes, variables), rho, self.rows, names)
        for axis in range(len(separator), len(variables)):
            others = tuple(set(range(noisy.ndim)) - {axis})
            self._sharpen(variables[axis], noisy.sum(axis=others), spent.scale, noisy.size)
        self.cliques.append(consistent_margins.consistent(noisy, separator, variables, shared, self.single))
        self.spent.append(spent)
        self.scales.append(spent.scale)

    def _sharpen(self, variable: int, margin: Ints, scale: float, cells: int) -> None:
        """Take what a table says of a one-way margin into it, by the inverse of the variances."""
        variance = next(s.scale for s in self.spent if s.variables == (self.names[variable],)) ** 2
        summed = scale**2 * cells / self.sizes[variable]
        both = (self.single[variable] / variance + margin / summed) / (1 / variance + 1 / summed)
        self.single[variable] = consistent_margins.on_simplex(both, self.n)

    def alone(self, variable: int) -> None:
        """Take a variable by its one-way margin, which is measured already."""
        self.cliques.append(consistent_margins.Clique((), (variable,), self.single[variable]))
        self.scales.append(math.nan)

    def declared(self, cliques: Sequence[Sequence[int]], rho: float) -> None:
        """Measure declared tables, and take the other variables by themselves."""
        order = tree_order(cliques)
        for separator, variables in order:
            self.clique(separator, variables, shared_margin(self.cliques, separator, self.n), rho / len(order))
        for variable in set(range(len(self.sizes))) - {v for _, variables in order for v in variables}:
            self.alone(variable)

    def choose(self, rho: float, max_cells: int) -> None:
        """Choose and measure table after table, each with a variable more; those too large for any are taken alone."""
        open_ = attachable(self.sizes, max_cells)
        for variable in set(range(len(self.sizes))) - open_:
            self.alone(variable)
        share = rho / (1 - SPLIT["one-way"])
        choosing = share * SPLIT["choosing"] if len(open_) > 2 else 0.0
        left, begun = rho - choosing, False
        counted: dict[tuple[int, ...], Ints] = {}
        while open_:
            steps = len(open_) if begun else max(1, len(open_) - 1)
            candidates = self._candidates(open_, max_cells) if begun else self._first(open_, max_cells)
            place = 0
            if choosing:
                scores = self._scores(candidates, scale_of(left / steps, self.rows), counted)
                place, spent = noisy_choice(scores, choosing / steps, self.rows)
                choosing -= spent.rho
                self.spent.append(spent)
            separator, variables, shared = candidates[place]
            steps = len(open_ - set(variables)) + 1  # a first table of three variables needs one step less
            if steps == 1:  # nothing is left to choose
                left, choosing = left + choosing, 0.0
            self.clique(separator, variables, shared, left / steps)
            left -= self.spent[-1].rho
            open_ -= set(variables)
            begun = True

    def _first(self, open_: set[int], max_cells: int) -> list[tuple[tuple[int, ...], tuple[int, ...], Floats]]:
        total = np.array(float(self.n))
        widest = min(WIDEST if len(open_) <= FEW_VARIABLES else 2, len(open_))
        return [
            ((), variables, total)
            for k in range(2, widest + 1)
            for variables in itertools.combinations(sorted(open_), k)
            if math.prod(self.sizes[v] for v in variables) <= max_cells
        ]

    def _candidates(self, open_: set[int], max_cells: int) -> list[tuple[tuple[int, ...], tuple[int, ...], Floats]]:
        measured = [clique for clique, scale in zip(self.cliques, self.scales, strict=True) if not math.isnan(scale)]
        return [
            (shared, (*shared, variable), margin)
            for shared, margin in consistent_margins.separators(measured, WIDEST - 1).items()
            for variable in sorted(open_)
            if margin.size * self.sizes[variable] <= max_cells
        ]

    def _scores(
        self, candidates: Sequence[tuple[tuple[int, ...], tuple[int, ...], Floats]], scale: float,
        counted: dict[tuple[int, ...], Ints],
    ) -> Ints:  # fmt: skip
        """How far each table is from what is known without it, less a part of its noise; whole numbers.

        A record more or less moves a score by one at most, since what is known and the noise are public.
        """
        new = list({variables for _, variables, _ in candidates} - counted.keys())
        counted.update(zip(new, run(lambda v: count_cells(self.codes, self.sizes, v), new), strict=True))
        noise, expected = NOISE_WEIGHT * scale * math.sqrt(2 / math.pi), consistent_margins.expected_counts
        return np.array([
            np.abs(counted[v] - np.rint(expected(v, len(s), m, self.single)).astype(np.int64)).sum()
            - round(noise * counted[v].size)
            for s, v, m in candidates
        ])  # fmt: skip


def shared_margin(cliques: Sequence[consistent_margins.Clique], separator: tuple[int, ...], n: float) -> Floats:
    """The margin of a separator in the first table before that holds it; the total where there is none."""
    if not separator:
        return np.array(float(n))
    return consistent_margins.margin_of(next(c for c in cliques if set(separator) <= set(c.variables)), separator)
