"""Rows of a release matched back to the people they were made from, in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import MATCHING, Figure, over, share_view
from sdckit.report.view import Note, Plain

CERTAIN = 0.5  # a match risk above it is 1: a single match, and the right one
ROLES = {"known": "left as it was", "synthetic": "changed"}


def more(result: Any, setting: PairSetting) -> Mapping[str, Tree]:
    """Say how each variable was matched, which is the analyst's choice, and count who is at high risk on average.

    Of mere figures, which say neither, nothing.
    """
    ledger, limit = setting.ledger, getattr(result, "high_risk_limit", None)
    if limit is None:
        return {}
    start = f"{setting.prefix}.{setting.place}."
    for j in range(1, result.m + 1):
        high, true, expected = (
            f"{start}{j}.{name}" for name in ("n_high_risk", "true_match_rate", "mean_match_risk")
        )
        if limit >= CERTAIN:
            ledger.equal(high, true)
        else:
            ledger.nested(high, true)
        ledger.bounded(expected, {true: (1.0, 0.0)}, upper=False)
    found: dict[str, Tree] = {
        "variables": tuple(one.stated for one in result.variables),
        "high_risk_limit": limit,
    }
    if result.m > 1:
        name = f"{start}high_risk_of_mean"
        found["n_high_risk_of_mean"] = ledger.count(name, result.n_high_risk_of_mean, start)
        ledger.nested("n", name)
    return found


def also(tree: Plain) -> list[Block]:
    """How each variable was matched, and from which risk on a record counts as one of high risk."""
    if "variables" not in tree:
        return []
    rows = tuple((one["name"], one["kind"], ROLES[one["role"]], one["matched"]) for one in tree["variables"])
    table = TableBlock(
        "How each variable was matched", ("Variable", "Taken for", "In the release", "Matched"), rows
    )
    limit = f"High risk: a match risk above {tree['high_risk_limit']:g}"
    mean = tree.get("n_high_risk_of_mean")
    of_mean = (
        f", in each release by itself; the mean over the releases is above it for {mean['text']}"
        if mean
        else ""
    )
    return [table, Paragraph(f"{limit}{of_mean}.", "note")]


def answer(tree: Plain, _: str) -> str:
    """The sentence for the first page."""
    found, chance = over(tree, "mean_match_risk"), over(tree, "baseline")
    expected = "would be expected to be matched back to their own row"
    return f"Of the original's records {found} ({chance} by chance) {expected}."


VIEW = share_view(
    MATCHING,
    "Rows matched back by their keys",
    (
        Figure("mean_match_risk", "records expected to be matched back", whole=False),
        Figure("expected_match_risk", "the same (number)", base="", sum_of="mean_match_risk"),
        Figure("baseline", "records expected to be matched back by chance", whole=False),
        Figure("unique_matches", "records with a single match (number)", base=""),
        Figure("true_match_rate", "records whose single match is the right one", inside="unique_matches"),
        Figure(
            "false_match_rate",
            "single matches that are wrong",
            base="unique_matches",
            others="true_match_rate",
        ),
        Figure("n_high_risk", "records of high risk (number)", base=""),
    ),
    Note(
        "Matching back",
        "An intruder looks for the released rows that agree with what is known of a person: on every category "
        "exactly, on numbers within an interval. The chance of picking the right one of c matching rows is 1/c if it "
        "is among them, and 0 otherwise. By chance: the rows alike in what the release left as it was are dealt out "
        "at random; what lies above it is due to the changed values.",
        "Reiter & Mitra (2009); Hornby & Hu (2021)",
    ),
    limits={"match_risk": "mean_match_risk"},
    answer=answer,
    more=more,
    also=also,
)
