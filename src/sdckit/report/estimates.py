"""Estimates of two files: printed to two digits, and never those that rest on a few people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.charts import has_interval
from sdckit.report.gate.figures import InternalOnly, Ledger, Ratio, Tree
from sdckit.report.parts import bars, figure
from sdckit.report.setting import PairSetting, carried, variables_of
from sdckit.report.shares import said_blocks, said_tree
from sdckit.report.view import Plain, View

USEFULNESS = "What is it still good for?"
MOST_TERMS = 40
MOST_DRAWN = 12
ROUNDED = "intervals are not drawn, since their ends are rounded here"
FEW = "withheld: those that fewer than 5 records carry, or that would tell such ones"
STEPS = "rounded to what five records change, as they count records"
WITHHELD: Mapping[str, Tree] = {"text": "withheld", "value": None}
UNDEFINED: Mapping[str, Tree] = {"text": "undefined", "value": None}


@dataclass(frozen=True)
class UtilityView(View):
    """The view of a measure of what a release is still good for.

    `part` says where its tree stands among those of an assessment: "" its figures as they are, else a list of trees;
    None where the overview has what is needed of it.
    """

    part: str | None = None


def share_leaf(ledger: Ledger, name: str, true: float | None) -> Tree:
    """A share that stands for a number of records, printed from that number as it may be told."""
    if true is None or not math.isfinite(true):
        return UNDEFINED
    ledger.value(name, float(true) * (ledger.variables["n"].true or 0), name, kind="sum")
    return Ratio(name, "n")


def value_leaf(ledger: Ledger, name: str, true: float | None) -> Tree:
    """An estimate over the whole file."""
    if true is None or not math.isfinite(true):
        return UNDEFINED
    return ledger.value(name, float(true), name)


def told_leaf(ledger: Ledger, name: str, true: float | None, *, few: bool, told: float | None = None) -> Tree:
    """An estimate; one that rests on few records stands in a confidential document only.

    `told` stands in its place elsewhere, where it is another number.
    """
    leaf = value_leaf(ledger, name, true)
    if few:
        return InternalOnly(leaf, WITHHELD)
    if told is None or true is None or told == true or not math.isfinite(true):
        return leaf
    return InternalOnly(leaf, value_leaf(ledger, f"{name}.told", told))


def few_words(result: Any) -> Tree:
    """Say that estimates are withheld, or told in steps, where some are."""
    words = [FEW] * any(result.few_spread) + [STEPS] * any(result.steps)
    return InternalOnly("", "; ".join(words)) if words else ""


def term_rows(
    result: Any, write: Callable[[int, Tree], tuple[Tree, ...]], names: Sequence[str]
) -> tuple[Tree, ...]:
    """The rows of every term; those that rest on few records and may not be told apart stand there once.

    `write` gives the rows of a term by its number and its name as it may be told.
    """
    rows: list[Tree] = []
    seen: set[str] = set()
    for number, (name, told) in enumerate(zip(names, result.told, strict=True)):
        own = write(number, name if name == told else InternalOnly(name, told))
        if told in seen and result.few[number]:
            own = tuple(InternalOnly(row) for row in own)
        seen.add(told)
        rows += own
    return tuple(rows)


def forest_tree(result: Any, setting: PairSetting) -> tuple[Tree, ...]:
    """Estimates with their intervals, file by file, of whole terms; what rests on few records is not told."""
    rows = rows_of(result.forest())
    files = len(rows) // max(1, len(result.told))
    names = [str(row["term"]) for row in rows[:: max(1, files)]]
    told = result.told_drawn
    most = max(1, 2 * MOST_TERMS // max(1, files))

    def write(number: int, term: Tree) -> tuple[Tree, ...]:
        if number >= most:
            return ()
        few, wide = result.few[number], result.few_spread[number]
        return tuple(
            forest_row(
                setting, f"forest.{at}", rows[at], term=term, file=str(rows[at]["file"]), few=few, wide=wide,
                told=told[at],
            )
            for at in range(number * files, (number + 1) * files)
        )  # fmt: skip

    return term_rows(result, write, names)


def forest_row(
    setting: PairSetting, name: str, row: Mapping[str, Any], *, term: Tree, file: str, few: bool = False,
    wide: bool = False,
    told: tuple[float | None, ...] = (None, None, None),
) -> dict[str, Tree]:  # fmt: skip
    """An estimate and its interval in a file; only a confidential document prints them exactly.

    `few`, `wide`: the estimate, or its interval, rests on few records. `told`: estimate and ends as others may see
    them, where that is not how they are.
    """
    start = f"{setting.prefix}.{setting.place}.{name}"
    leaves = {
        part: told_leaf(
            setting.ledger, f"{start}.{part}", row[part], few=few or (wide and part != "estimate"), told=other
        )
        for part, other in zip(("estimate", "low", "high"), told, strict=True)
    }
    return {"label": _label(term, file), "term": term, "file": file, **leaves, "exact": InternalOnly(True)}


def forest_block(rows: Sequence[Plain], about: str) -> list[Block]:
    """Draw estimates, a term on an axis each: with their intervals where these are printed exactly."""
    told = [row for row in rows if row["estimate"]["text"] != WITHHELD["text"]]
    terms = list(dict.fromkeys(row["term"] for row in told))
    if not terms:
        return []
    drawn = [row for row in told if row["term"] in terms[:MOST_DRAWN]]
    caption = (
        f"Estimates and intervals: {about}"
        if any(map(has_interval, drawn))
        else f"Estimates: {about}; {ROUNDED}"
    )
    more = f" (the first {MOST_DRAWN} of {len(terms)})" if len(terms) > MOST_DRAWN else ""
    return [ChartBlock("forest", {"rows": drawn}, caption + more)]


def forest_blocks(
    rows: Sequence[Plain], about: str = "every term, file by file", withheld: str = ""
) -> list[Block]:
    """Draw estimates, and list them with their intervals."""
    note: list[Block] = [Paragraph(f"Estimates {withheld}.", "note")] if withheld else []
    chart = forest_block(rows, about)
    if not chart:
        return note
    ends = ("low", "high") if any(row["low"]["text"] != WITHHELD["text"] for row in rows) else ()
    texts = tuple((row["label"], *(row[part]["text"] for part in ("estimate", *ends))) for row in rows)
    digits = "" if any(map(has_interval, rows)) else ", to two digits" if ends else ""
    heads = ("Term and file", "Estimate", *("From", "To")[: len(ends)])
    caption = f"Estimates and intervals{digits}" if ends else "Estimates"
    return [*chart, TableBlock(caption, heads, texts, tuple(range(1, len(heads))), behind=True), *note]


def _label(term: Tree, file: str) -> Tree:
    if isinstance(term, InternalOnly):
        return InternalOnly(f"{term.content}, {file}", f"{term.otherwise}, {file}")
    return f"{term}, {file}"


def figures_view(
    words: Mapping[str, str],
    by_variable: str = "",
    caption: str = "",
    *,
    shares: Sequence[str] = (),
    drawn: Sequence[str] = (),
) -> UtilityView:
    """Make the view of a measure of utility: its figures (with their words) in a table.

    Drawn is `by_variable`, a figure of every variable, under its caption, or else the figures of `drawn`; `shares` are
    figures that times n are records.
    """

    def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
        ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
        pair, variables = getattr(result, "pair", None), variables_of(result)
        found: dict[str, Tree] = {
            name: carried(
                (share_leaf if name in shares else value_leaf)(ledger, f"{start}.{name}", getattr(result, name)),
                setting, pair, variables, name,
            )
            for name in words
        }  # fmt: skip
        if by_variable:
            write = share_leaf if by_variable in shares else value_leaf
            found["variables"] = {
                name: carried(write(ledger, f"{start}.variable.{name}", value), setting, pair, variables)
                for name, value in _named(getattr(result, by_variable)).items()
            }
        return {**found, **said_tree(result)}

    def blocks(plain: Plain, place: str) -> list[Block]:
        found = plain[place]
        rows = tuple((told, found[name]["text"]) for name, told in words.items())
        head = "The release as a whole"
        laid: list[Block] = [TableBlock(head, ("Figure", "Release"), rows, (1,))]
        if by_variable and found["variables"]:
            texts = tuple((name, leaf["text"]) for name, leaf in found["variables"].items())
            table = TableBlock(caption, ("Variable", "Figure"), texts, (1,))
            laid += figure(bars(caption, "", found["variables"].items()), table)
        else:
            laid.append(bars(head, "", ((words[name], found[name]) for name in drawn), aside=True))
        return [*laid, *said_blocks(found)]

    return UtilityView(USEFULNESS, tree, blocks)


def _named(found: Any) -> dict[str, float]:
    """A figure by variable, of a mapping or a frame; undefined ones are left out."""
    if not isinstance(found, Mapping):
        found = {row["variable"]: row["importance"] for row in rows_of(found)}
    return {str(name): float(value) for name, value in found.items() if math.isfinite(value)}
