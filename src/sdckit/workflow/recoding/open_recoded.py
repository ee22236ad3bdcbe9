"""The files of a run with the original recoded as the release is: the one place where that is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdckit.cells.collect import columns_in_memory
from sdckit.cells.pair import CONTROL, Pair, Recoded, open_pair, read_pair
from sdckit.data.columns import distinct_values
from sdckit.data.frames import open_frame
from sdckit.data.hierarchy import read_band
from sdckit.data.replace import with_levels
from sdckit.errors import ColumnError, DataError
from sdckit.workflow.recoding.changes import Recoding, Repeated
from sdckit.workflow.recoding.recodings import Done, Recodings
from sdckit.workflow.recoding.recognise import recognise


@dataclass(frozen=True, eq=False)
class Opened:
    """The files: `opened` for measures of one file each, `pair` for those of two; what must be told of it."""

    opened: Pair
    pair: Pair
    notes: tuple[str, ...]


def open_recoded(
    opened: Pair, roles: Mapping[str, Sequence[str]], *, also: Sequence[str] = (), by: Sequence[str] = (),
    control: Any = None, recodings: Recodings | None = None, aligned: bool = False,
) -> Opened:  # fmt: skip
    """Open an original and its releases as `open_pair` does, the original recoded first.

    `opened` are the files (`open_files`), `roles` the columns compared, `also` others of the original that measures
    of one file need, `by` those of subgroups.
    `recodings` are those of a recipe or a log; what they leave unexplained is recognised where the
    files say it themselves. The control file is recoded as the original.
    """
    also = (*also, *by)
    names = list(dict.fromkeys(name for several in roles.values() for name in several))
    _check_released(opened, names)
    changes: tuple[Recoding, ...] = ()
    notes: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    if recodings is not None:
        opened, done = _declared(opened, [*names, *also], recodings)
        changes, notes, unsure = done.changes, done.notes, done.unsure
    pair = read_pair(opened, roles, also=by, aligned=aligned)
    found = recognise(pair, names, types_only=recodings is not None)
    if found:
        opened = _recoded(opened, [*names, *also], found, "recognised")
        pair = read_pair(opened, roles, also=by, aligned=aligned)
        changes = (*changes, *found)
    if control is not None:
        control = _as_read(_like_original(control, names, changes), changes, opened.released)
    pair = open_pair(pair, control=control, categories=roles, also=by, aligned=aligned)
    if recodings is not None:
        _check_values(pair, recodings, unsure)
    if recodings is not None and recodings.log is not None and recodings.keeps_rows and pair.aligned:
        _check_rows(pair, [name for name in recodings.unchanged(names) if name not in unsure])
    return Opened(opened, pair, (*_told(pair.recoded), *notes))


def _check_released(opened: Pair, names: Sequence[str]) -> None:
    """Name the columns that releases lack, and what says that they were left out."""
    present = opened.original.collect_schema().names()
    for label, frame in zip(opened.names[1:], opened.released, strict=True):
        columns = frame.collect_schema().names()
        lacking = [name for name in names if name in present and name not in columns]
        if lacking:
            raise ColumnError(
                f"{label} has no column {lacking[0]!r}; where it was left out by a recipe, give the recipe or its log "
                "(--recipe, --log; recipe=, log= in Python), else name it as the original does"
            )


def _declared(opened: Pair, names: Sequence[str], recodings: Recodings) -> tuple[Pair, Done]:
    """Do the recodings of a recipe or a log, and bring the rows into the order of the release where it tells it."""
    present = opened.original.collect_schema().names()
    used = [name for name in (*names, opened.id) if name is not None and name in present]
    used += [name for name in recodings.needs(used) if name in present]
    frame, brought = columns_in_memory(opened.original, {"recoded": list(dict.fromkeys(used))})
    if recodings.rows is not None:
        frame = frame[np.asarray(recodings.rows).tolist()]
    done = recodings.apply(frame.to_native(), frame.columns)
    if not done.changes and recodings.rows is None:
        return opened, done
    plans = opened.plans or (opened.frames if brought else ())
    data = _as_read(done.data, done.changes, opened.released)
    changed = replace(opened, original=open_frame(data), brought=brought, plans=plans)  # type: ignore[arg-type]
    return _with_raw(changed, frame, done.changes, recodings.source), done


def _recoded(opened: Pair, names: Sequence[str], found: Sequence[Recoding], source: Any) -> Pair:
    """Do what was recognised to the original."""
    present = opened.original.collect_schema().names()
    used = [name for name in (*names, opened.id) if name is not None and name in present]
    frame, brought = columns_in_memory(opened.original, {"recoded": list(dict.fromkeys(used))})
    data = frame.to_native()
    for one in found:
        data = one.apply(data)
    plans = opened.plans or (opened.frames if brought else ())
    brought = brought or opened.brought
    changed = replace(opened, original=open_frame(data), brought=brought, plans=plans)  # type: ignore[arg-type]
    return _with_raw(changed, frame if opened.raw is None else opened.raw, found, source)


def _as_read(data: Any, changes: Sequence[Recoding], released: Sequence[Any]) -> Any:
    """Groups called "1", "2" as numbers where the release has numbers: a CSV file does not tell them apart."""
    types = [frame.collect_schema() for frame in released]
    for name in dict.fromkeys(one.column for one in changes):
        frame: Any = open_frame(data)
        if name not in frame.columns or not all(name in one and one[name].is_numeric() for one in types):
            continue
        found = distinct_values(frame[name])
        bands = [read_band(value) for value in found.values] if found.kind == "text" else [None]
        if all(band is not None and band.single for band in bands):
            numbers = [band.low for band in bands if band is not None]
            levels = [int(one) if one.is_integer() else one for one in numbers]
            data = with_levels(frame, {name: (levels, found.codes)})
    return data


def _with_raw(pair: Pair, raw: Any, changes: Sequence[Recoding], source: Any) -> Pair:
    kinds: dict[str, list[str]] = {}
    for one in changes:
        kinds.setdefault(one.column, []).append(one.kind)
    made = tuple(Recoded(name, ", ".join(dict.fromkeys(several)), source) for name, several in kinds.items())
    return replace(pair, raw=raw if made else None, recoded=(*pair.recoded, *made), memo={}, with_control={})


def _like_original(control: Any, names: Sequence[str], changes: Sequence[Recoding]) -> Any:
    if not changes:
        return control
    frame, _ = columns_in_memory(control, {CONTROL: [*names]})
    data = frame.to_native()
    for one in changes:
        if one.column not in frame.columns:
            continue
        try:
            data = (one.elsewhere() if isinstance(one, Repeated) else one).apply(data)
        except (DataError, ColumnError) as error:
            raise type(error)(f"{CONTROL}: {error}") from None
    return data


def _check_values(pair: Pair, recodings: Recodings, unsure: Sequence[str]) -> None:
    """Refuse a recoding that cannot have made the release: it would let no record match."""
    declared = [one.column for one in pair.recoded if one.source != "recognised" and one.column not in unsure]
    kept = recodings.unchanged(declared)
    for name in declared:
        coding = pair.codes(name)
        if coding.kind != "text" and name not in kept:
            continue
        before, *after = coding.counts[:, 1:] > 0
        for label, present in zip(pair.names[1:], after, strict=True):
            if (present & ~before).any():
                raise DataError(
                    f"{label} has values of {name!r} that the {recodings.source} does not make of the original; give "
                    "the one that made this release, and declare codes for missing values"
                )


def _check_rows(pair: Pair, names: Sequence[str]) -> None:
    """Refuse a release that differs from the recoded original where the log changed nothing."""
    for name in names:
        before, *after = pair.codes(name).codes
        for label, codes in zip(pair.names[1:], after, strict=True):
            if ((codes != before) & (codes > 0) & (before > 0)).any():
                raise DataError(
                    f"{label} has other values of {name!r} than the log says: it is not the release of this log, or "
                    "its rows stand in another order (name the column that says which belong together: --id, id=)"
                )


def _told(recoded: Sequence[Recoded]) -> list[str]:
    """Say which columns were recoded, by what knowledge, and what the figures of the original are then."""
    how = {
        "recipe": "by the recipe given",
        "log": "by the log given",
        "recognised": "recognised from the two files",
    }
    told = []
    for source, words in how.items():
        of = [one for one in recoded if one.source == source]
        if of:
            columns = ", ".join(f"{one.column} ({one.kind})" for one in of)
            told.append(f"{columns}: the original is compared with the same recoding as the release, {words}")
    return told
