"""View of outliers: how many values are extreme, never which."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, TableBlock
from sdckit.report.common_blocks import bars, notes_blocks, of_whole
from sdckit.report.gate.figures import Count, Ledger, Relation, Share, Tree
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.outliers import Outliers

METHODS = {
    "percentile": "quantiles",
    "mad": "median plus or minus three robust standard deviations",
    "robust_mahalanobis": "robust distance of all variables together",
}


def tree(result: Outliers, setting: Setting) -> Mapping[str, Tree]:
    """Enter the number of extreme values of each variable; neither the values nor the cut-offs."""
    ledger = setting.ledger
    either = _extreme(ledger, "outliers.any", result.n_outliers)
    counts = {name: _extreme(ledger, f"outliers.{name}", number) for name, number in result.counts.items()}
    known = [count.name for count in counts.values() if count is not None]
    if either is not None:
        for name in known:
            ledger.nested(either.name, name)
        if known:
            ledger.bounded(either.name, dict.fromkeys(known, (0.0, 1.0)), lower=False)
    gone = {
        name: ledger.count(f"outliers.missing.{name}", number, "outliers.missing")
        for name, number in result.n_missing.items()
    }
    for name, missing in gone.items():
        ledger.nested("n", missing.name)
        if (count := counts.get(name)) is not None:
            ledger.relations.append(Relation((("n", 1.0), (missing.name, -1.0), (count.name, -1.0)), upper=math.inf))
    return {
        "method": result.method,
        "n_outliers": either,
        "rate_outliers": None if either is None else Share(either.name, "n"),
        "counts": counts,
        "n_missing": gone,
        "notes": notes_tree(result),
    }


def _extreme(ledger: Ledger, name: str, number: float) -> Count | None:
    if math.isnan(number):
        return None
    count = ledger.count(name, int(number), "outliers")
    ledger.nested("n", count.name)
    return count


def blocks(plain: Plain, place: str) -> list[Block]:
    """Facts, chart and table of the extreme values by variable."""
    tree = plain[place]
    either = tree["n_outliers"]
    facts = (
        ("Extreme by", METHODS.get(tree["method"], tree["method"])),
        ("Records with an extreme value", "undefined" if either is None else of_whole(either, tree["rate_outliers"])),
    )
    jointly = not tree["counts"]
    rows = tuple(
        (name, *(() if jointly else ((tree["counts"][name] or {"text": "undefined"})["text"],)), gone["text"])
        for name, gone in tree["n_missing"].items()
        if jointly or name in tree["counts"]
    )
    drawn = list(tree["counts"].items())
    if len(drawn) != 1:
        drawn.append(("all variables together" if jointly else "any of them", either))
    heads = ("Variable", *(() if jointly else ("Extreme",)), "Missing")
    caption = "Values missing" if jointly else "Extreme values"
    table = [TableBlock(caption, heads, rows, tuple(range(1, len(heads))))] if rows else []
    return [Facts(facts), bars("Records with an extreme value", "records", drawn), *table, *notes_blocks(tree)]


VIEW = View("Outliers", tree, blocks, noted("outliers"))
