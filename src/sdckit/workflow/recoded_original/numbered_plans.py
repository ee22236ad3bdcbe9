"""Rows of files on an engine that belong together by the log of a recipe: by their places in the files."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sdckit.cells.pair import ROW, Pair
from sdckit.cells.plans import changed_plan, file_places, pair_cells
from sdckit.data.frames import column_names, is_lazy
from sdckit.workflow.recoded_original.published_recodings import Recodings


def number_by_log(
    opened: Pair, recodings: Recodings | None, *, identifiers: Sequence[str]
) -> tuple[Pair, Recodings | None]:
    """The files with the place of each original row as their id, where the log tells it of plans that read files.

    The log has the order that was drawn, so that no release has a number; where it does not, the pair is as it was.
    Raises DataError: the log is about another file.
    """
    frames: Any = opened.frames
    if recodings is None or recodings.log is None or opened.id is not None or not all(map(is_lazy, frames)):
        return opened, recodings
    if not recodings.tells_rows or not recodings.tells_order or opened.n > changed_plan.MOST_PLACES:
        return opened, recodings
    kept, own = recodings.homes_kept, column_names(opened.original)
    if any(ROW in column_names(frame) for frame in frames) or not {*kept} <= {*own}:
        return opened, recodings
    recodings = recodings.check_file(own, opened.n, identifiers=identifiers)
    recodings.check_sizes(opened.sizes, opened.names[1:])
    placed = [file_places.number_rows(frame, ROW) for frame in frames]
    original, *released = (file.frame for file in placed)
    if not all(file.of_files for file in placed) or not pair_cells.are_joined([original, *released], ROW):
        return opened, recodings
    homes = changed_plan.bring(original, _read_for_order(recodings, own), ROW, {}).table if kept else None
    recodings = recodings.in_order_of(homes)
    if recodings.rows is not None:
        released = [file_places.renumbered(frame, ROW, recodings.rows) for frame in released]
    numbered = replace(opened, original=original, released=tuple(released), id=ROW, memo={**opened.memo})  # type: ignore[arg-type]
    return numbered, recodings


def _read_for_order(recodings: Recodings, own: Sequence[str]) -> list[str]:
    """Columns of the original that the order of the rows depends on: households, or whatever these were made of."""
    steps = () if recodings.log is None else recodings.log.steps
    made = any(name in step.changed and "key" not in step.secret for step in steps for name in recodings.homes_kept)
    return [*own] if made else [*recodings.homes_kept]


def without_numbers(frame: Any) -> Any:
    """A file without the places of its rows."""
    return frame.drop(ROW) if is_lazy(frame) and ROW in column_names(frame) else frame
