"""Publicly known relations of an intruder's figures: cells and records, nested levels, risk and cells.

Without wildcards a record's frequency is the size of its cell, so the numbers of cells by size determine nearly all
printed figures. The range of sizes is split wherever a printed figure splits it; each part has a number of cells and a
number of records.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Any

from sdckit.report.gate import figures

SIZE_CLASSES: dict[str, tuple[int, float]] = {
    "1": (1, 1),
    "2": (2, 2),
    "3": (3, 3),
    "4": (4, 4),
    "5-9": (5, 9),
    "10-24": (10, 24),
    "25-49": (25, 49),
    "50-99": (50, 99),
    "100+": (100, math.inf),
}
SMALL = 5
ROUNDING = 1e-12  # by which products and sums of risks may miss a whole number, as a share of it
# Sizes 2 to 4 are printed together.
PRINTED = {**{k: v for k, v in SIZE_CLASSES.items() if k not in {"2", "3", "4"}}, "2-4": (2, 4)}


@dataclass(frozen=True)
class Sizes:
    """The sizes of cells, partitioned: (smallest, largest size) of each part.

    `fine` are the parts split further where risks differ, which depends on the sampling fraction; what follows from the
    file alone is related to `parts`.
    """

    prefix: str
    parts: tuple[tuple[int, float], ...]
    fine: tuple[tuple[int, float], ...] = ()

    def cells(self, part: tuple[int, float]) -> str:
        """Name the variable of a part's cells."""
        return f"{self.prefix}.cells of {part[0]}-{part[1]}"

    def records(self, part: tuple[int, float]) -> str:
        """Name the variable of the records in a part's cells."""
        return f"{self.prefix}.records in {part[0]}-{part[1]}"

    def within(self, low: float, high: float) -> list[tuple[int, float]]:
        """Give the parts of the sizes from low to high; the fine ones where these ends split one of the others."""
        starts = {part[0] for part in self.parts} | {math.inf}
        parts = self.parts if {low, high + 1} <= starts else self.fine or self.parts
        return [part for part in parts if low <= part[0] and part[1] <= high]


def make_sizes(ledger: figures.Ledger, prefix: str, largest: Iterable[float], of_risk: Iterable[float] = ()) -> Sizes:
    """Partition the sizes at the ends of the size classes and after each of `largest`; enter the parts.

    After each of `of_risk`, too, parts are split into fine ones.

    Examples
    --------
    >>> sizes = make_sizes(figures.Ledger(), "i0", [2, 4], [7])
    >>> sizes.parts[:5], sizes.fine[3:6]
    (((1, 1), (2, 2), (3, 3), (4, 4), (5, 9)), ((4, 4), (5, 7), (8, 9)))
    """
    ends = {int(high) for _, high in SIZE_CLASSES.values() if math.isfinite(high)}
    ends |= _whole_sizes(largest)
    sizes = Sizes(prefix, _parts(ends), _parts(ends | _whole_sizes(of_risk)))
    n = ledger.variables["n"].true or math.inf if "n" in ledger.variables else math.inf
    split = [part for part in sizes.fine if part not in sizes.parts]
    for part in (*sizes.parts, *split):
        watched: figures.Watched = "everywhere" if part[1] < SMALL else "nowhere"
        cells = ledger.latent(sizes.cells(part), watched=watched)
        records = ledger.latent(sizes.records(part), watched=watched)
        # No cell is larger than the file, and where there is no cell there is no record.
        high = part[1] if math.isfinite(part[1]) else n
        ledger.bounded(records, {cells: (part[0], high)}, upper=math.isfinite(high))
    for name in (name for part in split for name in (sizes.cells(part), sizes.records(part))):
        ledger.weigh(name)
    for low, high in sizes.parts:
        if inside := [part for part in split if low <= part[0] and part[1] <= high]:
            ledger.equal(sizes.cells((low, high)), *map(sizes.cells, inside))
            ledger.equal(sizes.records((low, high)), *map(sizes.records, inside))
    return sizes


def _whole_sizes(largest: Iterable[float]) -> set[int]:
    return {int(size) for size in largest if 1 <= size < 10**9}


def _parts(ends: Iterable[int]) -> tuple[tuple[int, float], ...]:
    starts = [1, *(end + 1 for end in sorted(ends))]
    closed: list[tuple[int, float]] = [(start, after - 1) for start, after in pairwise(starts)]
    return (*closed, (starts[-1], math.inf))


def sizes_by_key(ledger: figures.Ledger, key: str) -> Sizes:
    """Enter the cells by size of an intruder who knows one key only: sizes 1 to 4, and all larger ones."""
    sizes = _sizes_of_one_key(key)
    for part in sizes.parts:
        watched: figures.Watched = "everywhere" if part[1] < SMALL else "nowhere"
        cells = ledger.latent(sizes.cells(part), watched=watched)
        records = ledger.latent(sizes.records(part), watched=watched)
        ledger.bounded(records, {cells: part}, upper=math.isfinite(part[1]))
    return sizes


def _sizes_of_one_key(key: str) -> Sizes:
    few: list[tuple[int, float]] = [(size, size) for size in range(1, SMALL)]
    return Sizes(f"key.{key}.alone", (*few, (SMALL, math.inf)))


def link_risk_by_key(ledger: figures.Ledger, key: str, name: str, fraction: float) -> None:
    """Relate a sum of risks to the cells of one key only."""
    sizes = _sizes_of_one_key(key)
    if sizes.records((1, 1)) in ledger.variables:
        link_risk(ledger, sizes, name, fraction, "exact")


def link_by_key(ledger: figures.Ledger, key: str, name: str, most: int) -> None:
    """Relate a count to the records in cells of up to `most` records, of one key only."""
    sizes = _sizes_of_one_key(key)
    if most < SMALL and sizes.records((1, 1)) in ledger.variables:
        link_records(ledger, sizes, name, 1, most)


def link_cells(ledger: figures.Ledger, sizes: Sizes, *, classes: str) -> None:
    """Relate each size class to its cell sizes, and the file to the records of all sizes."""
    for label, (low, high) in PRINTED.items():
        ledger.equal(f"{classes}.{label}", *(sizes.cells(part) for part in sizes.within(low, high)))
    ledger.equal("n", *(sizes.records(part) for part in sizes.parts))


def link_levels_to_cells(
    ledger: figures.Ledger, sizes: Sizes, shown: Sequence[str], rest: str | None, *, missing: str = "", all_common: bool
) -> None:
    """Relate levels that are the cells: each level shown is one large cell, and the rest are the small cells.

    If more levels are common than are shown, the rest has some of them, too. The records that are `missing` a level
    are one more cell, of any size or none.
    """
    large = [part for part in sizes.parts if part[0] >= SMALL]
    few = [part for part in sizes.parts if part[0] < SMALL]
    ones = [missing] if missing else []
    is_of = {name: _size_of(ledger, sizes, name, large) for name in shown} if len(large) > 1 else {}
    for name in ones:
        is_of[name] = _size_of(ledger, sizes, name, [*few, *large], least=0.0)
    if not all_common:
        return
    for part in large if len(large) > 1 else ():
        ledger.equal(sizes.cells(part), *(own[part] for own in is_of.values()))
    if len(large) == 1:
        own_cells = ((is_of[name][large[0]], -1.0) for name in ones)
        terms = ((sizes.cells(large[0]), 1.0), *own_cells)
        ledger.relations.append(figures.Relation(terms, float(len(shown)), float(len(shown))))
        together = ledger.latent(f"{sizes.prefix}.records missing a level", watched="nowhere")
        for name in ones:
            of_few = tuple((is_of[name][part], -float(part[0])) for part in few)
            ledger.relations.append(figures.Relation(((name, 1.0), *of_few, (together, -1.0))))
        ledger.equal(sizes.records(large[0]), *shown, *([together] if ones else []))
    records = tuple((sizes.records(part), 1.0) for part in few)
    known = tuple((is_of[name][part], -float(part[0])) for name in ones for part in few)
    ledger.relations.append(figures.Relation((*records, *known, *([(rest, -1.0)] if rest is not None else []))))
    for name in ones:
        for part in few:
            ledger.bounded(sizes.cells(part), {is_of[name][part]: (1.0, 1.0)}, upper=False)
    if rest is None:
        # At most one cell can be small, that of the missing values: its count of records is watched, not its size.
        for variable in (name for part in few for name in (sizes.cells(part), sizes.records(part))):
            ledger.variables[variable] = replace(ledger.variables[variable], watched="nowhere")


def _size_of(
    ledger: figures.Ledger, sizes: Sizes, name: str, parts: Sequence[tuple[int, float]], *, least: float = 1.0
) -> dict[tuple[int, float], str]:
    """Enter 0/1 indicators of the size of a level's cell, which sum to 1; to `least` or 1 if it may have no record."""
    n = ledger.variables["n"].true or 0
    indicators = {
        part: ledger.latent(f"{sizes.prefix}: {name} has {part[0]}-{part[1]}", watched="nowhere") for part in parts
    }
    for indicator in indicators.values():
        ledger.tell(indicator, 0.0, 1.0)
    ledger.relations.append(figures.Relation(tuple((indicator, 1.0) for indicator in indicators.values()), least, 1.0))
    ledger.bounded(name, {indicators[part]: (part[0], min(part[1], n)) for part in parts})
    return indicators


def link_records(ledger: figures.Ledger, sizes: Sizes, name: str, low: float, high: float) -> None:
    """Relate a count to the records in cells of these sizes, and its complement to those of the other sizes.

    The second is redundant, but constraint propagation alone does not infer it.
    """
    ledger.equal(name, *(sizes.records(part) for part in sizes.within(low, high)))
    if low == 1 and "n" in ledger.variables and math.isinf(sizes.parts[-1][1]):
        ledger.equal("n", name, *(sizes.records(part) for part in sizes.within(high + 1, math.inf)))


def link_levels(ledger: figures.Ledger, names: Iterable[str]) -> None:
    """Nest each figure in the next one; figures that every document has are also nested directly."""
    for smaller, larger in pairs_of_levels(ledger, list(names)):
        ledger.nested(larger, smaller)


def pairs_of_levels(ledger: figures.Ledger, names: Sequence[str]) -> list[tuple[str, str]]:
    """Consecutive pairs of all figures, and of those that every document of the file has."""
    common = [name for name in names if not ledger.variables[name].late]
    return list(dict.fromkeys([*pairwise(common), *pairwise(names)]))


def risk_of_size(size: float, fraction: float, method: str = "exact") -> float:
    """Risk of a record in a cell of `size` at a sampling fraction (1: a census).

    E[1/F | f] with F negative binomial (Benedetti & Franconi 1998): (p/f) 2F1(1, 1; f + 1; 1 - p).

    Examples
    --------
    >>> round(risk_of_size(1, 0.1), 4), risk_of_size(4, 1.0), round(risk_of_size(3, 0.5), 4)
    (0.2558, 0.25, 0.1931)
    """
    p, q = fraction, 1.0 - fraction
    if method == "worst_case" or q == 0:
        return p / size
    if method == "approx" and size >= 3:
        return p / (size - q)
    if p <= 0.5 and size <= 4:
        risk = -p * math.log(p) / q
        for f in range(1, int(size)):
            risk = (p / f - p * risk) / q
        return risk
    term = total = 1.0
    for step in range(1, 10_000):
        term *= step * q / (size + step)
        total += term
        if term < 1e-12 * total:
            break
    return p * total / size


def largest_size(risk: float, fraction: float, method: str, *, strictly: bool = False) -> float:
    """Largest cell whose records have at least (strictly: more than) this risk; 0 when none has.

    Examples
    --------
    >>> largest_size(0.2, 1.0, "exact"), largest_size(0.2, 1.0, "exact", strictly=True)
    (5, 4)
    """

    def reaches(size: int) -> bool:
        own_risk = risk_of_size(size, fraction, method)
        return own_risk > risk if strictly else own_risk >= risk

    if risk <= 0:
        return math.inf
    if not reaches(1):
        return 0
    low, high = 1, 2
    while reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return low


def sum_of_risks(total: float, kind: figures.Kind) -> float:
    """The expected re-identifications of a whole population, which are as many as there are cells, without rounding.

    >>> sum_of_risks(sum(49 * (1 / 49) for _ in range(5)), "sum"), sum_of_risks(4.5, "sum")
    (5.0, 4.5)
    """
    whole = float(round(total)) if math.isfinite(total) else total
    return whole if kind == "sum" and math.isclose(total, whole, rel_tol=ROUNDING) else total


def link_risk(ledger: figures.Ledger, sizes: Sizes, total: str, fraction: float, method: str) -> None:
    """Bound a sum of risks by the cells: at a known sampling fraction a cell's risk depends on its size only."""

    def mass(size: float) -> float:
        # The limit of size x risk as the cell grows is the fraction itself.
        return size * risk_of_size(size, fraction, method) if math.isfinite(size) else fraction

    def bounds(part: tuple[float, float]) -> tuple[float, float]:
        # 1 / 49 times 49 is less than 1: without room for it cells of one size would contradict their own sum.
        return mass(part[1]) * (1 - ROUNDING), mass(part[0]) * (1 + ROUNDING)

    ledger.bounded(total, {sizes.cells(part): bounds(part) for part in sizes.fine or sizes.parts})


def link_resting(ledger: figures.Ledger, prefix: str, below: str, resting: str, k: int) -> None:
    """Relate the records `below` k, those that reach k only through wildcards (`resting`), and their sum."""
    strict = ledger.latent(f"{prefix}.strict.{k}")
    ledger.equal(strict, below, resting)
    ledger.nested(f"{prefix}.violations.category.{k}", strict)


def link_intruders(ledger: figures.Ledger, keys: Sequence[tuple[Sizes, frozenset[str], bool]]) -> None:
    """Nest intruders: one who knows more keys has at least as many uniques, violations and cells.

    `keys` has the sizes and keys of each, and whether missing values are wildcards: then a record may lack all of the
    fewer keys and none of the others, and is not counted there.
    """
    for (wide, more, _), (narrow, fewer, wild) in permutations(keys, 2):
        if not fewer < more:
            continue
        cells = [(wide.cells(part), 1.0) for part in wide.parts]
        cells += [(narrow.cells(part), -1.0) for part in narrow.parts]
        ledger.relations.append(figures.Relation(tuple(cells), upper=math.inf))
        nested = ("violations", "sample_uniques", "msu.", "unsafe.")
        starts = tuple(f"{narrow.prefix}.{name}" for name in nested)
        for name in list(ledger.variables):
            rules_alike = not wild or len(fewer) == 1 or name.startswith(starts[2:]) or ".category" in name
            if ledger.variables[name].true is not None and name.startswith(starts) and rules_alike:
                ledger.nested(wide.prefix + name.removeprefix(narrow.prefix), name)
        _link_left_out(ledger, wide.prefix, narrow.prefix, more - fewer)


def _link_left_out(ledger: figures.Ledger, wide: str, narrow: str, left_out: frozenset[str]) -> None:
    """Equate the figures of an intruder without some keys to those of the intruder who knows only the others."""
    variables = ledger.variables
    for name in list(variables):
        table, _, keys = name.removeprefix(f"{wide}.contributions.").partition(".")
        k, _, key = keys.partition(".")
        if table == "without" and frozenset(keys.split(", ")) == left_out:
            same = f"{narrow}.sample_uniques"
        elif table == "violations" and frozenset({key}) == left_out:
            same = f"{narrow}.violations.{k}"
        else:
            continue
        if same in variables and variables[same].true == variables[name].true:
            ledger.equal(name, same)


# Tables whose rows depend on the data: rare rows are pooled before anything is printed.


OTHER = "other"
SMALLEST = 5
POOLED = ("2", "3", "4")


def expand(
    leaf: figures.Levels | figures.SizeClasses | figures.Histogram, ledger: figures.Ledger, *, internal: bool
) -> figures.Tree:
    """Turn a pooled leaf into rows of counts, and enter the counts in the ledger."""
    if isinstance(leaf, figures.Levels):
        return _levels(leaf, ledger, internal=internal)
    if isinstance(leaf, figures.SizeClasses):
        return _classes(leaf, ledger, internal=internal)
    return _guarded(leaf, _bins(leaf, ledger)) if leaf.guard else _bins(leaf, ledger)


def level_names(leaf: figures.Levels) -> list[str]:
    """The variable that the records of each level are counted in, once the leaf is expanded for a protected document.

    >>> level_names(figures.Levels("job", (("cook", 30), ("king", 1)), "n", 31))
    ['job.cook', 'job: other']
    """
    shown = {label for label, _ in _common_levels(leaf)}
    return [f"{leaf.name}.{label}" if label in shown else f"{leaf.name}: {OTHER}" for label, _ in leaf.counts]


def _levels(leaf: figures.Levels, ledger: figures.Ledger, *, internal: bool) -> figures.Tree:
    shown = list(leaf.counts) if internal else _common_levels(leaf)
    names = {label: f"{leaf.name}.{label}" for label, _ in shown}
    rows: list[Mapping[str, figures.Tree]] = []
    for label, n in shown:
        ledger.count(names[label], n, leaf.name)
        if not internal:
            ledger.tell(names[label], SMALLEST)
        rows.append({"level": label, "n": figures.Count(names[label]), "rate": figures.Share(names[label], leaf.whole)})
    rest = leaf.n - leaf.n_missing - sum(n for _, n in shown)
    parts = [*names.values(), *([leaf.missing] if leaf.missing else [])]
    other = f"{leaf.name}: {OTHER}"
    if rest > 0:
        ledger.count(other, rest, leaf.name)
        ledger.tell(other, 1.0)
        parts.append(other)
        rows.append(
            {"level": OTHER, "n": figures.Count(other), "rate": figures.Share(other, leaf.whole), "pooled": True}
        )
    ledger.equal(leaf.whole, *parts)
    if leaf.records:
        _link_sizes(leaf, ledger, names)
    if leaf.sizes is not None and not internal:
        all_common = len(shown) == sum(n >= SMALLEST for _, n in leaf.counts)
        pooled = other if rest > 0 else None
        link_levels_to_cells(
            ledger, leaf.sizes, tuple(names.values()), pooled, missing=leaf.missing, all_common=all_common
        )
    return tuple(rows) if leaf.records else figures.Ranked(tuple(rows))


def _common_levels(leaf: figures.Levels) -> list[tuple[str, int]]:
    """Choose the most frequent levels, by rounded counts."""
    common = [(label, n) for label, n in leaf.counts if n >= SMALLEST]
    if leaf.records:
        return sorted(common, key=lambda row: int(row[0]))[: leaf.shown]
    return sorted(common, key=lambda row: (-((row[1] + 2) // 5), row[0]))[: leaf.shown]


def _link_sizes(leaf: figures.Levels, ledger: figures.Ledger, names: dict[str, str]) -> None:
    rest = ledger.latent(f"{leaf.name}: records of the rest")
    terms = tuple((name, -float(label)) for label, name in names.items())
    ledger.relations.append(figures.Relation(((leaf.records, 1.0), *terms, (rest, -1.0))))


def _classes(leaf: figures.SizeClasses, ledger: figures.Ledger, *, internal: bool) -> figures.Tree:
    counts = dict(leaf.counts)
    pooled = {"1": counts.get("1", 0), "2-4": sum(counts.get(label, 0) for label in POOLED)}
    pooled |= {label: counts.get(label, 0) for label in SIZE_CLASSES if label not in {"1", *POOLED}}
    chosen = {label: counts.get(label, 0) for label in SIZE_CLASSES} if internal else pooled
    for label, n in chosen.items():
        small = SIZE_CLASSES.get(label, (2, 4))[1] < SMALLEST
        of = leaf.alone if label == "1" else None
        ledger.count(f"{leaf.name}.{label}", n, leaf.name, watched="everywhere" if small else "table", of=of)
    return tuple({"size": label, "n_cells": figures.Count(f"{leaf.name}.{label}")} for label in chosen)


def _bins(leaf: figures.Histogram, ledger: figures.Ledger) -> figures.Tree:
    edges, counts = leaf.edges, leaf.counts
    names = [f"{leaf.name}.{low}-{high}" for low, high in itertools.pairwise(edges)]
    rows: list[figures.Tree] = []
    for number, (name, n) in enumerate(zip(names, counts, strict=True)):
        ledger.count(name, n, leaf.name)
        ledger.weigh(name)
        rows.append(
            {
                "from": edges[number],
                "to": edges[number + 1],
                "n": figures.Count(name),
                # Of the sum of the printed bins, like the cumulative shares: the first of both must agree.
                "rate": figures.Cumulative((name,), tuple(names)),
                "cumulative": figures.Cumulative(tuple(names[: number + 1]), tuple(names)),
            }
        )
    ledger.equal(leaf.whole, *names)
    spans = dict(zip(names, itertools.pairwise(edges), strict=True))
    if leaf.total:
        ledger.bounded(leaf.total, spans)
    if leaf.sizes is not None:
        for name, (low, high) in spans.items():
            least = leaf.largest[high] + 1 if high < edges[-1] else 1
            parts = leaf.sizes.within(least, leaf.largest[low])
            ledger.equal(name, *(leaf.sizes.records(part) for part in parts))
    for name, limit in leaf.above:
        beyond = {bin_name: (float(low > limit), float(high > limit)) for bin_name, (low, high) in spans.items()}
        ledger.bounded(name, beyond)
    return tuple(rows)


def _guarded(leaf: figures.Histogram, rows: figures.Tree) -> figures.Tree:
    """The bins, or one bin with all records if too few records are behind the risks."""
    whole = figures.Share(leaf.whole, leaf.whole)
    single: figures.Tree = {"from": leaf.edges[0], "to": leaf.edges[-1], "n": figures.Count(leaf.whole)}
    return figures.Told(rows, leaf.guard, ({**single, "rate": whole, "cumulative": whole},), guarded=True)  # type: ignore[dict-item]


def rank(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    """Sorting key of printed levels: the most frequent first by printed counts, the pooled rest last.

    Examples
    --------
    >>> few = {"level": "a", "n": {"text": "<5", "value": None, "below": 5}}
    >>> rank(few), rank({"level": "b", "n": {"text": "20", "value": 20}})
    ((False, -5.0, 'a'), (False, -20.0, 'b'))
    """
    n = row["n"]
    return bool(row.get("pooled")), -float(n["value"] or n.get("below") or 0.0), str(row["level"])
