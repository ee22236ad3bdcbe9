"""View of k-map: records whose key fewer than k people of the population share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, TableBlock
from sdckit.report.common_blocks import bars, figure, notes_blocks, share_head, texts
from sdckit.report.gate import figures, relations
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.population.k_map import KMap


def tree(result: KMap, setting: Setting) -> Mapping[str, figures.Tree]:
    """Enter the records below every tested k, counted in the population or expected; the level is confidential."""
    if math.isnan(result.level):
        return _expected(result, setting)
    ledger = setting.ledger
    counts = {k: setting.count(f"k_map.{k}", int(n), "k_map") for k, n in sorted(result.violations.items())}
    for k, count in counts.items():
        ledger.weigh(count.name)
        ledger.nested("n", count.name)
        ledger.nested(_rare(setting, k), count.name)
    for fewer, more in pairwise(counts.values()):
        ledger.nested(more.name, fewer.name)
    return {
        "counted": True,
        "holds": {str(k): figures.Holds(result.violations[k] == 0, none=(count.name,)) for k, count in counts.items()},
        "violations": {str(k): count for k, count in counts.items()},
        "violation_rates": {str(k): figures.Share(count.name, "n") for k, count in counts.items()},
        "level": figures.InternalOnly(result.level),
        "notes": notes_tree(result),
    }


def _expected(result: KMap, setting: Setting) -> Mapping[str, figures.Tree]:
    """Enter expected numbers, where there is no population file."""
    ledger, prefix = setting.ledger, setting.prefix
    values = {
        k: ledger.value(f"{prefix}.k_map.{k}", n, f"{prefix}.k_map", kind="sum", guard=setting.guard(result))
        for k, n in sorted(result.violations.items())
    }
    for k, value in values.items():
        ledger.bounded(value.name, {_rare(setting, k): (0.0, 1.0)}, lower=False)
    for fewer, more in pairwise(values.values()):
        ledger.bounded(fewer.name, {more.name: (0.0, 1.0)}, lower=False)
    return {
        "counted": False,
        "violations": {str(k): value for k, value in values.items()},
        "violation_rates": {str(k): figures.Ratio(value.name, "n") for k, value in values.items()},
        "notes": notes_tree(result),
    }


def _rare(setting: Setting, k: int) -> str:
    """Enter the records in cells of fewer than k in the file, an upper bound; returns their name in the ledger."""
    rare = setting.ledger.latent(f"{setting.prefix}.records in cells below {k}")
    relations.link_records(setting.ledger, setting.sizes, rare, 1, k - 1)
    return rare


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of every tested k."""
    tree = plain[place]
    counted = tree["counted"]
    rows = tuple(
        (f"k = {k}", *([tree["holds"][k]["text"]] if counted else []), *texts(count, tree["violation_rates"][k]))
        for k, count in tree["violations"].items()
    )
    caption = "Records whose key fewer than k people of the population have"
    middle = ("Result", "Records in violation") if counted else ("Records expected",)
    heads = ("Tested", *middle, share_head(tree["violation_rates"].values()))
    drawn = ((f"k = {k}", count) for k, count in tree["violations"].items())
    return [
        *([Facts((("Largest k that holds", f"{tree['level']:,}"),))] if "level" in tree else []),
        *figure(
            bars(caption, "records" if counted else "records expected", drawn),
            TableBlock(caption, heads, rows, tuple(range(len(heads) - 2, len(heads)))),
        ),
        *notes_blocks(tree),
    ]


VIEW = View("People behind each key", tree, blocks, noted("k_map"))
