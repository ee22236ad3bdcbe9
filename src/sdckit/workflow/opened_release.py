"""Original and releases of an assessment: opened once, in memory or on their engine, and what is noticed on the way."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sdckit.catalogue import attacks, row
from sdckit.cells import comparable_files, parted_pair
from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import ROW, Pair, count_pair, open_pair, read_pair
from sdckit.cells.plans import changed_plan, drawn_pair, file_places, lazy
from sdckit.cells.plans.pair_cells import are_joined, with_column_by_id
from sdckit.cells.shared_coding import share_coding
from sdckit.data.columns import code_column
from sdckit.data.frames import column_names, is_lazy, on_spark, sum_of
from sdckit.data.replace import with_column_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import SYNTHETIC
from sdckit.errors import DataError, SdcError, SdcWarning
from sdckit.numerics.grouping import places_among
from sdckit.workflow.plan import shared_variables
from sdckit.workflow.recoded_original import recoded_plans
from sdckit.workflow.recoded_original.open_recoded import Opened, open_recoded
from sdckit.workflow.recoded_original.published_recodings import Recodings

SCALED = 1.5  # times those of the original: weights rounded, drawn anew or calibrated again stay far below
SAME_HOUSEHOLDS = (
    "{n} values of {column} (household) are in the original and in the control file: unless both number their "
    "households anew, mates of people in the file are in the control file, and what they share makes attacks look "
    "harmless; give people of other households"
)


def open_release(
    opened: Pair, control: Any, scenario: Scenario, recodings: Recodings | None, by: Sequence[str], *, attacked: bool
) -> tuple[Opened, Opened, bool]:
    """The files as they are measured, and as they are attacked; whether rows are aligned.

    Of too many records on an engine the cells are counted there, and people are drawn of what is brought. Where that
    is too much, nobody is drawn, a note says why, and the files are attacked as they are measured.
    """
    if scenario.release != SYNTHETIC:
        opened, recodings = number_by_log(opened, recodings, identifiers=scenario.identifiers)
    if not attacked or not (recoded_plans.stays_on_engines(opened) and row.too_many(opened.n)):
        files, aligned = _open(opened, control, scenario, recodings, by, left=not attacked)
        return files, files, aligned
    files, aligned = _open(opened, control, scenario, recodings, by, left=True)
    try:
        brought, _ = _open(opened, control, scenario, recodings, by)
    except lazy.TooMuchError as error:
        files = replace(files, notes=(*files.notes, f"nobody is attacked, the control file is not looked at: {error}"))
        return files, files, aligned
    return replace(files, pair=replace(files.pair, control=brought.pair.control)), brought, aligned


def _open(
    opened: Pair, control: Any, scenario: Scenario, recodings: Recodings | None, by: Sequence[str] = (), *,
    left: bool = False,
) -> tuple[Opened, bool]:  # fmt: skip
    """Read the key variables and every other declared variable that all files share; return whether rows are aligned.

    `left`: files on an engine are left there.
    Without ``aligned`` or an id, rows are aligned where a log tells from which row each one was made.
    """
    columns = [frame.collect_schema().names() for frame in opened.frames]
    named = shared_variables(scenario, set(columns[0]).intersection(*columns[1:]))
    shared = [name for name in named if name not in scenario.all_keys]
    aligned = scenario.aligned or opened.id is not None
    if recodings is not None:
        recodings = recodings.check_file(columns[0], opened.n, identifiers=scenario.identifiers)
        if opened.id is None and not is_lazy(opened.original):
            recodings = recodings.in_order_of(opened.original)
        recodings.check_sizes(opened.sizes, opened.names[1:])
        in_memory = not any(map(is_lazy, opened.frames))
        by_log = in_memory and recodings.log is not None and recodings.keeps_rows
        aligned = aligned or (by_log and scenario.release != SYNTHETIC)
    if left and recoded_plans.stays_on_engines(opened):
        names, also = [*scenario.all_keys, *shared], [*scenario.columns, *by]
        if scenario.limit_on(attacks.COPIES.name) is not None:
            also += set(columns[0]).intersection(*columns[1:])  # copies are looked for in columns without a role, too
        files = recoded_plans.open_on_engines(opened, names, also=also, recodings=recodings, aligned=aligned)
    else:
        files = open_recoded(
            opened, {"keys": scenario.all_keys, "variables": shared}, also=scenario.columns, by=by, control=control,
            recodings=recodings, aligned=aligned,
        )  # fmt: skip
    if aligned and (recodings is None or recodings.log is None):  # which may say that all was drawn anew
        check_rows(files.pair)
    _check_weights(files.pair, scenario.weight)
    return files, aligned


def check_rows(pair: Pair, by: str = "aligned = true") -> None:
    """Refuse rows that are said to belong together and do not look so: people would seem not to be found again.

    `by`: what says so where no id does.
    """
    here = pair
    if is_lazy(pair.original):
        try:
            here = open_pair(drawn_pair.some_records(pair, comparable_files.NEIGHBOURS), categories={}, aligned=True)
        except lazy.TooMuchError:  # where so few are too much to bring, nothing is compared row by row
            return
    if any(comparable_files.look_mixed(here.original, *file) for file in zip(here.released, here.orders, strict=True)):
        by = by if pair.id is None else f"id {pair.id!r}"
        raise DataError(
            f"the release: {by} says which of its records was made from which of the original, but in no column are "
            "they more alike than records in another order. Give the log of this release, or an id that both files "
            "keep; say nothing of it where all records are made up"
        )


def _check_weights(pair: Pair, weight: str | None) -> None:
    """Refuse a release whose weights were multiplied: its records would stand for more people, and risk look lower.

    Those of fewer records may add up to the same, and more records to more.
    """
    if weight is None or pair.times is not None:
        return
    before, *after = (sum_of(frame, weight) for frame in pair.frames)
    for label, total, n in zip(pair.names[1:], after, pair.sizes, strict=True):
        if before > 0 and (times := min(total / before, total / before * pair.n / n)) > SCALED:
            raise DataError(
                f"{label}: its weights ({weight!r}) are some {round(times, 1):,g} times those of the original, so that "
                "each record would stand for more people, and its risk look lower; give them on the original's scale"
            )


def warn_of_rows(pair: Pair, by: str = "aligned = true") -> None:
    """Warn where `check_rows` refuses: of some columns alone, which a release may have drawn anew."""
    try:
        check_rows(pair, by)
    except DataError as error:
        warnings.warn(str(error), SdcWarning, stacklevel=2)


def columns_of(frames: Sequence[Any]) -> set[str]:
    """Union of the columns of the files."""
    return {name for frame in frames for name in frame.collect_schema().names()}


def with_bands(scenario: Scenario, in_bands: Sequence[str]) -> Scenario:
    """The scenario with keys that were put into bands as ordered ones, which text does not say by itself."""
    columns = [name for name in scenario.all_keys if name in in_bands]
    if not columns:
        return scenario
    numeric = tuple(name for name in scenario.numeric if name not in columns)
    return scenario.changed(numeric=numeric, ordered=tuple(dict.fromkeys([*scenario.ordered, *columns])))


def with_ledger_id(files: Opened, scenario: Scenario, *, aligned: bool) -> list[Any]:
    """The releases, each with the id of the ledger from the original where it lacks it and rows are aligned."""
    opened, orders = files.opened, files.pair.orders
    id, original = None if scenario.ledger is None else scenario.ledger.id, opened.original
    if id is None or not aligned or id not in column_names(original):
        return list(opened.released)
    return [
        file if id in column_names(file) else _with_id(file, original, id, opened, order)
        for file, order in zip(opened.released, orders, strict=True)
    ]


def _with_id(file: Any, original: Any, id: str, opened: Pair, order: Any) -> Any:
    """The release with a column of the rows of the original that its own belong to; without it where none are known."""
    if is_lazy(file) or is_lazy(original):
        by = opened.id
        together = by is not None and is_lazy(file) and is_lazy(original) and are_joined([original, file], by)
        return with_column_by_id(file, original, str(by), id) if together else file
    if len(file) != len(original):
        return file
    column = original[id]
    if order is not None:  # rows are named, and may stand in another order
        column = column[places_among(order, len(order)).tolist()]
    return with_column_of(file, column)


def count_ahead(pair: Pair, scenario: Scenario, by: Sequence[str] = ()) -> None:
    """Count the keys of each intruder with all sensitive variables on the engine, from which measures take theirs.

    Where rows belong together, Spark counts them joined: the cells of each file follow, and no file is read again.
    """
    columns, frame = in_every_file(pair), pair.original
    joined = pair.id is not None and is_lazy(frame) and on_spark(frame)
    for name in scenario.intruders:
        own = scenario.intruder(name)
        wanted = {
            role: [column for column in of_role if column in columns]
            for role, of_role in {"keys": own.keys, "sensitive": own.sensitive}.items()
        }
        with suppress(SdcError):  # the measures will say it
            together = None
            with suppress(lazy.TooMuchError):
                together = count_pair(pair, wanted, aligned=True) if joined else None
            if together is None:
                parted_pair.count_or_part(pair, wanted, also=[column for column in by if column in columns])


def in_every_file(pair: Pair) -> frozenset[str]:
    """Names of the columns that the original and every release have."""
    first, *others = ({*column_names(frame)} - {ROW} for frame in (pair.original, *pair.released))
    return frozenset(first.intersection(*others))


def households_in_both(pair: Pair, household: str | None) -> list[str]:
    """Warn where original and control share households, which makes membership inference look harmless."""
    control = pair.control
    if control is None or household is None:
        return []
    if any(household not in column_names(frame) for frame in (pair.original, control)):
        return []
    try:
        frames = [columns_in_memory(frame, {"household": [household]})[0] for frame in (pair.original, control)]
    except lazy.TooMuchError as error:
        return [f"households of original and control are not compared: {error}"]
    sides = [code_column(frame.get_column(household)) for frame in frames]
    shared = share_coding(household, [(side, side.codes()) for side in sides], ("the original", "the control file"))
    both = int((shared.counts[:, 1:] > 0).all(axis=0).sum())
    return [SAME_HOUSEHOLDS.format(n=both, column=household)] if both else []


def identical_keys(pair: Pair, names: Sequence[str], *, aligned: bool) -> list[str]:
    """A note for each release whose keys are those of the original, row by row."""
    if not names:
        return []
    recoded = pair.recoded  # which parts do not have
    if recoded_plans.stays_on_engines(pair):
        if not aligned:
            return []  # rows of a plan have no order
        try:
            before = parted_pair.compared_before(pair, names) or count_pair(pair, {"keys": names}, aligned=True)
            pair = before or read_pair(pair, {"keys": names}, aligned=True)
        except lazy.TooMuchError:
            if not parted_pair.can_deal_together(pair, names):
                return ["whether a release has the keys of the original is not known: not all of them fit here"]
            pair = parted_pair.deal_together(pair, tuple(names))
    of = "recoded original, row by row: nothing in them was changed but by the recoding"
    if not any(recoding.column in names for recoding in recoded):
        of = "original, row by row: nothing in them was changed"
    files = zip(pair.names[1:], pair.identical(names), strict=True)
    return [f"{label} has the keys of the {of}" for label, same in files if same]


# Rows of files on an engine that belong together by the log of a recipe: by their places in the files.


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
    if not all(file.of_files for file in placed) or not are_joined([original, *released], ROW):
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
