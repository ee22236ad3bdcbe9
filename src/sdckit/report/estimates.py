"""Estimates of two files: printed to two digits, and never those that rest on a few people."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data.frames import rows_of
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.carried import carried, variables_of
from sdckit.report.charts import has_interval
from sdckit.report.gate.figures import InternalOnly, Ledger, Ratio, Tree
from sdckit.report.parts import bars
from sdckit.report.setting import PairSetting
from sdckit.report.shares import said_blocks, said_tree
from sdckit.report.view import Plain, View

__all__ = [
    "FEW", "MOST_TERMS", "USEFULNESS", "UtilityView", "common_labels", "compared_terms", "figures_view",
    "forest_block", "forest_blocks", "forest_row", "forest_tree", "share_leaf", "tells_few", "term_words", "value_leaf",
]  # fmt: skip

USEFULNESS = "What is it still good for?"
MOST_TERMS = 40
MOST_DRAWN = 12
ROUNDED = "intervals are not drawn, since their ends are rounded here"
MOST_LEVELS = 10_000
RARE = "(rare)"
FEW = "withheld: a category of the model, or a combination of categories, has fewer than 5 records"
SMALLEST = 5
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


def common_labels(pair: Any, variables: Sequence[str]) -> set[str]:
    """The values of any variable that five records or more of the original have: others are not named."""
    found: set[str] = set()
    for name in variables:
        if any(name not in frame.columns for frame in pair.released):
            continue
        coded = pair.codes(name)
        counts = np.bincount(coded.codes[0], minlength=coded.n_levels + 1)
        if coded.n_levels <= MOST_LEVELS:
            found |= {label for label, n in zip(coded.labels(), counts, strict=True) if n >= SMALLEST}
    return found


def term_words(term: str, common: set[str]) -> str:
    """The name of a coefficient; a value that few records have is not told.

    Examples
    --------
    >>> term_words("C(sex)[T.f]:age", {"f"}), term_words("C(job)[T.bishop]", {"f"}), term_words("m: age", {"f"})
    ('C(sex)[T.f]:age', 'C(job)[rare]', '(rare): age')
    """
    outcome, colon, rest = term.partition(": ")
    if colon and "[" not in outcome:
        outcome = outcome if outcome in common else RARE
        return f"{outcome}: {term_words(rest, common)}"

    def told(found: re.Match[str]) -> str:
        return found.group(0) if found.group(1).removeprefix("T.") in common else "[rare]"

    return re.sub(r"\[([^\]]*)\]", told, term)


def tells_few(terms: Sequence[str], pair: Any, common: set[str]) -> bool:
    """Whether a coefficient rests on a group of fewer than five records of the original.

    Such a coefficient, or the intercept where the group is the base, is a person's value.
    """
    if any(RARE in term_words(term, common) for term in terms):
        return True
    groups = {tuple(_categories(term, pair.original.columns)) for term in terms}
    for group in groups:
        if "" in group:
            return True  # a function of columns that cannot be told apart here
        sizes = pair.groups(group).size[0] if group else np.array([SMALLEST])
        if np.any((sizes > 0) & (sizes < SMALLEST)):
            return True
    return False


def _categories(term: str, columns: Sequence[str]) -> list[str]:
    """The columns whose categories a coefficient is about; "" for one that is not recognised."""
    parts = re.findall(r"([^:\[]+)\[", term)
    found = []
    for part in parts:
        inside = re.search(r"^C\(([^,)]+)", part.strip())
        name = (inside.group(1) if inside else part).strip().strip("`")
        found.append(name if name in columns else "")
    return sorted(set(found))


def compared_terms(result: Any) -> tuple[set[str], bool]:
    """Say which values of a comparison's terms may be named, and whether its estimates rest on a few records."""
    terms = [str(row["term"]) for row in rows_of(result.table)]
    words = " ".join([getattr(result, "formula", ""), *terms])
    common = common_labels(result.pair, [one for one in result.pair.original.columns if one in words])
    return common, tells_few(terms, result.pair, common)


def forest_tree(result: Any, setting: PairSetting, common: set[str]) -> tuple[Tree, ...]:
    """Estimates with their intervals, file by file, of whole terms; values few records have are not named."""
    rows = rows_of(result.forest())
    files = max(1, len({row["file"] for row in rows}))
    most = max(1, 2 * MOST_TERMS // files) * files
    return tuple(
        forest_row(
            setting, f"forest.{number}", row, term=term_words(str(row["term"]), common), file=str(row["file"])
        )
        for number, row in enumerate(rows[:most])
    )


def forest_row(
    setting: PairSetting, name: str, row: Mapping[str, Any], *, term: str, file: str
) -> dict[str, Tree]:
    """An estimate and its interval in a file; only a confidential document prints them exactly."""
    leaves = {
        part: value_leaf(setting.ledger, f"{setting.prefix}.{setting.place}.{name}.{part}", row[part])
        for part in ("estimate", "low", "high")
    }
    return {"label": f"{term}, {file}", "term": term, "file": file, **leaves, "exact": InternalOnly(True)}


def forest_block(rows: Sequence[Plain], about: str) -> ChartBlock:
    """Draw estimates, a term on an axis each: with their intervals where these are printed exactly."""
    terms = list(dict.fromkeys(row["term"] for row in rows))
    drawn = [row for row in rows if row["term"] in terms[:MOST_DRAWN]]
    caption = (
        f"Estimates and intervals: {about}"
        if any(map(has_interval, drawn))
        else f"Estimates: {about}; {ROUNDED}"
    )
    more = f" (the first {MOST_DRAWN} of {len(terms)})" if len(terms) > MOST_DRAWN else ""
    return ChartBlock("forest", {"rows": drawn}, caption + more)


def forest_blocks(rows: Sequence[Plain], about: str = "every term, file by file") -> list[Block]:
    """Draw estimates, and list them with their intervals."""
    if not rows:
        return [Paragraph(f"Estimates {FEW}.", "note")]
    texts = tuple(
        (row["label"], *(row[part]["text"] for part in ("estimate", "low", "high"))) for row in rows
    )
    digits = "" if any(map(has_interval, rows)) else ", to two digits"
    table = TableBlock(
        f"Estimates and intervals{digits}", ("Term and file", "Estimate", "From", "To"), texts, (1, 2, 3)
    )
    return [forest_block(rows, about), table]


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
            laid.append(TableBlock(caption, ("Variable", "Figure"), texts, (1,)))
            laid.append(bars(caption, "", found["variables"].items()))
        else:
            laid.append(bars(head, "", ((words[name], found[name]) for name in drawn)))
        return [*laid, *said_blocks(found)]

    return UtilityView(USEFULNESS, tree, blocks)


def _named(found: Any) -> dict[str, float]:
    """A figure by variable, of a mapping or a frame; undefined ones are left out."""
    if not isinstance(found, Mapping):
        found = {row["variable"]: row["importance"] for row in rows_of(found)}
    return {str(name): float(value) for name, value in found.items() if math.isfinite(value)}
