"""Which values of a release were changed, and what they say of themselves: nothing, a limit, a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.released_columns import ReleasedColumn
from sdckit.attacks.recovery.tells import majorities_of
from sdckit.numerics.array_types import Bools, Floats

MOST_GROUPED = 100  # values of a column of codes
SUPPRESSED, CODED, BANDED, ROUNDED, CHANGED = (
    "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed",
)  # fmt: skip
BLANKING = ("local_suppression", "suppress_above")
CHANGING = (
    "pram", "add_noise", "rank_swap", "shuffle", "swap_records", "mask_categorical", "mask_continuous",
    "microaggregate", "replace_high_risk", "synthesize", "impute_masked",
)  # fmt: skip
HEAP = 1.5  # times the records of the next value: a limit was put there
CLEARLY = 2.0  # difference of the square roots of two counts that chance does not make


class Logged(Protocol):
    """A log of protection steps, as far as it is read here."""

    @property
    def n(self) -> int:
        """Records of the file."""
        ...

    @property
    def steps(self) -> Iterable[Any]:
        """A change each, with ``method``, ``changed`` and ``parameters``."""
        ...

    def rows(self, original: Any = None) -> NDArray[np.int64] | None:
        """The row of the original that each released row was made from; None where the order was not changed."""
        ...


@dataclass(frozen=True, eq=False)
class TouchedColumn:
    """What was changed in one column.

    `touched` (n,): the values changed. `low`, `high` (n,): the numbers that each value of the column may stand for,
    unbounded where it is missing; None where values are no numbers. `kinds`: what was done, in words.
    """

    column: ReleasedColumn
    touched: Bools
    low: Floats | None
    high: Floats | None
    kinds: tuple[str, ...]

    @property
    def perturbed(self) -> bool:
        """Whether values were changed into other values, so that no untouched one can be told from them."""
        return CHANGED in self.kinds


def by_sight(columns: Mapping[str, ReleasedColumn]) -> dict[str, TouchedColumn]:
    """What anybody sees: missing values, ranges, and ends at which values are heaped."""
    found = {}
    for name, column in columns.items():
        low, high = _ends(column)
        touched = column.missing.copy()
        kinds = [SUPPRESSED] * bool(touched.any())
        if low is not None and high is not None:
            with np.errstate(invalid="ignore"):
                ranged = ~column.missing & (high > low)
            kinds += _range_kinds(low[ranged], high[ranged])
            touched |= ranged
            for end, value in _heaps(column):
                at = ~column.missing & (column.numbers == value) & ~touched
                low, high = _opened(low, high, at, end)
                touched |= at
                kinds.append(CODED)
        if touched.any():
            found[name] = TouchedColumn(column, touched, low, high, tuple(dict.fromkeys(kinds)))
    return found


def by_log(columns: Mapping[str, ReleasedColumn], log: Logged) -> dict[str, TouchedColumn]:
    """What the log of the recipe says was changed."""
    found: dict[str, TouchedColumn] = {}
    for step in log.steps:
        for name, count in step.changed.items():
            if not count or name not in columns:
                continue
            column = columns[name]
            ends = _ends(column)
            at, low, high, kind = _by_step(column, ends, step)
            if not at.any():
                continue
            known = found.get(name)
            if known is not None:
                at |= known.touched
                low, high = _narrower(low, high, known)
            kinds = (*(known.kinds if known else ()), kind)
            found[name] = TouchedColumn(column, at, low, high, tuple(dict.fromkeys(kinds)))
    return found


def by_original(
    columns: Mapping[str, ReleasedColumn], original: Mapping[str, ReleasedColumn]
) -> dict[str, TouchedColumn]:
    """Where the release differs from its original, row by row."""
    made = (_compared(column, original[name]) for name, column in columns.items() if name in original)
    return {one.column.name: one for one in made if one.touched.any()}


def _compared(column: ReleasedColumn, before: ReleasedColumn) -> TouchedColumn:
    """What was changed in one column; of codes in groups only those taken out: nothing shows the others."""
    low, high = _ends(column)
    if before.numbers is not None and not before.whole and column.from_labels:
        low, high = _widened(low, high)
    touched = _differing(column, before, low, high)
    kinds = [SUPPRESSED] * bool((touched & column.missing).any())
    seen = touched & ~column.missing
    if seen.any() and low is not None and high is not None and before.numbers is not None:
        ranged = _by_truth(low, high, seen, _an_end(before))
        if CHANGED in ranged[2] and _is_grouped(column, before):
            touched = touched & column.missing
        else:
            low, high, more = ranged
            kinds += more
    elif seen.any():
        kinds.append(CHANGED)
    return TouchedColumn(column, touched, low, high, tuple(dict.fromkeys(kinds)))


def _differing(
    column: ReleasedColumn, before: ReleasedColumn, low: Floats | None, high: Floats | None
) -> Bools:
    """Where the release says something else than its original."""
    if before.numbers is None or low is None or high is None:
        return np.asarray(~before.missing & (truth_codes(column, before) != column.codes))
    with np.errstate(invalid="ignore"):
        touched = ~before.missing & ((low != before.low) | (high != before.high))
    unread = np.isnan(low) & np.isnan(before.numbers)  # infinite ones: only their print can be compared
    if unread.any() or before.from_labels:
        touched &= ~((unread | before.from_labels) & _same_text(column, before))
    return np.asarray(touched)


def _ends(column: ReleasedColumn) -> tuple[Floats | None, Floats | None]:
    """The range of each value; a missing one may stand for any number."""
    if column.low is None or column.high is None:
        return None, None
    return np.where(column.missing, -np.inf, column.low), np.where(column.missing, np.inf, column.high)


def _an_end(before: ReleasedColumn) -> Floats:
    """The numbers; of a range one of its ends, which lies in every wider range."""
    assert before.numbers is not None
    assert before.low is not None
    assert before.high is not None
    end = np.where(np.isfinite(before.low), before.low, before.high)
    return np.where(np.isnan(before.numbers), end, before.numbers)


def _widened(low: Floats | None, high: Floats | None) -> tuple[Floats | None, Floats | None]:
    """Ranges of labels that were read as of whole numbers, when the numbers are not whole: (0, 10] begins above 0."""
    if low is None or high is None:
        return low, high
    ranged = high > low
    return np.where(ranged, low - 1, low), np.where(ranged, high + 1, high)


def _range_kinds(low: Floats, high: Floats) -> list[str]:
    bounded = np.isfinite(low) & np.isfinite(high)
    return [BANDED] * bool(bounded.any()) + [CODED] * bool((~bounded).any())


def _heaps(column: ReleasedColumn) -> list[tuple[str, float]]:
    """Ends of a column of numbers that more records have than the value next to them."""
    numbers = column.numbers
    if numbers is None:
        return []
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 3:
        return []
    found = []
    if _heaped(counts[-1], counts[-2]):
        found.append(("top", float(values[-1])))
    if _heaped(counts[0], counts[1]) and values[0] not in (0.0, 1.0):
        found.append(("bottom", float(values[0])))
    return found


def _heaped(count: int, beside: int) -> bool:
    """Whether so many more records are no chance: twice the difference of the roots of counts is nearly normal."""
    return count >= HEAP * beside and math.sqrt(count) - math.sqrt(beside) >= CLEARLY


def _opened(low: Floats, high: Floats, at: Bools, end: str) -> tuple[Floats, Floats]:
    """The ranges when a limit stands for everything beyond it."""
    if end == "top":
        return low, np.where(at, np.inf, high)
    return np.where(at, -np.inf, low), high


def _by_step(
    column: ReleasedColumn, ends: tuple[Floats | None, Floats | None], step: Any
) -> tuple[Bools, Floats | None, Floats | None, str]:
    low, high = ends
    present = ~column.missing
    nothing = np.zeros(len(present), np.bool_)
    if step.method in BLANKING:
        return column.missing, low, high, SUPPRESSED
    if step.method in CHANGING:
        return present, low, high, CHANGED
    if low is None or high is None:
        return (present, low, high, BANDED) if step.method == "recode" else (nothing, low, high, CHANGED)
    if step.method == "top_bottom_code":
        at = nothing.copy()
        for end in ("top", "bottom"):
            limit = step.parameters.get(end)
            if isinstance(limit, int | float):
                here = present & (low == high) & (low == limit)
                low, high = _opened(low, high, here, end)
                at |= here
        return at, low, high, CODED
    if step.method == "round_to":
        base = step.parameters.get("base")
        if isinstance(base, int | float) and base > 0:
            exact = present & (low == high)
            return (
                exact,
                np.where(exact, low - base / 2, low),
                np.where(exact, high + base / 2, high),
                ROUNDED,
            )
        return nothing, low, high, ROUNDED
    if step.method == "recode":
        with np.errstate(invalid="ignore"):
            return present & (high > low), low, high, BANDED
    return nothing, low, high, CHANGED


def _narrower(
    low: Floats | None, high: Floats | None, known: TouchedColumn
) -> tuple[Floats | None, Floats | None]:
    """The ranges that two steps leave together: the wider one, as the later step hides what the earlier left."""
    if low is None or high is None or known.low is None or known.high is None:
        return low, high
    return np.fmin(low, known.low), np.fmax(high, known.high)


def truth_codes(column: ReleasedColumn, before: ReleasedColumn) -> Floats:
    """The true values as codes of the release: -1 where it has none for them.

    Where each value was put into one group, its group; else the value itself, or, of texts that the release does not
    have, what most of their records show.
    """
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    own = np.array([0.0, *(place.get(label, -1.0) for label in before.labels())])
    seen = ~before.missing & ~column.missing
    most = majorities_of(before.codes, column.codes, before.n_levels)
    group = np.where((2 * most.votes > most.size) & (most.votes > 1), most.code, own)
    group[0] = 0.0
    if (group[before.codes] == column.codes)[seen].all():
        return np.asarray(group[before.codes])
    if column.numbers is None:
        own = np.where(own < 0, group, own)
    return np.asarray(own[before.codes])


def _is_grouped(column: ReleasedColumn, before: ReleasedColumn) -> bool:
    """Whether codes were put into groups with numbers for names, each into one."""
    known = ~before.missing & ~column.missing
    few = before.n_levels <= MOST_GROUPED
    return few and not (truth_codes(column, before) != column.codes)[known].any()


def _same_text(column: ReleasedColumn, before: ReleasedColumn) -> Bools:
    """Where both files print the same."""
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    there = np.array([-1, *(place.get(label, -1) for label in before.labels())])
    return np.asarray(there[before.codes] == column.codes)


def _by_truth(low: Floats, high: Floats, seen: Bools, truth: Floats) -> tuple[Floats, Floats, list[str]]:
    """Tell limits, ranges, rounding and other changes apart by what the values were."""
    inside = seen & (low <= truth) & (truth <= high)
    kinds = _range_kinds(low[inside], high[inside])
    moved = seen & ~inside & (low == high)
    for end, sign in (("top", 1.0), ("bottom", -1.0)):
        limits = np.unique(low[moved & (sign * truth > sign * low)])
        extreme = np.nanmax(sign * np.where(np.isfinite(low), low, np.nan), initial=-np.inf) * sign
        if len(limits) and (limits == extreme).all():
            at = moved & (low == extreme)
            low, high = _opened(low, high, (low == high) & (low == extreme), end)
            moved &= ~at
            kinds.append(CODED)
    if moved.any():
        base = _base(low[moved])
        if base > 0 and (np.abs(truth - low)[moved] <= base).all():
            low, high = np.where(moved, low - base, low), np.where(moved, high + base, high)
            kinds.append(ROUNDED)
        else:
            kinds.append(CHANGED)
    return low, high, kinds


def _base(values: Floats) -> float:
    """The largest whole number above one that all values are multiples of; 0 where there is none."""
    if not (np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all():
        return 0.0
    found = np.gcd.reduce(values.astype(np.int64))
    return float(found) if found > 1 else 0.0
