"""What a release and its original tell together, as typed figures: matching back, and learning."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from sdckit.data.frames import rows_of
from sdckit.report.figures import Count, Foreign, Ledger, Ratio, Share, Tree
from sdckit.report.protocols import ReleaseIntruderLike

__all__ = [
    "FIGURES",
    "HEADS",
    "Figure",
    "release_measure_tree",
    "release_sizes",
    "release_tree",
    "shown",
    "undefined",
]

Base = Literal["n", "released", ""]
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Figure:
    """One figure of a measure of two files, as it goes into a document.

    Parameters
    ----------
    name
        The figure's name in the result, and of its place in the document.
    words
        What it is called in a table.
    base
        What it is a share of: ``"n"`` records of the original, ``"released"`` records of the release, or ""
        for a number of records of the original.
    whole
        Whether share times base is a whole number of records; an expected number otherwise.
    inside
        A figure that contains this one.
    beside
        A figure without which this one is none of these shares.
    """

    name: str
    words: str
    base: str = "n"
    whole: bool = True
    inside: str = ""
    beside: str = ""


# What the table of a measure is called; {} stands for the sensitive variable.
HEADS = {
    "matching_risk": "Rows matched back by their keys",
    "identity_disclosure": "Uniques of the original in the release",
    "record_linkage": "Records linked to their nearest neighbour",
    "interval_risk": "Numbers close to the original",
    "robust_interval_risk": "Numbers close to the original, outliers apart",
    "correct_attribution_probability": "Correct attribution of {}",
    "attribute_disclosure": "Disclosure of {}",
    "prediction_risk": "Prediction of {}",
}
FIGURES: Mapping[str, tuple[Figure, ...]] = {
    "matching_risk": (
        Figure("mean_match_risk", "records expected to be matched back", whole=False),
        Figure("unique_matches", "records with a single match (number)", base=""),
        Figure("true_match_rate", "records whose single match is the right one", inside="unique_matches"),
    ),
    "identity_disclosure": (
        Figure("unique_in_original", "records unique in the original"),
        Figure("unique_in_released", "released records unique in the release", base="released"),
        Figure(
            "unique_in_original_in_released", "unique in the original and found in the release",
            inside="unique_in_original",
        ),
        Figure("replicated_uniques", "unique in both files", inside="unique_in_original_in_released"),
    ),
    "record_linkage": (
        Figure("rate", "released records whose nearest original is the right one", base="released", whole=False),
    ),
    "interval_risk": (Figure("rate", "records with every number close to the released one"),),
    "robust_interval_risk": (
        Figure("rate", "records with a number close to the released one, as their distance goes"),
        Figure("isolated_rate", "of these, released records that stand alone", inside="rate"),
    ),
    "correct_attribution_probability": (
        Figure("average", "attributed correctly from the release", whole=False),
        Figure("original_average", "attributed correctly from the original itself", whole=False),
        Figure("baseline", "attributed correctly by guessing from the margin", whole=False),
    ),
    "attribute_disclosure": (
        Figure("disclosive_in_original", "in original groups with one value only"),
        Figure("keys_in_released", "records whose keys are in the release"),
        Figure("disclosed", "value disclosed by the release", inside="keys_in_released"),
        Figure("correctly_disclosed", "value disclosed, and correctly", inside="disclosed"),
        Figure("disclosed_and_disclosive", "disclosed, correctly, and already in the original",
               inside="correctly_disclosed"),
    ),
    "prediction_risk": (
        Figure("accuracy_released", "predicted correctly by a model of the release"),
        Figure("accuracy_original", "predicted correctly by a model of the original"),
        Figure("baseline", "predicted correctly by the most frequent value",
               beside="accuracy_released"),
        Figure("share_less_accurate", "predicted worse from the release than from the original"),
    ),
}  # fmt: skip


def release_sizes(ledger: Ledger, sizes: Sequence[int]) -> tuple[Count, ...]:
    """Enter the records of each release."""
    return tuple(ledger.count(f"n.released.{j}", size, "n") for j, size in enumerate(sizes, 1))


def release_tree(
    one: ReleaseIntruderLike, number: int, ledger: Ledger, sizes: Sequence[int]
) -> dict[str, Tree]:
    """Give the measures of two files against one intruder.

    Parameters
    ----------
    one
        The measures.
    number
        Of the intruder, for the names of variables.
    ledger
        With ``n`` and the sizes of the releases entered.
    sizes
        Records of each release.
    """
    measures: dict[str, Tree] = {}
    for place, result in one.measures.items():
        measure = place.partition(":")[0]
        if measure in FIGURES:
            measures[place] = release_measure_tree(measure, place, result, f"c{number}", ledger, sizes)
    return {
        "name": one.name,
        "keys": tuple(one.keys),
        "measures": measures,
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in one.skipped),
    }


def shown(one: Figure, figures: Mapping[str, float]) -> bool:
    """Whether a figure of a release is defined, and a share of the kind its words say.

    Examples
    --------
    >>> shown(FIGURES["matching_risk"][0], {"mean_match_risk": 0.2}), shown(FIGURES["matching_risk"][0], {})
    (True, False)
    """
    names = (one.name, one.beside) if one.beside else (one.name,)
    return not any(math.isnan(figures.get(name, math.nan)) for name in names)


def undefined(per_release: Sequence[Mapping[str, float]]) -> set[str]:
    """The figures that no release has: why is no news where a measure has figures of another kind.

    Examples
    --------
    >>> undefined([{"accuracy": 0.5, "mse": float("nan")}])
    {'mse'}
    """
    return {name for name in per_release[0] if all(math.isnan(one[name]) for one in per_release)}


def release_measure_tree(
    measure: str, place: str, result: Any, prefix: str, ledger: Ledger, sizes: Sequence[int]
) -> dict[str, Tree]:
    """Give the figures of one measure, release by release."""
    n = int(ledger.variables["n"].true or 0)
    releases: list[Tree] = []
    for j, figures in enumerate(result.per_release, 1):
        start = f"{prefix}.{place}.{j}."
        bases = {"n": ("n", n), "released": (f"n.released.{j}", sizes[j - 1])}
        tree: dict[str, Tree] = {}
        for one in FIGURES[measure]:
            if shown(one, figures):
                tree[one.name] = _leaf(one, figures[one.name], start, bases, ledger)
        releases.append(tree)
    hidden = undefined(result.per_release)
    notes = {str(name): Foreign(str(text)) for name, text in result.notes.items() if name not in hidden}
    whole: dict[str, Tree] = {"releases": tuple(releases), "notes": notes}
    if measure == "correct_attribution_probability":
        whole["distribution"] = _distribution(
            EDGES, result.cap_histogram(EDGES), f"{prefix}.{place}.bin", ledger, whole="n"
        )
    elif measure == "prediction_risk":
        rows = rows_of(result.before_after())
        edges = (*(float(row["low"]) for row in rows), float(rows[-1]["high"]))
        counts = [[int(row[side]) for row in rows] for side in ("original", "released")]
        whole["distribution"] = _distribution(edges, counts, f"{prefix}.{place}.bin", ledger)
        whole["numeric"] = bool(result.numeric)
    return whole


def _distribution(
    edges: Sequence[float], counts: Sequence[Sequence[int]], start: str, ledger: Ledger, *, whole: str = ""
) -> tuple[Tree, ...]:
    """Records in fixed bins, from the original itself and from the release."""
    rows: list[Tree] = []
    names: dict[str, list[str]] = {"original": [], "released": []}
    for number, (low, high) in enumerate(pairwise(edges)):
        leaves: dict[str, Tree] = {}
        for side, found in zip(names, counts, strict=True):
            leaf = ledger.count(f"{start}.{side}.{number}", int(found[number]), f"{start}.{side}")
            names[side].append(leaf.name)
            leaves[side] = leaf
        rows.append({"from": low, "to": high if math.isfinite(high) else None, **leaves})
    for parts in names.values() if whole else ():
        ledger.equal(whole, *parts)
    return tuple(rows)


def _leaf(
    one: Figure, value: float, start: str, bases: Mapping[str, tuple[str, int]], ledger: Ledger
) -> Tree:
    base, size = bases[one.base or "n"]
    name = start + one.name
    if one.whole:
        count = ledger.count(name, round(value * size if one.base else value), start)
        ledger.nested(base, count.name)
        if one.inside:
            ledger.nested(start + one.inside, count.name)
        return Share(count.name, base) if one.base else count
    ledger.value(name, value * size, f"{name}.value", kind="sum")
    return Ratio(name, base)
