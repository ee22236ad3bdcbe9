"""Charts of a figure of every record before and after: exact pairs if confidential, else counts in an audited grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.numerics.grouping import joint_counts
from sdckit.report import notebook, view
from sdckit.report.blocks import Block, ChartBlock, Paragraph
from sdckit.report.common_blocks import bars
from sdckit.report.gate.figures import Count, Document, InternalOnly, Ledger, Levels, Relation, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.gate.relations import level_names

if TYPE_CHECKING:
    from sdckit.workflow.recipes.step_forms import Picture, VariableCounts


MOST_POINTS = 1000
FEWEST = 1000  # records from which all bins are kept apart
FINEST = 30  # squares a side, where there are more points
AXES = {"x": "from the original", "y": "from the release"}
HIDDEN = "squares of few records are left empty"
NONE = "no square can be told without telling of a few records"
Squares = Mapping[tuple[int, int], str]


@dataclass(frozen=True)
class Grid:
    """The grid in which records are counted by their figure before and after.

    Parameters
    ----------
    edges
        Of the bins, the same for every file; the last one may be infinite.
    what
        The figure, in words.
    scale
        Of the axes, where every pair is drawn.
    barred
        Whether the bars of the document are of the same figure and bins.
    link
        Enters what the printed figures say of the squares: of the ledger, the start of their names, the name of each
        square by its bins before and after, and the edges of these.
    """

    edges: tuple[float, ...]
    what: str
    scale: str = "linear"
    barred: bool = True
    link: Callable[[Ledger, str, Squares, Sequence[float]], None] = lambda *_: None


def pairs_tree(result: Any, grid: Grid) -> InternalOnly:
    """Each distinct pair with its number of records, for a confidential document.

    Too many pairs are binned into small squares, each drawn at the mean of its records.
    """
    x, y, n = joint_counts(*result.sides())
    if joined := len(n) > MOST_POINTS:
        x, y, n = _joined(x, y, n)
    rows: tuple[Tree, ...] = tuple(
        {"x": float(a), "y": float(b), "n": {"text": f"{k:,}", "value": int(k)}}
        for a, b, k in zip(x, y, n, strict=True)
    )
    words = "in small squares" if joined else "each pair by its number of records"
    return InternalOnly({"rows": rows, "scale": grid.scale, **_axes(grid), "caption": _caption(grid, words)})


def _joined(x: Any, y: Any, n: Any) -> tuple[Any, Any, Any]:
    """Bin pairs into a fine grid on a square-root scale; returns mean x, mean y and records of each square."""
    top = math.sqrt(max(x.max(), y.max())) or 1.0
    i, j = (np.minimum((np.sqrt(values) / top * FINEST).astype(np.int64), FINEST - 1) for values in (x, y))
    _, place = np.unique(i * FINEST + j, return_inverse=True)
    size = np.bincount(place, n)
    return np.bincount(place, n * x) / size, np.bincount(place, n * y) / size, size.astype(np.int64)


def scatter_blocks(tree: view.Plain) -> list[Block]:
    """The scatter chart of a confidential document; nothing in any other."""
    scatter = tree.get("scatter")
    return [ChartBlock("bubbles", scatter, scatter["caption"])] if scatter else []


def scatter_chart(result: Any, internal: bool, grid: Grid) -> ChartBlock:
    """Scatter chart of a result: every pair if internal, else the protected counts of a grid.

    The figures of the result's document are protected first, then the squares, so that both may be published together.
    """
    document = notebook.pair_document(result)
    ledger = Ledger(dict(document.variables), list(document.relations))
    ((place, figures),) = document.tree["measures"].items()  # type: ignore[union-attr]
    if internal:
        (plain,) = protect(document, internal=True)["measures"].values()
        return scatter_blocks(plain)[0]  # type: ignore[return-value]
    edges = _edges(grid, result.pair.n)
    rows = _squares(ledger, f"c0.{place}.", result, replace(grid, edges=edges), figures)
    steps = tuple(_bin(low, high) for low, high in pairwise(edges))
    squares_tree: dict[str, Tree] = {
        "rows": rows,
        "steps": steps,
        **_axes(grid),
        "few": _caption(grid, HIDDEN),
        "none": _caption(grid, NONE),
    }
    whole = replace(
        document, tree={**document.tree, "squares": squares_tree}, variables=ledger.variables,
        relations=tuple(ledger.relations),
    )  # fmt: skip
    plain = protect(whole)["squares"]
    shown = [row for row in plain["rows"] if row["n"]["value"]]
    return ChartBlock("bubbles", {**plain, "rows": shown}, plain["few" if shown else "none"])


def _squares(ledger: Ledger, start: str, result: Any, grid: Grid, figures: Any) -> tuple[Tree, ...]:
    """Enter the records of each square, and their relations to the bars of the document."""
    sides = [values[~np.isnan(values)] for values in result.sides()]
    counts = grid_of(sides[0], sides[1], grid.edges)
    names = {}
    for (i, j), n in np.ndenumerate(counts):
        names[i, j] = ledger.count(f"{start}square.{i}.{j}", int(n), f"{start}squares").name
        ledger.ask(names[i, j])
    if len(sides[0]) == result.pair.n:
        ledger.equal("n", *names.values())
    else:
        ledger.bounded("n", dict.fromkeys(names.values(), (1.0, 1.0)), upper=False)
    for axis, side in enumerate(("original", "released") if grid.barred else ()):
        for place, (low, high) in enumerate(pairwise(grid.edges)):
            bars = [row[side].name for row in figures["distribution"] if low <= row["from"] < high]
            line = [name for at, name in names.items() if at[axis] == place]
            terms = (*((bar, 1.0) for bar in bars), *((square, -1.0) for square in line))
            ledger.relations.append(Relation(terms))
    grid.link(ledger, start, names, grid.edges)
    return tuple({"x": i, "y": j, "n": Count(name)} for (i, j), name in names.items())


def _edges(grid: Grid, n: int) -> tuple[float, ...]:
    """Edges of the bins, joined in pairs for small files, of which nearly all squares would be withheld."""
    return grid.edges if n >= FEWEST else (*grid.edges[:-1:2], grid.edges[-1])


def grid_of(original: Any, released: Any, edges: Sequence[float]) -> Any:
    """Records by their bins before (rows) and after: ``[a, b)``, the last one closed.

    >>> grid_of(np.array([0.0, 0.6, 1.0]), np.array([0.1, 0.1, 1.0]), (0.0, 0.5, 1.0)).tolist()
    [[1, 0], [1, 1]]
    """
    size = len(edges) - 1
    i, j = (np.clip(np.searchsorted(edges, values, side="right") - 1, 0, size - 1) for values in (original, released))
    return np.bincount(i * size + j, minlength=size * size).reshape(size, size)


def _axes(grid: Grid) -> dict[str, str]:
    return {side: f"{grid.what}, {words}" for side, words in AXES.items()}


def _caption(grid: Grid, words: str) -> str:
    return f"Records by the {grid.what}, before and after: {words}"


def _bin(low: float, high: float) -> str:
    return f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"


# A variable before and after a protection step: bars of its records, rare values pooled.


SIDES = ("before", "after")
CAPTIONS = {"before": "Before the step", "after": "After the step"}
GONE = {"before": "The variable is not in the file before the step.", "after": "The step leaves the variable out."}
MISSING = "missing"
MOST_LEVELS = 30


def plain_picture(picture: Picture, *, internal: bool = False, shown: int = MOST_LEVELS) -> dict[str, Any]:
    """Give the protected figures of a variable on both sides of a step; at most so many levels are `shown`.

    Raises DataError: fewer than 50 records, unless internal.
    """
    ledger = Ledger()
    tree: dict[str, Tree] = {"variable": picture.variable}
    sizes = []
    for side in SIDES:
        variable: VariableCounts | None = getattr(picture, side)
        if variable is not None:
            sizes.append(variable.n)
            tree[side] = _side(side, variable, ledger, shown)
    if not internal:
        _link(picture, tree, ledger)
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), min(sizes)), internal=internal)
    for side in SIDES:
        if side in plain and not plain[side]["edges"]:
            order = [name for name, _ in getattr(picture, side).counts]
            plain[side]["rows"] = _in_order(plain[side]["rows"], order)
    return plain


def _side(side: str, variable: VariableCounts, ledger: Ledger, shown: int) -> dict[str, Tree]:
    n = ledger.count(f"{side}.n", variable.n, f"{side}.n")
    missing = ledger.count(f"{side}.missing", variable.n_missing, side)
    tree: dict[str, Tree] = {"n": n, "missing": missing, "edges": variable.edges, "whole": variable.whole}
    if not variable.edges:
        levels = Levels(
            f"{side}.level", variable.counts, n.name, variable.n, missing.name, variable.n_missing, shown=shown
        )
        return tree | {"rows": levels}
    bins = [ledger.count(f"{side}.bin.{at}", count, side) for at, (_, count) in enumerate(variable.counts)]
    ledger.equal(n.name, missing.name, *(bin_.name for bin_ in bins))
    names = [name for name, _ in variable.counts]
    rows: tuple[Tree, ...] = tuple({"level": name, "n": leaf} for name, leaf in zip(names, bins, strict=True))
    return tree | {"rows": rows}


def _link(picture: Picture, tree: dict[str, Tree], ledger: Ledger) -> None:
    """Enter the flows between the levels of both sides, so that the audit sees differences of two figures."""
    if picture.before is not None and picture.after is not None and picture.before.n == picture.after.n:
        ledger.equal("before.n", "after.n")
    if not picture.flows:
        return
    names = {side: _names(side, getattr(picture, side), tree[side]) for side in SIDES}
    flows = {(names["before"][before], names["after"][after]) for before, after, _ in picture.flows}
    for at in range(len(SIDES)):
        for name in sorted({flow[at] for flow in flows}):
            parts = sorted(flow for flow in flows if flow[at] == name)
            ledger.equal(name, *(ledger.latent(" to ".join(part)) for part in parts))


def _names(side: str, variable: VariableCounts, tree: Tree) -> list[str]:
    """Names in the ledger of the counts of one side, that of the missing values last."""
    levels = tree["rows"] if isinstance(tree, dict) else None
    known = level_names(levels) if isinstance(levels, Levels) else [
        f"{side}.bin.{at}" for at in range(len(variable.counts))
    ]  # fmt: skip
    return [*known, f"{side}.missing"]


def _in_order(rows: list[view.Plain], order: list[str]) -> list[view.Plain]:
    """Rows in the order of the variable's levels, pooled levels last."""
    place = {name: at for at, name in enumerate(order)}
    return sorted(rows, key=lambda row: (bool(row.get("pooled")), place.get(str(row["level"]), len(place))))


def picture_blocks(plain: view.Plain) -> list[Block]:
    """Bar charts of both sides."""
    blocks: list[Block] = []
    for side in SIDES:
        if side not in plain:
            blocks.append(Paragraph(GONE[side]))
            continue
        rows = [(str(row["level"]), row["n"]) for row in _used(plain[side])]
        if plain[side]["missing"]["text"] != "0":
            rows.append((MISSING, plain[side]["missing"]))
        blocks.append(bars(CAPTIONS[side], "records", rows))
    return blocks


def _used(side: view.Plain) -> list[view.Plain]:
    """The rows without empty bins at the ends."""
    rows = list(side["rows"])
    used = [at for at, row in enumerate(rows) if row["n"]["text"] != "0"] or [len(rows) - 1]
    return rows[used[0] : used[-1] + 1] if side["edges"] else rows
