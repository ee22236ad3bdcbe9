"""Chapter on the utility of a release: overview, variables, two-way tables, models."""

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report import estimates, rates, view
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.common_blocks import bars, figure, height_of
from sdckit.report.gate.figures import Foreign, Ledger, Tree
from sdckit.report.setting import PairSetting
from sdckit.utility.weighted_totals import BEYOND

HEAT = "Standardised pMSE of every two-way table (best 1; the darker, the worse)"
TOTALS = "Totals, means and counts with the weights of each file, and by how much they moved"
SAMPLE = "Random sample of the original whose tables are as near to it"
WAYS = {1: "one-way", 2: "two-way", 3: "three-way"}
MOVED = "Records that moved to other values, by variable"
EMPTY: Mapping[str, Tree] = {
    "m": 0, "table": (), "variables": {}, "pairs": (), "heat": None, "sample": None, "models": (), "skipped": (),
    "moved": (), "notes": {},
}  # fmt: skip


def utility_tree(assessment: Any, ledger: Ledger) -> Tree:
    """Give the utility of a release, or why there is none."""
    overview = assessment.utility
    if overview is None:
        why: Tree = {"measure": "utility", "reason": Foreign(assessment.no_utility)}
        return {**EMPTY, "skipped": (why,)}
    setting = PairSetting(ledger, "utility", overview.measure, [release.n for release in assessment.released])
    return view.view_of(overview.measure).tree(overview, setting)


def utility_blocks(tree: view.Plain) -> list[Block]:
    """Blocks of the utility of a release, from printed figures only."""
    blocks: list[Block] = []
    if tree["table"]:
        several = tree["m"] > 1
        parts = ("value", "smallest", "largest") if several else ("value",)
        glance = tuple((row["level"], row["figure"], *_texts(row, *parts), f"{row['best']:g}") for row in tree["table"])
        of = ("Mean", "Smallest", "Largest") if several else ("Release",)
        heads = ("Level", "Figure", *of, "Best")
        blocks += [
            Paragraph("No single score: read the worst figure of each level beside its mean."),
            TableBlock("The release at a glance", heads, glance, tuple(range(2, len(heads)))),
        ]
    blocks += [
        *variable_blocks(tree["variables"]),
        *sample_blocks(tree.get("sample")),
        *pair_blocks(tree["pairs"]),
        *heat_blocks(tree["heat"]),
    ]
    blocks += moved_blocks(tree["moved"])
    for model in tree["models"]:
        blocks += _model_blocks(model)
    return blocks


def variable_blocks(variables: Mapping[str, view.Plain]) -> list[Block]:
    """Table and chart of the share of records that changed their value, by variable."""
    if not variables:
        return []
    rows = tuple((name, leaf["text"]) for name, leaf in variables.items())
    table = TableBlock(MOVED, ("Variable", "Share in other values"), rows, (1,))
    return figure(bars(MOVED, "of the records", variables.items()), table)


def sample_blocks(sample: view.Plain | None) -> list[Block]:
    """How large a sample would have tables as near: a sentence, a chart of what else is as near, the worst groups."""
    if not sample or height_of(sample["distance"]) is None:
        return []
    by = listed(list(sample["by"]))
    tables = f"{WAYS[sample['ways']]} tables by {by}" if by else f"{WAYS[sample['ways']]} tables"
    value = 1000 * (1 - (height_of(sample["distance"]) or 0.0))
    score = Paragraph(f"NIST's k-marginal score of the {tables}: {value:,.0f} of 1,000.")
    if height_of(sample["equivalent"]) is None:
        return [score, *_group_blocks(sample)]
    own, redraw, other = (rates.percent(sample[name]) for name in ("equivalent", "redraw", "other_sample"))
    said = (
        f"The {tables} of the release are as near to the original's as those of a random sample of {own} of its "
        f"records; a redraw of the file reaches about {redraw}, another sample of this size about {other}, only a copy "
        "100 %."
    )
    rows: list[tuple[str, view.Plain]] = [
        ("the release", sample["equivalent"]),
        ("another sample of this size", sample["other_sample"]),
        ("a redraw of the file", sample["redraw"]),
        ("a copy", {"text": "1", "value": 1.0}),
    ]
    in_percent = [(words, {**leaf, "text": rates.percent(leaf)}) for words, leaf in rows]
    return [Paragraph(said), score, bars(SAMPLE, "of its records", in_percent), *_group_blocks(sample)]


def _group_blocks(sample: view.Plain) -> list[Block]:
    """The score of each group, drawn, with its records in a table."""
    if not sample["groups"]:
        return []
    caption = f"NIST's k-marginal score by {listed(list(sample['by']))}, the worst first"
    scores = [(row["labels"], row["n"], f"{row['k_marginal']:,.1f}", row["k_marginal"]) for row in sample["groups"]]
    table = tuple((*labels, f"{n:,}", text) for labels, n, text, _ in scores)
    heads = (*sample["by"], "Records", "Score (best 1,000)")
    drawn = [(" × ".join(labels), {"text": text, "value": score}) for labels, _, text, score in scores]
    return figure(bars(caption, "of 1,000", drawn), TableBlock(caption, heads, table, (len(heads) - 2, len(heads) - 1)))


def pair_blocks(pairs: Sequence[view.Plain]) -> list[Block]:
    """Table of the two-way tables that changed most."""
    rows = tuple((row["variables"], *_texts(row, "s_pmse", "specks")) for row in pairs)
    heads = ("Variables", "Standardised pMSE (best 1)", "SPECKS (best 0)")
    return [TableBlock("Two-way tables that changed most", heads, rows, (1, 2))] if rows else []


def heat_blocks(heat: view.Plain | None) -> list[Block]:
    """Heat map of all two-way tables; set aside if no value is printed."""
    printed = heat and any(cell["value"]["value"] is not None for cell in heat["cells"])
    return [ChartBlock("heat", heat, HEAT, aside=not printed)] if heat else []


def moved_blocks(figures: Sequence[view.Plain]) -> list[Block]:
    """Table of totals, means and counts, and by how much the release moved them."""
    rows = tuple((row["variable"], row["level"] or "–", row["figure"], row["change"]["text"]) for row in figures)
    return [TableBlock(TOTALS, ("Variable", "Level", "Figure", "Moved by"), rows, (3,))] if rows else []


def moved_warning(figures: Sequence[view.Plain]) -> str:
    """Sentence on the figures that moved by more than five per cent, by their prints; "" where there are none."""
    beyond = [row for row in figures if abs(row["change"]["value"] or 0.0) > BEYOND]
    named = listed(list(dict.fromkeys(row["variable"] for row in beyond)))
    if not beyond:
        return ""
    most = max(beyond, key=lambda row: abs(row["change"]["value"]))
    more = f"{BEYOND:.0%}".replace("%", " %")
    return (
        f"Totals, means or counts of {named} moved by more than {more}; the largest move is {most['change']['text']}."
    )


def _model_blocks(model: view.Plain) -> list[Block]:
    caption = f"{model['formula']} ({model['family']})"
    parts = ("estimate_original", "estimate_released", "overlap")
    rows = tuple((row["term"], *_texts(row, *parts)) for row in model["terms"])
    note = Paragraph(f"{caption}: estimates {model['withheld']}.", "note")
    chart = estimates.forest_block(model["forest"], caption)
    if not chart:
        return [note]
    table = TableBlock(caption, ("Term", "Original", "Release", "Overlap"), rows, (1, 2, 3))
    return [table, *chart, *([note] if model["withheld"] else [])]


def _texts(row: view.Plain, *names: str) -> tuple[str, ...]:
    return tuple(row[name]["text"] for name in names)
