"""Simulated attacks in a document: rates side by side, what they mean, what was not done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, Paragraph, TableBlock

__all__ = ["attack_blocks", "attack_name", "percent"]

Plain = Mapping[str, Any]
NAMES = {
    "singling_out": "Singling out",
    "linkability": "Linking two pieces of knowledge",
    "probabilistic_linkage": "Linking records despite slips",
    "inference": "Inferring",
    "membership": "Telling who is in the file",
    "distance_to_closest_record": "Distances",
}
MODES = {"univariate": "by one column", "multivariate": "by several columns"}
NEAR = {
    "copies": "released records equal to an original",
    "copies_of_control": "released records equal to a record never in the file",
    "hitting_rate": "originals hit by a released record",
    "hitting_rate_control": "records never in the file hit by a released record",
    "identifiability": "originals nearer to a released record than to another original",
    "share_closer_to_original": "released records nearest to an original",
    "expected_share": "the same, if the file did not matter",
    "chance_high": "the same, at most by chance",
}
ABOUT = (
    "Simulated intruders attack the people in the file with the release in hand, and people who were never in it in "
    "the same way. What succeeds on the first and fails on the others is the release's doing; what guessing achieves "
    "needs no release."
)
ALONE = (
    "Simulated intruders attack the people in the file with the release in hand. Without a control file of people "
    "never in it, what holds for anybody cannot be told from what the release gives away."
)


def attack_blocks(tree: Plain, *, several: bool) -> list[Block]:
    """Lay out the attacks; nothing is computed here. `several` says that there are several intruders."""
    blocks: list[Block] = [Paragraph(ABOUT if tree["control"] else ALONE)]
    if tree["attacks"]:
        blocks.append(_rates(tree, several=several))
        rows = tuple(
            (attack_name(place, several=several), _means(one)) for place, one in tree["attacks"].items()
        )
        blocks.append(TableBlock("What the attacks mean", ("Attack", "Meaning"), rows))
    if tree["distances"] is not None:
        blocks += _distances(tree["distances"])
    if tree["skipped"]:
        rows = tuple((attack_name(row["measure"], several=several), row["reason"]) for row in tree["skipped"])
        blocks.append(TableBlock("Attacks not made, and why", ("Attack", "Reason"), rows))
    return blocks


def attack_name(place: str, *, several: bool = False) -> str:
    """The name of an attack in words.

    Examples
    --------
    >>> attack_name("inference:default:income"), attack_name("linkability:neighbour", several=True)
    ('Inferring income', 'Linking two pieces of knowledge (neighbour)')
    """
    kind, _, rest = place.partition(":")
    if kind == "singling_out":
        return f"{NAMES[kind]} {MODES[rest]}"
    intruder, _, variable = rest.partition(":")
    told = f"{NAMES[kind]} {variable}".strip()
    return f"{told} ({intruder})" if several and intruder else told


def _rates(tree: Plain, *, several: bool) -> TableBlock:
    rows: list[tuple[str, ...]] = []
    for place, one in tree["attacks"].items():
        for j, release in enumerate(one["releases"], 1):
            name = attack_name(place, several=several)
            number = f", release {j}" if len(one["releases"]) > 1 else ""
            parts = [
                "n_attacks",
                "success_rate",
                "baseline_rate",
                *(["control_rate"] if tree["control"] else []),
            ]
            risk = [one["residual_risk"]["text"] if j == 1 else ""] if tree["control"] else []
            rows.append((name + number, *_texts(release, parts), *risk))
    heads: tuple[str, ...] = ("Attack", "Attempts", "Succeed", "By guessing")
    if tree["control"]:
        releases = max(len(one["releases"]) for one in tree["attacks"].values())
        risk_head = "Residual risk" if releases == 1 else "Residual risk, mean"
        heads = (*heads, "Never in it", risk_head)
    return TableBlock("Attacks that succeed", heads, tuple(rows), tuple(range(1, len(heads))))


def _means(one: Plain) -> str:
    exact = one.get("exact")
    return str(exact["verdict"]) if exact else f"{one['means'][:1].upper()}{one['means'][1:]}."


def _distances(tree: Plain) -> list[Block]:
    releases = tree["releases"]
    rows = tuple(
        (words, *(percent(release[name]) for release in releases))
        for name, words in NEAR.items()
        if name in releases[0]
    )
    heads = (
        "Share",
        *(["Release"] if len(releases) == 1 else [f"Release {j}" for j in range(1, len(releases) + 1)]),
    )
    table = TableBlock("Records near to the other file", heads, rows, tuple(range(1, len(heads))))
    return [table, Paragraph(_means(tree))]


def percent(leaf: Plain) -> str:
    """A share as printed, in per cent: no table has some of its shares in per cent and others in decimals.

    Examples
    --------
    >>> percent({"text": "<0.048", "value": None, "below": 0.048}), percent({"text": "0.19", "value": 0.19})
    ('<4.8 %', '19 %')
    """
    text = str(leaf["text"])
    if "%" in text or (leaf["value"] is None and leaf.get("below") is None):
        return text
    below = "<" if text.startswith("<") else ""
    return f"{below}{100 * float(text.removeprefix('<').replace(',', '')):.3g} %"


def _texts(row: Plain, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(row[name]["text"] if name == "n_attacks" else percent(row[name]) for name in names)
