"""Open original and releases that stay on an engine, the original recoded there as the release is."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from sdckit.cells.pair import WAS, Pair, check_present, count_pair, read_pair
from sdckit.cells.plans.count_cells import Counted, count_by, count_values, numbers_counted, sizes_of
from sdckit.cells.plans.lazy import ROWS, TooMuchError
from sdckit.cells.plans.pair_cells import are_joined, can_count, count_differing, least_near, with_values
from sdckit.data import pa
from sdckit.data.columns import float_values
from sdckit.data.frames import is_lazy, open_frame
from sdckit.errors import DataError
from sdckit.workflow.recoded_original import open_recoded
from sdckit.workflow.recoded_original.published_recodings import Recoding, Recodings

ORDER = "rows of a plan have no order: give id=, the column that says which rows belong together"
MOST_MEANS, CLOSE = 100, 1e-9  # of one column, looked for in a release; relative


def stays_on_engines(opened: Pair) -> bool:
    """Whether original and releases are all plans."""
    return all(map(is_lazy, opened.frames))


def open_on_engines(
    opened: Pair, names: Sequence[str], *, also: Sequence[str] = (), recodings: Recodings | None = None,
    aligned: bool = False,
) -> open_recoded.Opened:  # fmt: skip
    """Do as `open_recoded` where all files are plans: none is brought, the distinct values of recoded columns are.

    `names`: columns compared; `also`: others of the original that measures of one file need. The pair has plans in
    it, which every measure counts or brings by itself.
    """
    if aligned and opened.id is None:
        raise DataError(ORDER)
    brought = opened
    notes: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    open_recoded.check_released(opened, names)
    if recodings is not None:
        opened, notes, unsure = _declared(opened, [*names, *also], recodings)
    changed_type = [name for name in names if recodings is None or not open_recoded.of_one_kind(opened.frames, name)]
    of = _by_column(opened, changed_type, aligned=aligned)
    recognised = [
        recoding for name in changed_type
        for recoding in open_recoded.recognise(of(name), [name], types_only=recodings is not None)
    ]  # fmt: skip
    if recognised:
        steps = {recoding.column: ([recoding.column], recoding.apply) for recoding in recognised}
        changed = _changed(opened, steps)
        opened = open_recoded.with_raw(changed, opened.raw or brought.original, recognised, "recognised")
    _check_comparable(opened, names)
    if recodings is not None:
        open_recoded.check_values(_by_column(opened, (), aligned=False), opened, recodings, unsure)
        if aligned:
            by_log = recodings.log is not None and recodings.keeps_rows
            kept = [name for name in recodings.unchanged(names) if name not in unsure] if by_log else []
            _check_rows(opened, kept)

    def again(columns: Sequence[str]) -> Pair:
        return open_on_engines(brought, columns, recodings=recodings, aligned=aligned).pair

    return open_recoded.Opened(opened, opened, (*open_recoded.recoding_notes(opened.recoded), *notes), brought, again)


def _check_rows(opened: Pair, names: Sequence[str]) -> None:
    """Do as `open_recoded.check_rows`: by the engine where it compares the values as they are here, else here.

    The id is checked in any case. Raises DataError: it does not name the same rows in every file.
    """
    frames: Any = opened.frames
    check_present(
        [(frame, {"id": (str(opened.id),)}, label) for frame, label in zip(frames, opened.names, strict=True)]
    )
    alike = []
    if are_joined(frames, str(opened.id)):
        alike = [name for name in names if can_count(frames, [name]) and open_recoded.of_one_kind(frames, name)]
        plans: Any = [opened.original if opened.raw is None else opened.raw, *opened.released]  # of the same ids
        sizes = opened.records_by_id(plans)
        for j, label in enumerate(opened.names[1:], 1):
            two, own = (frames[0], frames[j]), (sizes[0], sizes[j])
            counts = count_differing(two, alike, str(opened.id), (opened.names[0], label), own)
            for name, many in zip(alike, counts, strict=True):
                if many:
                    raise open_recoded.other_values(label, name)
    others = [name for name in names if name not in alike]
    open_recoded.check_rows(_by_column(opened, others, aligned=True), opened, others)


def _check_comparable(opened: Pair, names: Sequence[str]) -> None:
    """Raise where values of a column do not compare, as in memory; only types that differ are looked at."""
    of = _by_column(opened, names, aligned=False)
    for name in names:
        if not open_recoded.of_one_kind(opened.frames, name):
            of(name).codes(name)


def _by_column(opened: Pair, names: Sequence[str], *, aligned: bool) -> Callable[[str], Pair]:
    """The pair that has a column counted: where rows are joined, with all columns of `names` at once if these fit."""

    def of(name: str) -> Pair:
        if aligned and name in names:
            with suppress(TooMuchError):
                if (pair := count_pair(opened, {"variables": names}, aligned=True)) is not None:
                    return pair
        pair = count_pair(opened, {"variables": [name]}, aligned=aligned)
        return read_pair(opened, {"variables": [name]}, aligned=aligned) if pair is None else pair

    return of


def _declared(
    opened: Pair, names: Sequence[str], recodings: Recodings
) -> tuple[Pair, tuple[str, ...], tuple[str, ...]]:
    """Apply the recodings of a recipe or log to the original; with what is to be said of them, and what is unsure."""
    raw, present = opened.original, opened.original.collect_schema().names()
    changes: list[Recoding] = []
    notes: list[str] = []
    unsure: list[str] = []

    def recode(name: str, columns: list[str]) -> Callable[[Any], Any]:
        def apply(data: Any) -> Any:
            done = recodings.apply(data, columns)
            notes.extend(done.notes)
            unsure.extend(column for column in done.unsure if column == name)
            own = [change for change in done.changes if change.column == name]
            changes.extend(own)
            return open_recoded.as_read(done.data, own, opened.released)

        return apply

    steps = {}
    for name in recodings.recoded(present):
        if name in names:
            columns = [name, *(other for other in recodings.needs([name]) if other in present)]
            steps[name] = columns, recode(name, columns)
    changed = _changed(opened, steps, by_records=recodings.takes_from_the_data)
    several = tuple(dict.fromkeys(notes)), tuple(unsure)
    if not changes:
        return opened, *several
    return open_recoded.with_raw(changed, raw, changes, recodings.source), *several


def _changed(
    opened: Pair, steps: Mapping[str, tuple[Sequence[str], Callable[[Any], Any]]], *, by_records: bool = False
) -> Pair:
    """The pair with columns of its original recoded by their distinct values, which come here; the records stay.

    `steps`: by column, the columns that its recoding reads, and the function of a frame of them that recodes it.
    `by_records`: whether a recoding takes edges or means from the values, each as often as it occurs.
    """
    plan: Any = opened.original if opened.beside is None else opened.beside
    found: list[tuple[str, Any, Any]] = []
    counted: list[Counted] = []  # of the values of a column before follows how often each of its new ones occurs
    for name, (columns, apply) in steps.items():
        rows = count_by(plan, columns, opened.n)
        frame, at = numbers_counted(rows, columns, plan), np.arange(len(rows))
        if by_records:
            times = sizes_of(rows)
            frame, at = frame[np.repeat(at, times).tolist()], np.cumsum(times) - times
        new: Any = open_frame(apply(frame.to_native()))
        values = new[name][at.tolist()]
        own = _as_released(values, rows[name], opened) if by_records and values.dtype.is_float() else values.to_arrow()
        found.append((name, rows.select(*columns), own))
        counted.append(count_values(name, own, sizes_of(rows), opened.n))
    if not found:
        return opened
    beside = with_values(plan, found, WAS)
    memo = {
        **opened.memo,
        (ROWS, 0): [*(rows for rows in opened.memo.get((ROWS, 0), ()) if steps.keys().isdisjoint(rows.by)), *counted],
    }
    original: Any = beside.select(*opened.original.collect_schema().names())
    return replace(opened, original=original, beside=beside, memo=memo)


def _as_released(values: Any, before: Any, opened: Pair) -> Any:
    """Numbers with means as a release has them: of values in another order, the last digits of a mean differ."""
    name, numbers = before.name, float_values(values, "numeric")
    made = np.setdiff1d(numbers[~np.isnan(numbers)], float_values(before, "numeric"))
    released: Any = [frame for frame in opened.released if frame.collect_schema()[name].is_float()]
    for frame in released if 0 < len(made) <= MOST_MEANS else ():
        for mean, released_value in zip(made, least_near(frame, name, made.tolist(), CLOSE), strict=True):
            if not math.isnan(released_value):
                numbers = np.where(numbers == mean, released_value, numbers)
    return pa.array(numbers, mask=np.isnan(numbers))
