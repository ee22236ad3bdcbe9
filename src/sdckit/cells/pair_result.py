"""`PairResult`: base class of the results that compare releases with their original: figures per release, and means."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sdckit.cells.pair import Pair
from sdckit.result import LetGo, Result, json_ready


@dataclass(frozen=True, eq=False, repr=False)
class PairResult(Result):
    """Base of the results on two files.

    A subclass is a frozen dataclass with `measure` and `figures`; every figure that differs between
    releases stands in `per_release`, and the attribute of the same name is the mean over the releases.

    Attributes
    ----------
    pair : Pair
        The files; dropped when the result is pickled.
    per_release : tuple of dict of str to float
        The figures of each release.
    missing_rule : str
        What a missing value was taken for, in words; "" where the measure has none.
    notes : dict of str to str
        Why a figure is undefined, and what else a reader must know.
    """

    dropped: ClassVar[tuple[str, ...]] = ("pair",)
    pair: Pair = field(repr=False)
    per_release: tuple[dict[str, float], ...]
    missing_rule: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def m(self) -> int:
        """Releases."""
        return len(self.per_release)

    @property
    def by_release(self) -> Any:
        """The figures of each release as a frame (``release`` from 1, and a column per figure)."""
        columns: dict[str, list[Any]] = {"release": list(range(1, self.m + 1))}
        for name in self.per_release[0]:
            columns[name] = [figures[name] for figures in self.per_release]
        return self.pair.table(columns)

    @property
    def spread(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest figure over the releases."""
        out = {}
        for name in self.per_release[0]:
            known = [figures[name] for figures in self.per_release if not math.isnan(figures[name])]
            out[name] = (min(known), max(known)) if known else (math.nan, math.nan)
        return out

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, those of each release under ``by_release``."""
        return {**super().to_dict(), "m": self.m, "by_release": json_ready(self.per_release)}

    def _backend(self) -> Any:
        return "pyarrow" if isinstance(self.pair, LetGo) else self.pair.backend

    def _rule(self) -> str:
        return self.missing_rule


def mean_figures(per_release: Sequence[Mapping[str, float]], notes: dict[str, str] | None = None) -> dict[str, float]:
    """Mean of each figure over the releases where it is defined; a note is added to `notes` if it is not in all.

    >>> notes = {}
    >>> mean_figures([{"rate": 0.5}, {"rate": float("nan")}], notes), notes
    ({'rate': 0.5}, {'rate': 'mean over the 1 of 2 releases where it is defined'})
    """
    out = {}
    for name in per_release[0]:
        known = [float(figures[name]) for figures in per_release if not math.isnan(figures[name])]
        out[name] = math.fsum(known) / len(known) if known else math.nan
        if known and len(known) < len(per_release) and notes is not None:
            notes.setdefault(name, f"mean over the {len(known)} of {len(per_release)} releases where it is defined")
    return out
