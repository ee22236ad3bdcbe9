"""View of people followed over time: how many of a person's rows find them alone."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sdckit.report import common_blocks, rates, shares, view
from sdckit.report.blocks import Block, ChartBlock, TableBlock
from sdckit.report.gate.figures import Ledger, Quantity, Ratio, Relation, Tree
from sdckit.report.setting import notes_tree

FIGURES = {
    "alone": "Alone", "below_k": "Fewer than {k}, but some", "expected": "One of them hit by chance",
    "alone_right": "Rightly alone", "success": "The right one hit by chance",
}  # fmt: skip
LARGER = (("alone", "below_k"), ("alone", "expected"), ("alone_right", "alone"), ("alone_right", "success"))


def _tree(result: Any, setting: Any) -> Mapping[str, Tree]:
    """Enter the persons, and each share as the number of persons that it stands for."""
    ledger, start = setting.ledger, f"{setting.prefix}.{result.measure}"
    persons = ledger.count(f"{start}.persons", result.n_persons, f"{start}.persons", of=Quantity("persons followed"))
    releases = tuple(
        _curve(ledger, f"{start}.{j}", persons.name, [(known, dict(_of_release(figures, known.points))) for known in
                                                      result.curve])
        for j, figures in enumerate(result.per_release, 1)
    )  # fmt: skip
    known = [(known, known.figures) for known in result.original]
    original = _curve(ledger, f"{start}.original", persons.name, known)
    return {"persons": persons, "releases": releases, "original": original, "k": result.k, "notes": notes_tree(result)}


def _of_release(figures: Mapping[str, float], points: int) -> Iterator[tuple[str, float]]:
    end = f"[{points}]"
    return ((name.removesuffix(end), value) for name, value in figures.items() if name.endswith(end))


def _curve(ledger: Ledger, start: str, persons: str, curve: Sequence[tuple[Any, Mapping[str, float]]]) -> Tree:
    """The figures of each number of known rows that somebody has."""
    rows = []
    for known, figures in curve:
        if not figures["n_persons"]:
            continue
        base = ledger.count(f"{start}.{known.points}.persons", int(figures["n_persons"]), f"{start}.persons")
        ledger.nested(persons, base.name)
        row: dict[str, Tree] = {"points": known.points, "persons": base}
        for name in FIGURES:
            if not math.isnan(share := figures[name]):
                at = f"{start}.{known.points}.{name}"
                ledger.value(at, share * figures["n_persons"], at, kind="sum")
                row[name] = Ratio(at, base.name)
        for part, whole in LARGER:
            if part in row and whole in row:
                terms = tuple((f"{start}.{known.points}.{name}", sign) for name, sign in ((whole, 1.0), (part, -1.0)))
                ledger.relations.append(Relation(terms, upper=math.inf))
        rows.append(row)
    return tuple(rows)


def _blocks(plain: view.Plain, place: str) -> list[Block]:
    """The curve, that of the original beside that of a release, with its table."""
    tree = plain[place]
    blocks: list[Block] = []
    for j, rows in enumerate(tree["releases"]):
        of = f", release {j + 1}" if len(tree["releases"]) > 1 else ""
        blocks += common_blocks.figure(_chart(rows, tree["original"], of), _table(rows, tree["k"], of))
    return [*blocks, *common_blocks.notes_blocks(tree)]


def _chart(rows: Sequence[view.Plain], original: Sequence[view.Plain], of: str) -> ChartBlock:
    before = {row["points"]: row["alone"] for row in original}
    drawn: list[Any] = []
    for row in rows:
        if row["points"] in before:
            drawn.append((f"{_rows(row['points'])}, in the original", before[row["points"]], "light"))
        drawn.append((_rows(row["points"]), row["alone"], "dark"))
    return common_blocks.bars(f"People alone for who knows some of their rows{of}", "of the people", drawn)


def _table(rows: Sequence[view.Plain], k: int, of: str) -> TableBlock:
    held = [name for name in FIGURES if any(name in row for row in rows)]
    heads = ("Known of a person", "People", *(FIGURES[name].format(k=k) for name in held))
    lines = tuple(
        (_rows(row["points"]), row["persons"]["text"], *(rates.percent(row[name]) for name in held)) for row in rows
    )
    return TableBlock(f"Candidates for who knows some rows of a person{of}", heads, lines, tuple(range(1, len(heads))))


def _rows(points: int) -> str:
    return f"{points} row" if points == 1 else f"{points} rows"


def _answer(plain: view.Plain, place: str, _: view.Plain) -> str:
    rows = plain[place]["releases"][0]
    usual = next((row for row in rows if row["points"] == 2), rows[0] if rows else None)  # as the limit asks
    if usual is None:
        return ""
    return rates.in_words(
        f"Who knows {_rows(usual['points'])} of a person finds {rates.percent(usual['alone'])} of the people alone."
    )


VIEW = shares.ShareView(
    "Who is found by some of their rows?", _tree, _blocks, view.noted("known_points"), answer=_answer
)
