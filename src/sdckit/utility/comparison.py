"""Estimates from an original compared with those from its releases: intervals, overlap, agreement."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.pair_result import PairResult
from sdckit.data import arguments, frames
from sdckit.display import same_note
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats
from sdckit.result import json_ready
from sdckit.utility.models import combine, interval_overlap, model_design

# Rounding of published numbers that count records.


def rounded_up(step: float) -> float:
    """The next larger of 1, 2 and 5 times a power of ten; 0 for a step of 0 or none.

    >>> rounded_up(0.031), rounded_up(0.0)
    (0.05, 0.0)
    """
    if not (step > 0 and math.isfinite(step)):
        return 0.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(many * power for many in (1, 2, 5, 10) if many * power >= step * (1 - 1e-9))


def in_steps(value: float, step: float) -> float:
    """Round a number to a multiple of the step; unchanged where the step is 0.

    >>> in_steps(-1.37, 0.5), in_steps(-1.37, 0.0)
    (-1.5, -1.37)
    """
    if step == 0 or not math.isfinite(value):
        return value
    return round(round(value / step) * step, 12) + 0.0


def stepped(value: float, low: float, high: float, step: float) -> tuple[float, float, float]:
    """Round an estimate and its interval: the bounds follow from the rounded estimate and half the width.

    Each rounded by itself would be three looks at the same count.

    >>> stepped(0.93, 0.41, 1.45, 0.2), stepped(0.93, 0.41, 1.45, 0.0)
    ((1.0, 0.4, 1.6), (0.93, 0.41, 1.45))
    """
    if step == 0:
        return value, low, high
    middle, half = in_steps(value, step), max(step, in_steps((high - low) / 2, step))
    return middle, round(middle - half, 12), round(middle + half, 12)


CompareKind = Literal["observed", "partial", "full", "simple", "proper", "imputed"]
FIGURES = (
    "n_terms", "mean_overlap", "min_overlap", "mean_standardised_difference", "max_standardised_difference",
    "sign_agreement", "significance_agreement",
)  # fmt: skip
SHOWN = 5  # terms named in a note


@dataclass(frozen=True, eq=False)
class FileEstimates:
    """Estimates of p quantities from one file.

    `value`, `variance` and `df` (p,): NaN where the file does not determine the quantity; `df` infinite for normal
    quantiles. `n_used`: records it rests on. `covariance` (p, p) or None.
    """

    value: Floats
    variance: Floats
    df: Floats
    n_used: int
    covariance: Floats | None = None
    few: Bools | None = None
    few_spread: Bools | None = None
    steps: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TermComparison(PairResult):
    """Base of the comparisons of estimates; see `compare_estimates` and `compare_models`.

    `told`: the terms' names without levels of fewer than five records, as `to_dict` and a pickled result have them.
    `few`, `few_spread`: terms whose estimate, or its standard error, rests on fewer than five records of a file.
    `steps`: what five records change of a term that counts them; 0 of another.
    """

    dropped: ClassVar[tuple[str, ...]] = ("pair",)
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    drawn: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    told: tuple[str, ...] = ()
    few: tuple[bool, ...] = ()
    few_spread: tuple[bool, ...] = ()
    steps: tuple[float, ...] = ()
    version: interval_overlap.Version = "snoke"
    kind: CompareKind = "observed"
    level: float = 0.95
    n: int = 0
    n_terms: int = 0
    mean_overlap: float = math.nan
    min_overlap: float = math.nan
    mean_standardised_difference: float = math.nan
    max_standardised_difference: float = math.nan
    sign_agreement: float = math.nan
    significance_agreement: float = math.nan

    @property
    def table(self) -> Any:
        """A row per term, in the caller's frame type."""
        return frames.frame_of(self.columns, self._backend())

    def forest(self) -> Any:
        """The rows of a forest plot: ``term``, ``file``, ``estimate``, ``low``, ``high``, file by file."""
        return frames.frame_of(self.drawn, self._backend())

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with a row per term under ``terms``; rare levels are not named."""
        hidden = self._hidden()
        columns = hidden["columns"]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {
            **super().to_dict(), "by_release": json_ready(hidden["per_release"]), "kind": self.kind,
            "level": self.level, "terms": json_ready(rows),
        }  # fmt: skip

    def over_told(self) -> dict[str, float]:
        """The figures over the terms that may be published, from their numbers as published."""
        kept = ~np.array(self.few_spread, bool)
        columns = {name: np.array(values, np.float64)[kept] for name, values in self.told_columns.items()}
        return {"n_terms": float(kept.sum()), **_figures(columns)}

    @property
    def told_columns(self) -> dict[str, list[float]]:
        """The columns of the table as they may be published: record counts rounded, and overlaps that follow."""
        out = {name: list(values) for name, values in self.columns.items() if name != "term"}
        for j, step in enumerate(self.steps):
            if step == 0:
                continue
            ends = []
            for file in ("original", "released"):
                names = [f"{part}_{file}" for part in ("estimate", "low", "high")]
                value, low, high = (out[name][j] for name in names)
                rounded = stepped(value, low, high, step)
                ends.append(np.array([rounded[1:]]))
                for name, number in zip(names, rounded, strict=True):
                    out[name][j] = number
            out["overlap"][j] = float(interval_overlap.shared_part(ends[0], ends[1], self.version, self.level)[0])
        return out

    @property
    def told_drawn(self) -> list[tuple[float, float, float]]:
        """Estimate and bounds of every row of `forest` as they may be published."""
        rows = list(zip(self.drawn["estimate"], self.drawn["low"], self.drawn["high"], strict=True))
        files = len(rows) // max(1, len(self.steps))
        return [stepped(*row, step=self.steps[at // files]) for at, row in enumerate(rows)]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), **self._hidden()}

    def _hidden(self) -> dict[str, Any]:
        """The fields that name terms, with the names that may be published."""
        names = dict(zip(self.columns.get("term", ()), model_design.names_apart(self.told), strict=True))

        def renamed(key: str) -> str:
            part, bracket, term = key.partition("[")
            return f"{part}[{names[term[:-1]]}]" if bracket and term[:-1] in names else key

        return {
            "columns": {**self.columns, "term": list(names.values())},
            "drawn": {**self.drawn, "term": [names[term] for term in self.drawn.get("term", ())]},
            "per_release": tuple({renamed(key): value for key, value in row.items()} for row in self.per_release),
        }


def size_ratio(pair: Pair, kind: str) -> float:
    """Records of a release divided by those of the original, where the combining rule permits it.

    Raises DataError: an unknown kind, releases of different sizes, a single release where several are needed, or
    sizes that differ from the original's for "partial".
    """
    arguments.choice(kind, "kind", ("observed", *combine.KINDS))
    if len(set(pair.sizes)) > 1:
        sizes = ", ".join(f"{name} {size}" for name, size in zip(pair.names[1:], pair.sizes, strict=True))
        raise DataError(
            f"the releases have different numbers of rows ({sizes}): no rule combines them; compare them one by one, "
            "or leave the odd one out"
        )
    if kind == "observed":
        return pair.sizes[0] / pair.n
    return combine.check_sizes(kind, pair.m, pair.n, pair.sizes[0])


def note_identical(notes: dict[str, str], pair: Pair, columns: Sequence[str]) -> None:
    """Add a note where releases equal the original, row by row; of rows that an engine counted nobody knows."""
    if pair.times is not None:
        return
    same = 0
    for j in range(pair.m):
        files = [pair.memo.get(("numbers", name)) for name in columns]
        same += all(
            len(values[j + 1]) == pair.n and np.array_equal(values[0], values[j + 1], equal_nan=True)
            if values is not None
            else pair.identical([name])[j]
            for name, values in zip(columns, files, strict=True)
        )
    if columns:
        notes |= same_note(same, pair.m)


def note_left_out(notes: dict[str, str], pair: Pair, used: Sequence[int], least: str = "") -> None:
    """Add a note on the records of each file that a missing value left out."""
    sizes = (pair.n, *pair.sizes)
    if gone := [f"{name} {n - few}" for name, few, n in zip(pair.names, used, sizes, strict=True) if few < n]:
        notes["missing"] = f"records left out for want of a value{least}: {', '.join(gone)}"


def compare_terms(
    names: Sequence[str], original: FileEstimates, released: Sequence[FileEstimates], *, labels: Sequence[str],
    kind: CompareKind, level: float, version: interval_overlap.Version, ratio: float, notes: dict[str, str],
    told: Sequence[str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Compare the estimates of m releases with those of the original, term by term.

    `labels`: what the releases are called. `kind`: how they are combined. `level`: coverage of intervals.
    `version`: of the overlap. `ratio`: size of a release relative to the original. `notes`: told what is undefined,
    and why. `told`: the names as they may leave the session, the names themselves unless given; a term with
    another one rests on few records. Returns the fields
    of a `TermComparison`: ``columns``, ``drawn``, ``per_release`` and the figures.
    """
    told = names if told is None else told
    hidden = np.array([name != shown for name, shown in zip(names, told, strict=True)])
    together = _together(original, released, kind, level, ratio)
    known = combine.limits(original.value, original.variance, original.df, level)
    ends = np.column_stack(known), np.column_stack([together.low, together.high])
    overlap = interval_overlap.shared_part(*ends, version, level)
    error = np.sqrt(original.variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        standardised = np.where(error > 0, (together.estimate - original.value) / error, np.nan)
    outside = tuple(_excludes_zero(end) for end in ends)
    columns: dict[str, Floats] = {
        "estimate_original": original.value,
        "std_error_original": error,
        "low_original": known[0],
        "high_original": known[1],
        "estimate_released": together.estimate,
        "std_error_released": np.sqrt(together.variance),
        "df_released": together.df,
        "low_released": together.low,
        "high_released": together.high,
        "overlap": overlap,
        "standardised_difference": standardised,
        "same_sign": _same(np.sign(original.value), np.sign(together.estimate)),
        "significant_original": outside[0],
        "significant_released": outside[1],
        "same_significance": _same(*outside),
    }
    _note_undefined(notes, told, overlap, ends)
    for j in np.flatnonzero(together.adjusted).tolist():
        notes[f"variance[{told[j]}]"] = "came out at 0 or below; k times the mean variance stands for it"
    figures = _figures(columns)
    for figure, value in figures.items():
        if math.isnan(value):
            notes[figure] = notes.get("overlap", "no term has a standard error above 0")
    return {
        "columns": {"term": list(names), **{name: values.tolist() for name, values in columns.items()}},
        "drawn": _forest(names, original, released, labels, together, known, level),
        "per_release": tuple(_file_figures(names, file) for file in released),
        "told": tuple(told),
        "few": _any_file([hidden, *(file.few for file in (original, *released))]),
        "few_spread": _any_file([hidden, *(file.few_spread for file in (original, *released))]),
        "steps": _largest_step([file.steps for file in (original, *released)], len(names)),
        "version": version,
        "n_terms": len(names),
        **figures,
    }


def _figures(columns: Mapping[str, Floats]) -> dict[str, float]:
    overlap, standardised = columns["overlap"], np.abs(columns["standardised_difference"])
    return {
        "mean_overlap": _mean(overlap),
        "min_overlap": _of_known(np.nanmin, overlap),
        "mean_standardised_difference": _mean(standardised),
        "max_standardised_difference": _of_known(np.nanmax, standardised),
        "sign_agreement": _mean(columns["same_sign"]),
        "significance_agreement": _mean(columns["same_significance"]),
    }


def _largest_step(files: Sequence[Floats | None], p: int) -> tuple[float, ...]:
    known = [file for file in files if file is not None]
    return tuple(np.max(known, axis=0).tolist()) if known else (0.0,) * p


def _any_file(files: Sequence[Bools | None]) -> tuple[bool, ...]:
    """For each term, whether it holds in any file."""
    return tuple(np.any([file for file in files if file is not None], axis=0).tolist())


def _together(
    original: FileEstimates, released: Sequence[FileEstimates], kind: CompareKind, level: float, ratio: float
) -> combine.Pooled:
    values = np.array([file.value for file in released])
    variances = np.array([file.variance for file in released])
    if kind != "observed":
        rule: combine.Kind = kind
        return combine.pool(values, variances, kind=rule, level=level, ratio=ratio)
    estimate, within = values.mean(axis=0), variances.mean(axis=0)
    variance = within * ratio  # as an analyst of the original can expect it
    between = values.var(axis=0, ddof=1) if len(values) > 1 else np.full(len(estimate), np.nan)
    low, high = combine.limits(estimate, variance, original.df, level)
    adjusted = np.zeros(len(estimate), bool)
    none = np.full(len(estimate), np.nan)
    return combine.Pooled(estimate, variance, original.df, low, high, within, between, adjusted, variance, none)


def _forest(
    names: Sequence[str], original: FileEstimates, released: Sequence[FileEstimates], labels: Sequence[str],
    together: combine.Pooled, known: tuple[Floats, Floats], level: float,
) -> dict[str, list[Any]]:  # fmt: skip
    parts = [("original", original.value, *known)]
    if len(released) > 1:
        parts += [
            (label, file.value, *combine.limits(file.value, file.variance, file.df, level))
            for label, file in zip(labels, released, strict=True)
        ]
    parts.append(("released", together.estimate, together.low, together.high))
    rows = [
        (name, file, float(value[j]), float(low[j]), float(high[j]))
        for j, name in enumerate(names)
        for file, value, low, high in parts
    ]
    return dict(zip(("term", "file", "estimate", "low", "high"), map(list, zip(*rows, strict=True)), strict=True))


def _file_figures(names: Sequence[str], file: FileEstimates) -> dict[str, float]:
    figures = {"n_used": float(file.n_used)}
    for name, value, variance in zip(names, file.value.tolist(), file.variance.tolist(), strict=True):
        figures[f"estimate[{name}]"] = value
        figures[f"variance[{name}]"] = variance
    return figures


def _note_undefined(notes: dict[str, str], names: Sequence[str], overlap: Floats, ends: tuple[Floats, Floats]) -> None:
    undefined = np.isnan(overlap)
    if not undefined.any():
        return
    absent = np.isnan(ends[0]).any(axis=1) | np.isnan(ends[1]).any(axis=1)
    reasons = []
    if (some := undefined & absent).any():
        reasons.append(f"a file does not determine {_listed(names, some)} or its variance")
    if (some := undefined & ~absent).any():
        reasons.append(f"an interval of no (finite) length: {_listed(names, some)}")
    notes["overlap"] = f"undefined for {int(undefined.sum())} of {len(names)} terms: {'; '.join(reasons)}"


def _listed(names: Sequence[str], chosen: Bools) -> str:
    rows = np.flatnonzero(chosen).tolist()
    rest = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ", ".join(names[j] for j in rows[:SHOWN]) + rest


def _excludes_zero(ends: Floats) -> Floats:
    return np.where(np.isnan(ends).any(axis=1), np.nan, ((ends[:, 0] > 0) | (ends[:, 1] < 0)).astype(np.float64))


def _same(a: Floats, b: Floats) -> Floats:
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a == b).astype(np.float64))


def _of_known(figure: Callable[[Floats], Any], values: Floats) -> float:
    return math.nan if len(values) == 0 or np.isnan(values).all() else float(figure(values))


def _mean(values: Floats) -> float:
    return _of_known(np.nanmean, values)
