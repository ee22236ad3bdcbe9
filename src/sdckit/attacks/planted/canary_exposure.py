"""What a release gives away of records planted in its training file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.planted.canary_rates import auc_interval, exposures, stand_out
from sdckit.cells.pair import PairResult, mean_figures, open_pair
from sdckit.numerics.array_types import Floats
from sdckit.numerics.coding import gower
from sdckit.numerics.intervals import excess, wilson
from sdckit.numerics.search.neighbours import prepare

MISSING_RULE = "a missing value is 0 from a missing one, and from any other as far as two values can be"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CanaryExposure(PairResult):
    """How much nearer a release comes to planted records than to such that were held back. Means over releases.

    Attributes
    ----------
    n_planted, n_held_out : int
    auc, auc_low, auc_high : float
        How often a planted record is nearer to the release than one held back: 1/2 without memory, 1 where
        every planted one stands out; with its interval.
    p_value : float
        Probability of so much without memory.
    mean_exposure, largest_exposure : float
        Bits of a planted record's rank among those held back; ``exposure_by_chance`` without memory.
    exposure_by_chance, most_exposure : float
        Its mean without memory, and its largest value.
    recovered, recovered_low, recovered_high : float
        Share of the planted records that the release has to the letter, with its Wilson interval.
    recovered_by_chance : float
        The same of those held back.
    risk, risk_low, risk_high : float
        What planting adds, (recovered - by chance) / (1 - by chance), cut off at 0, with its score interval.
    verdict : str
        What the figures mean.
    level : float
        Confidence of the intervals.
    records : frame
        A row per canary: ``planted`` (1 or 0), ``distance`` to the release, ``exposure`` of planted ones.
    """

    measure: ClassVar[str] = "canaries"
    figures: ClassVar[tuple[str, ...]] = (
        "n_planted", "n_held_out", "auc", "auc_low", "auc_high", "p_value", "mean_exposure", "largest_exposure",
        "exposure_by_chance", "most_exposure", "recovered", "recovered_low", "recovered_high", "recovered_by_chance",
        "risk", "risk_low", "risk_high",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "columns")
    n_planted: int
    n_held_out: int
    auc: float
    auc_low: float
    auc_high: float
    p_value: float
    mean_exposure: float
    largest_exposure: float
    exposure_by_chance: float
    most_exposure: float
    recovered: float
    recovered_low: float
    recovered_high: float
    recovered_by_chance: float
    risk: float
    risk_low: float
    risk_high: float
    verdict: str
    level: float
    columns: dict[str, Floats] = field(repr=False)

    @property
    def records(self) -> Any:
        """A row per canary, the planted ones first."""
        return self.pair.records(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with the verdict."""
        return {**super().to_dict(), "verdict": self.verdict, "level": self.level}


def canary_exposure(
    canaries: Any,
    released: Any,
    *,
    n_planted: int,
    numbers: Sequence[str],
    categories: Sequence[str],
    ranges: Floats,
    level: float,
) -> CanaryExposure:
    """Measure canaries, the planted ones first, against one or m releases."""
    pair = open_pair(canaries, released, categories={"variables": [*numbers, *categories]}, attack=True)
    canary, *releases = gower(
        [pair.days(name) for name in numbers], [pair.codes(name).codes for name in categories], ranges=ranges
    )
    notes: dict[str, str] = {}
    distances = [prepare(one).nearest(canary, 1).distance[:, 0] for one in releases]
    tolerance = canary.metric.tolerance
    per_release = [_figures(one[:n_planted], one[n_planted:], tolerance, level) for one in distances]
    if pair.m > 1:
        notes["intervals"] = "their ends are means over the releases"
    figures = mean_figures(per_release, notes)
    bits = [exposures(one[:n_planted], one[n_planted:], tolerance) for one in distances]
    n_held_out = pair.n - n_planted
    columns = {
        "planted": np.repeat([1.0, 0.0], [n_planted, n_held_out]),
        "distance": np.mean(distances, axis=0),
        "exposure": np.concatenate([np.mean(bits, axis=0), np.full(n_held_out, math.nan)]),
    }
    return CanaryExposure(
        pair=pair, per_release=tuple(per_release), missing_rule=MISSING_RULE, notes=notes, n_planted=n_planted,
        n_held_out=n_held_out, **figures, verdict=verdict(figures), level=level, columns=columns,
    )  # fmt: skip


def _figures(planted: Floats, held_out: Floats, tolerance: float, level: float) -> dict[str, float]:
    auc, p_value = stand_out(planted, held_out, tolerance)
    low, high = auc_interval(auc, len(planted), len(held_out), level)
    bits = exposures(planted, held_out, tolerance)
    most = math.log2(len(held_out) + 1)
    found, others = (int((one <= tolerance).sum()) for one in (planted, held_out))
    own = wilson(found, len(planted), level)
    risk, risk_low, risk_high = (
        max(value, 0.0) for value in excess(found, len(planted), others, len(held_out), level)
    )
    return {
        "auc": auc, "auc_low": low, "auc_high": high, "p_value": p_value, "mean_exposure": float(bits.mean()),
        "largest_exposure": float(bits.max()),
        "exposure_by_chance": most - float(np.log2(np.arange(1, len(held_out) + 2)).mean()),
        "most_exposure": most, "recovered": found / len(planted), "recovered_low": own.low,
        "recovered_high": own.high, "recovered_by_chance": others / len(held_out), "risk": risk,
        "risk_low": risk_low, "risk_high": risk_high,
    }  # fmt: skip


def verdict(figures: Mapping[str, float]) -> str:
    """Say what the figures mean.

    Examples
    --------
    >>> verdict({"auc": 0.9, "auc_low": 0.8, "auc_high": 1.0, "recovered": 0.0})[:45]
    'The release remembers: a planted record is ne'
    """
    pairs = f"{figures['auc']:.1%} of the pairs ({figures['auc_low']:.1%} to {figures['auc_high']:.1%})"
    start = f"a planted record is nearer to the release than one held back in {pairs}"
    if figures["auc_low"] > 0.5:
        return f"The release remembers: {start}; {figures['recovered']:.1%} of them are in it to the letter."
    return (
        f"No sign of memory: {start}, where 50 % is chance. That holds for records as odd as these, and does not "
        "rule out what lies within the interval."
    )
