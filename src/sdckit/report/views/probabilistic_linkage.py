"""View of probabilistic record linkage: share of correct links, precision and recall."""

import math
from functools import partial
from typing import Any

from sdckit.data import drawn_rows, frames
from sdckit.numerics.intervals import wilson
from sdckit.report import common_blocks, rates, shares, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.conclusions import FEW, GUESSING, RESIDUAL, UNDEFINED, Judged, concluded, leaf_with_ends, number_of
from sdckit.report.gate.figures import Count, InternalOnly, Tree
from sdckit.report.gate.protect import rate_leaf, seen
from sdckit.report.setting import PairSetting

MOST_ROWS = 8
RIGHT = "released records are linked to the right people more often than by guessing"


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the records linked correctly; every record is attacked or those drawn are, and nobody of a control file."""
    start, n, size = f"{setting.prefix}.{setting.place}", setting.n, "n"
    if drawn_rows.SAMPLED in result.notes:
        n = int(result.n)
        size = shares.enter_drawn(setting.ledger, f"{start}.", n)
    releases: list[Tree] = []
    for j, figures in enumerate(result.per_release, 1):
        leaves: dict[str, Tree] = {"n_attacks": Count(size), "exact": InternalOnly(rates.finite(figures))}
        leaves["baseline_rate"] = common_blocks.value_leaf(setting.ledger, f"{start}.{j}.baseline", figures["baseline"])
        if not math.isnan(figures["rate"]):
            leaves |= rates.enter_tally(setting.ledger, f"{start}.{j}.", "", figures["rate"] * n, n)
        releases.append(leaves)
    notes = tuple(dict.fromkeys(text for name, text in result.notes.items() if name != "precision"))
    exact = rates.exact_of(result, verdict=_verdict(result), notes=notes, weights=_weights(result))
    return {"releases": tuple(releases), "exact": exact}


def _verdict(result: Any) -> str:
    between = f"between {result.rate_low:.1%} and {result.rate_high:.1%}"
    sentence = (
        f"{result.rate:.1%} of the released records are linked to the right person ({between}), "
        f"{result.baseline:.1%} by guessing. "
    )
    if not result.n_links:
        return sentence + "No pair is called a match."
    return sentence + f"Of the pairs called a match {result.precision:.1%} are right."


def _weights(result: Any) -> Tree:
    """Precision and recall at up to eight thresholds of the weight, evenly spread over those with different pairs."""
    rows = [row for row in frames.rows_of(result.scores) if row["release"] == 1]
    changed = [row for i, row in enumerate(rows) if i == 0 or row["pairs"] != rows[i - 1]["pairs"]]
    step = (len(changed) - 1) / (MOST_ROWS - 1)
    some = changed if step <= 1 else [changed[round(i * step)] for i in range(MOST_ROWS)]
    names = ("weight", "pairs", "right", "precision", "recall")
    return tuple({name: float(row[name]) for name in names} for row in some)


def judged(release: view.Plain) -> Judged:
    """Judge one release; without a control group."""
    compared = {"text": "not compared", "value": None}
    shown = {"success_rate": UNDEFINED, **release, "control_rate": compared, RESIDUAL: compared}
    n = number_of(release["n_attacks"])
    links = seen(release, "", n)
    if links is None:
        withheld = "successes" in release or "failures" in release
        return 0, "the number of links is withheld" if withheld else "no attack could be made", shown
    shown["success_rate"] = rate_leaf(links, n)
    better = wilson(links.middle, n).low > (release["baseline_rate"]["value"] or 0.0)
    if (exact := release.get("exact")) is not None:
        shown["success_rate"] = leaf_with_ends(exact["rate"], exact["rate_low"], exact["rate_high"], exact=True)
        better = exact["rate_low"] > exact["baseline"]
    elif links.few:
        return 2, FEW, shown
    return (4, RIGHT, shown) if better else (1, GUESSING, shown)


CONCLUDE = partial(concluded, judged)


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table and chart of the links beside guessing."""
    attack = plain[place] if "means" in plain[place] else CONCLUDE(plain[place])
    name = rates.attack_name(place)
    table = rates.rates_table({name: attack}, name, control=False)
    means = Paragraph(rates.meaning_of(attack))
    return [table, rates.rate_bars(name, attack, compared=False), means, *details(attack, name)]


def details(tree: view.Plain, name: str) -> list[Block]:
    """Precision and recall of the pairs called a match, and by threshold of the weight."""
    exact = tree.get("exact")
    if not exact:
        return []
    links, pairs = ("–" if exact[name] is None else f"{exact[name]:,.0f}" for name in ("n_links", "n_pairs"))
    parts = [f"{links} of {pairs} pairs compared are called a match"]
    parts += [f"{figure} {_share(exact[figure])}" for figure in ("precision", "recall")]
    laid: list[Block] = [Paragraph(f"{name}: {'; '.join(parts)}.", "note")]
    if exact["weights"]:
        names = ("weight", "pairs", "right")
        rows = tuple(
            (*(f"{row[name]:,.0f}" for name in names), _share(row["precision"]), _share(row["recall"]))
            for row in exact["weights"]
        )
        which = ", release 1" if len(tree["releases"]) > 1 else ""
        heads = ("Weight at least", "Pairs", "Right", "Precision", "Recall")
        laid.append(TableBlock(f"How sure can the intruder be?{which}", heads, rows, (0, 1, 2, 3, 4)))
    return [*laid, *rates.detail_blocks(tree, name)]


def _share(rate: float | None) -> str:
    return "–" if rate is None else rates.percent({"text": f"{rate:.6g}", "value": rate})


VIEW = rates.AttackView(
    rates.ATTACKS, tree, blocks, view.noted("probabilistic_linkage"), conclude=CONCLUDE, details=details,
    named=lambda intruder: ("Linking records despite slips", intruder), residual=False,
)  # fmt: skip
