"""Tables whose rows depend on the data: rare rows are pooled before anything is printed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from sdckit.report.gate.figures import (
    Count,
    Cumulative,
    Histogram,
    Ledger,
    Levels,
    Ranked,
    Relation,
    Share,
    SizeClasses,
    Told,
    Tree,
)
from sdckit.report.gate.relations import SIZE_CLASSES, link_levels_to_cells

OTHER = "other"
SMALLEST = 5
POOLED = ("2", "3", "4")


def expand(leaf: Levels | SizeClasses | Histogram, ledger: Ledger, *, internal: bool) -> Tree:
    """Turn a pooled leaf into rows of counts, and enter the counts in the ledger."""
    if isinstance(leaf, Levels):
        return _levels(leaf, ledger, internal=internal)
    if isinstance(leaf, SizeClasses):
        return _classes(leaf, ledger, internal=internal)
    return _guarded(leaf, _bins(leaf, ledger)) if leaf.guard else _bins(leaf, ledger)


def level_names(leaf: Levels) -> list[str]:
    """The variable that the records of each level are counted in, once the leaf is expanded for a protected document.

    >>> level_names(Levels("job", (("cook", 30), ("king", 1)), "n", 31))
    ['job.cook', 'job: other']
    """
    shown = {label for label, _ in _common_levels(leaf)}
    return [f"{leaf.name}.{label}" if label in shown else f"{leaf.name}: {OTHER}" for label, _ in leaf.counts]


def _levels(leaf: Levels, ledger: Ledger, *, internal: bool) -> Tree:
    shown = list(leaf.counts) if internal else _common_levels(leaf)
    names = {label: f"{leaf.name}.{label}" for label, _ in shown}
    rows: list[Mapping[str, Tree]] = []
    for label, n in shown:
        ledger.count(names[label], n, leaf.name)
        if not internal:
            ledger.tell(names[label], SMALLEST)
        rows.append({"level": label, "n": Count(names[label]), "rate": Share(names[label], leaf.whole)})
    rest = leaf.n - leaf.n_missing - sum(n for _, n in shown)
    parts = [*names.values(), *([leaf.missing] if leaf.missing else [])]
    other = f"{leaf.name}: {OTHER}"
    if rest > 0:
        ledger.count(other, rest, leaf.name)
        ledger.tell(other, 1.0)
        parts.append(other)
        rows.append({"level": OTHER, "n": Count(other), "rate": Share(other, leaf.whole), "pooled": True})
    ledger.equal(leaf.whole, *parts)
    if leaf.records:
        _link_sizes(leaf, ledger, names)
    if leaf.sizes is not None and not internal:
        all_common = len(shown) == sum(n >= SMALLEST for _, n in leaf.counts)
        pooled = other if rest > 0 else None
        link_levels_to_cells(
            ledger, leaf.sizes, tuple(names.values()), pooled, missing=leaf.missing, all_common=all_common
        )
    return tuple(rows) if leaf.records else Ranked(tuple(rows))


def _common_levels(leaf: Levels) -> list[tuple[str, int]]:
    """Choose the most frequent levels, by rounded counts."""
    common = [(label, n) for label, n in leaf.counts if n >= SMALLEST]
    if leaf.records:
        return sorted(common, key=lambda row: int(row[0]))[: leaf.shown]
    return sorted(common, key=lambda row: (-((row[1] + 2) // 5), row[0]))[: leaf.shown]


def _link_sizes(leaf: Levels, ledger: Ledger, names: dict[str, str]) -> None:
    rest = ledger.latent(f"{leaf.name}: records of the rest")
    terms = tuple((name, -float(label)) for label, name in names.items())
    ledger.relations.append(Relation(((leaf.records, 1.0), *terms, (rest, -1.0))))


def _classes(leaf: SizeClasses, ledger: Ledger, *, internal: bool) -> Tree:
    counts = dict(leaf.counts)
    pooled = {"1": counts.get("1", 0), "2-4": sum(counts.get(label, 0) for label in POOLED)}
    pooled |= {label: counts.get(label, 0) for label in SIZE_CLASSES if label not in {"1", *POOLED}}
    chosen = {label: counts.get(label, 0) for label in SIZE_CLASSES} if internal else pooled
    for label, n in chosen.items():
        small = SIZE_CLASSES.get(label, (2, 4))[1] < SMALLEST
        of = leaf.alone if label == "1" else None
        ledger.count(f"{leaf.name}.{label}", n, leaf.name, watched="everywhere" if small else "table", of=of)
    return tuple({"size": label, "n_cells": Count(f"{leaf.name}.{label}")} for label in chosen)


def _bins(leaf: Histogram, ledger: Ledger) -> Tree:
    edges, counts = leaf.edges, leaf.counts
    names = [f"{leaf.name}.{low}-{high}" for low, high in itertools.pairwise(edges)]
    rows: list[Tree] = []
    for number, (name, n) in enumerate(zip(names, counts, strict=True)):
        ledger.count(name, n, leaf.name)
        rows.append(
            {
                "from": edges[number],
                "to": edges[number + 1],
                "n": Count(name),
                # Over the bins as they are printed, like the shares up to here: the first two must agree.
                "rate": Cumulative((name,), tuple(names)),
                "cumulative": Cumulative(tuple(names[: number + 1]), tuple(names)),
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
        beyond = {one: (float(low > limit), float(high > limit)) for one, (low, high) in spans.items()}
        ledger.bounded(name, beyond)
    return tuple(rows)


def _guarded(leaf: Histogram, rows: Tree) -> Tree:
    """The bins, or all records in one where too few records stand behind the risks."""
    whole = Share(leaf.whole, leaf.whole)
    one: Tree = {"from": leaf.edges[0], "to": leaf.edges[-1], "n": Count(leaf.whole)}
    return Told(rows, leaf.guard, ({**one, "rate": whole, "cumulative": whole},), guarded=True)  # type: ignore[dict-item]


def rank(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    """Sort rows of printed levels: the most frequent first, as far as it is printed, and what is pooled last.

    Examples
    --------
    >>> few = {"level": "a", "n": {"text": "<5", "value": None, "below": 5}}
    >>> rank(few), rank({"level": "b", "n": {"text": "20", "value": 20}})
    ((False, -5.0, 'a'), (False, -20.0, 'b'))
    """
    n = row["n"]
    return bool(row.get("pooled")), -float(n["value"] or n.get("below") or 0.0), str(row["level"])
