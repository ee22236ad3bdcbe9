"""View of distances to the closest record: shares of records near to the other file."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from sdckit.attacks.attack_rates import EVERY
from sdckit.data.frames import rows_of
from sdckit.report import rates
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.common_blocks import bars, four_digits, share_leaf, value_leaf
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import by_release, enter_drawn, release_heads
from sdckit.report.view import Plain, noted

CAPTION = "Records near to the other file"
NEAR = {
    "copies": "released records equal to an original",
    "copies_of_control": "released records equal to a record never in the file",
    "hitting_rate": "originals hit by a released record",
    "hitting_rate_control": "records never in the file hit by a released record",
    "identifiability": "originals nearer to a released record than to another original",
    "share_closer_to_original": "released records nearest to an original",
    "expected_share": "released records nearest to an original, if it made no difference who was in the file",
    "chance_high": "released records nearest to an original, at most by chance",
}
DISTANCES = (
    ("released record to the closest (median)", "dcr_released_to_original", "dcr_released_to_control"),
    ("random record to the closest (median)", "dcr_random_to_original", ""),
    ("released over random, at most 1", "baseline_protection", ""),
    ("record to the closest released (median)", "dcr_original_to_released", "dcr_control_to_released"),
    ("the same over the second closest", "nndr_original_to_released", "nndr_control_to_released"),
    ("nearer to a released than to another", "identifiability", "identifiability_control"),
    ("adversarial accuracy", "adversarial_accuracy", "adversarial_accuracy_control"),
)
GROUPS = (
    ("originals", "n"),
    ("median distance", "dcr_original_to_released"),
    ("hit", "hitting_rate"),
    ("nearer than another", "identifiability"),
    ("nearest to an original", "share_closer_to_original"),
)
# What is a share of the records; the others are distances and numbers.
SHARES = {
    "hitting_rate", "identifiability", "identifiability_control", "share_closer_to_original", "adversarial_accuracy",
    "adversarial_accuracy_control",
}  # fmt: skip


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter shares of records near to the other file; medians and quantiles are confidential."""
    ledger, prefix, control = setting.ledger, setting.prefix, result.n_control > 0
    if control:
        ledger.count(f"{prefix}.n_control", int(result.n_control), f"{prefix}.n_control")
    releases: list[Tree] = []
    for j, figures in enumerate(result.per_release, 1):
        start = f"{prefix}.{setting.place}.{j}."
        original, released, others = "n", f"n.released.{j}", f"{prefix}.n_control"
        if result.drawn is not None:
            files = (
                ("original", original, 0, result.n), ("released", released, j, setting.sizes[j - 1]),
                ("control", others, -1, result.n_control),
            )  # fmt: skip
            original, released, others = (
                enter_drawn(ledger, f"{start}{file}.", n) if (n := len(result.drawn.of(at))) < size else whole
                for file, whole, at, size in files  # whose own number is protected where nobody is left out
            )
        bases = {"copies": released, "hitting_rate": original, "identifiability": original}
        if control:
            bases |= {"copies_of_control": released, "hitting_rate_control": others}
            bases["share_closer_to_original"] = released
        leaves = {name: share_leaf(ledger, start + name, figures[name], base) for name, base in bases.items()}
        if control:
            for name in ("expected_share", "chance_high"):
                leaves[name] = value_leaf(ledger, start + name, figures[name])
        releases.append(leaves)
    undefined = {name for name in result.figures if math.isnan(getattr(result, name))} | {"intervals"}
    notes = (text for name, text in result.notes.items() if name not in undefined)
    ends = {name: both for name, both in result.intervals.items() if not any(map(math.isnan, both))}
    exact = rates.exact_of(result, notes=tuple(dict.fromkeys(notes)), groups=_groups(result), intervals=ends)
    return {"releases": tuple(releases), "exact": exact}


def _groups(result: Any) -> Tree:
    names = list(result.groups)
    by = names[1 : names.index("n")] if "n" in names else []
    if not by:
        return None
    shown = [name for _, name in GROUPS if name != "share_closer_to_original" or result.n_control]
    return {
        "by": tuple(by),
        "rows": tuple(
            {
                "labels": tuple(str(row[name]) for name in by),
                "release": int(row["release"]),
                **{name: None if math.isnan(row[name]) else float(row[name]) for name in shown},
            }
            for row in sorted(rows_of(result.by_group), key=_nearest_first)
        ),
    }


def _nearest_first(row: Plain) -> float:
    distance = float(row["dcr_original_to_released"])
    return math.inf if math.isnan(distance) else distance


def conclude(tree: Plain) -> dict[str, Any]:
    """Add ``means``: what the distances of the worst release say."""
    return {**tree, "means": _words(tree["releases"])}


def _words(releases: Sequence[Plain]) -> str:
    if not any("share_closer_to_original" in release for release in releases):
        return "without a control file no distance tells copying from resemblance"
    for release in releases:
        share, chance = release["share_closer_to_original"]["value"], release["chance_high"]["value"]
        if share is not None and chance is not None and share > chance:
            return "released records are nearer to the people in the file than chance allows"
    return "no sign that the release as a whole is nearer to the people in it; single records may be copied"


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of the shares, and what they mean."""
    attack = plain[place] if "means" in plain[place] else conclude(plain[place])
    releases = attack["releases"]
    names = [name for name in NEAR if name in releases[0]]
    shares = {name: [release[name] | {"text": rates.percent(release[name])} for release in releases] for name in names}
    rows = tuple((NEAR[name], *by_release(leaves)) for name, leaves in shares.items())
    heads = ("Share", *release_heads(len(releases)))
    again = rates.EVERY_COLUMN if place.endswith(f":{EVERY}") else ""
    return [
        TableBlock(CAPTION + again, heads, rows, tuple(range(1, len(heads)))),
        bars(CAPTION + again, "of the records", ((NEAR[name], releases[0][name]) for name in names), aside=True),
        Paragraph(rates.meaning_of(attack)),
        *details(attack, again),
    ]


def details(tree: Plain, again: str = "") -> list[Block]:
    """Medians, notes and subgroups, for a confidential document."""
    exact = tree.get("exact")
    if not exact:
        return []
    heads = ("From a", "original", *(["control"] if (exact["n_control"] or 0) > 0 else []))
    rows = tuple(
        (words, *(_with_ends(name, exact) if name else "–" for name in (own, other)[: len(heads) - 1]))
        for words, own, other in DISTANCES
    )
    caption = f"Distances between released and real records{again}"
    table = TableBlock(caption, heads, rows, tuple(range(1, len(heads))))
    first = exact["groups"]["rows"][0] if exact["groups"] else {}
    columns = [(head, partial(_of, name)) for head, name in GROUPS if name in first]
    return [
        table,
        *rates.detail_blocks(tree, f"distances{again}"),
        *rates.group_blocks(tree, f"distances{again}", columns),
    ]


def _of(name: str, row: Plain) -> str:
    return rates.share_words(row[name]) if name in SHARES else four_digits(row[name])


def _with_ends(name: str, row: Plain) -> str:
    """A figure with its interval, where it is of records drawn."""
    ends = row["intervals"].get(name)
    write = rates.share_words if name in SHARES else four_digits
    return _of(name, row) + (f" ({write(ends[0])} to {write(ends[1])})" if ends else "")


VIEW = rates.AttackView(
    rates.ATTACKS, tree, blocks, noted("distance_to_closest_record"), named=lambda _: ("Distances", ""),
    conclude=conclude, residual=False, apart="distances",
)  # fmt: skip
