"""What is not judged though it is within limits: copies counted as people, files that go out together, other labels."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdckit.attribute.closeness.cell_classes import class_crosstab
from sdckit.attribute.l_diversity import answered_alike
from sdckit.catalogue.identity import RISK
from sdckit.cells import as_cells, packing
from sdckit.cells.comparable_files import in_same_order, relabelled, spelt_twice
from sdckit.cells.crosstab import Levels, levels_of
from sdckit.cells.pair import Pair
from sdckit.cells.repeated_records import holds_copies
from sdckit.data import households, limits, pl
from sdckit.data.columns import code_column, to_arrow
from sdckit.data.frames import Frame, column_names, is_lazy, plain_columns, record_sizes
from sdckit.data.missing_values.missing import mean_missing
from sdckit.data.packaged import sentences
from sdckit.data.replace import with_new_column
from sdckit.data.scenarios.guessing.topics import topic_of
from sdckit.data.scenarios.numbers_of_people import tells_apart
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import SYNTHETIC
from sdckit.display import some_of
from sdckit.errors import SdcError
from sdckit.numerics import array_types, grouping
from sdckit.report.gate.rounding import format_number
from sdckit.workflow.assessment import Assessment, IntruderAssessment
from sdckit.workflow.verdicts import Verdict

ENOUGH = 20  # different ones: that all of their counts are even has a chance of one in a million
HOUSEHOLD = "household"  # what limits on households need
OF_PEOPLE = ("singled", "linked")  # questions whose answers count records as people
LEARNT = "learnt"
COMPARED = ("worst release", "attacks")  # judged by figures of records that are looked for in the other file
GROUPS = "groups"  # judged by how many values are different
WHY = sentences("workflow/left_open.toml")
STAND_TOGETHER, RIGHT, ALONE_TOGETHER = 0.5, 0.5, 0.05  # of households; of small groups; of households in them
SHARED = 0.99  # of the households, in which all members have the same
WORLD = 8_300_000_000  # people in 2026 (United Nations, World Population Prospects 2024)
MILLION, NEAR = 1_000_000, 0.1  # weights of mean 1 with six implied decimals; of a part of the records near it

_WEIGHS = re.compile(r"(?i)w(eigh|gh?)?t|gew|poids|peso|pond")  # a weight of, or by, something


def counted_alone(verdicts: Iterable[Verdict], frame: Frame, result: Any) -> tuple[Verdict, ...]:
    """The verdicts on a file by itself, open where they count records as people and these seem to be copies.

    `result`: the frequencies of some keys, which are multiples wherever those of whole records are.
    """
    # Hardly any file is grouped by all of its columns.
    if _divisor(_cell_sizes(result)) > 1 and _divisor(record_sizes(frame)) > 1:
        return _opened(verdicts, dict.fromkeys(OF_PEOPLE, WHY["repeated"]))
    judged = tuple(verdicts)
    asked = any(verdict.holds and limits.LIMITS[verdict.name].question in OF_PEOPLE for verdict in judged)
    some = asked and result.cells.roles.person is None and holds_copies(frame)  # rows of a person are judged as rows
    return _opened(judged, dict.fromkeys(OF_PEOPLE, WHY["some_repeated"])) if some else judged


def weighed(verdicts: Iterable[Verdict], cells: Any) -> tuple[Verdict, ...]:
    """The verdicts on a file by itself, open where they rest on how many its records stand for, and these are absurd.

    `cells`: those of some keys.
    """
    reason = _out_of_scale(cells.n, cells.stand_for(), cells.roles.weight)
    return _opened(verdicts, {RISK.name: reason})


def _out_of_scale(n: int, stand_for: float | None, weight: str | None) -> str:
    """Why so many as n records stand for, by the column of a `weight` or a sampling fraction, cannot be right."""
    if weight is not None and (topic := topic_of(weight)) and topic.role != "weight" and not _WEIGHS.search(weight):
        return WHY["no_weight"]
    people = stand_for or 0.0
    if people > WORLD:
        return WHY["out_of_scale"].format(format_number(people, 2), WHY["too_many"])
    implied = weight is not None and abs(people / (n * MILLION) - 1) <= NEAR
    return WHY["out_of_scale"].format(format_number(people, 2), WHY["a_million"]) if implied else ""


def told_apart(verdicts: Sequence[Verdict], frame: Frame) -> tuple[Verdict, ...]:
    """The verdicts on one file, open where groups hold enough values only as some are spelt in two ways."""
    held = {verdict.variable for verdict in verdicts if verdict.holds and limits.LIMITS[verdict.name].judged == GROUPS}
    twice = spelt_twice(frame, [name for name in held if name])
    return _opened(verdicts, {GROUPS: WHY["spelt_twice"]}, twice) if twice else tuple(verdicts)


def answered(verdicts: Iterable[Verdict], results: Mapping[str, Any], given: Sequence[str]) -> tuple[Verdict, ...]:
    """The verdicts on one file, open where groups hold enough values only as missing ones count as values.

    `results` by measure. `given`: the codes for missing values that the scenario names; an empty one says that there
    are no others.
    """
    judged = tuple(verdicts)
    held = [verdict for verdict in judged if verdict.holds and limits.LIMITS[verdict.name].judged == GROUPS]
    variables = [
        verdict.variable
        for verdict in held
        if verdict.variable is not None
        and (result := results.get(limits.LIMITS[verdict.name].measure)) is not None
        and verdict.variable in result.variables
        and _is_told(result.cells, verdict.variable, int(verdict.limit or 0), codes="" not in given)
    ]
    return _opened(judged, {GROUPS: WHY["missing_counted"]}, variables) if variables else judged


def _is_told(cells: Any, name: str, limit: int, *, codes: bool) -> bool:
    """Whether somebody who is known to have answered is told; `codes`: some values may mean that they have not."""
    levels = levels_of(cells, name)
    known = levels.codes[_mean_missing(levels)] if codes else levels.codes[:0]

    def n_told(part: Any) -> tuple[Any, int]:
        table = class_crosstab(part, name)
        return part, answered_alike(table, np.append(known, table.missing), limit)

    return any(cells.by_parts(n_told)[1])


def _mean_missing(levels: Levels) -> array_types.Bools:
    """Which of the values of a variable look like codes for missing ones."""
    values = np.array(levels.labels(), object) if levels.numbers is None else levels.numbers
    codes = mean_missing(pl.Series("values", values))
    return np.isin(values, codes)


def counted_beside(
    intruders: Sequence[IntruderAssessment], scenario: Scenario, before: Assessment, after: Sequence[Assessment],
    pair: Pair, opened: Pair, *, drawn: bool,
) -> tuple[IntruderAssessment, ...]:  # fmt: skip
    """The intruders with verdicts open where copies count as people, files go out together, or values are relabelled.

    `before`: the original of the `pair`, of which the releases were made, `after` those; `opened`: both with all of
    their columns. `drawn`: a key is made up for all records, so that a release may have any size, and there may be
    several.
    """
    released = opened.released
    questions: Sequence[str] = OF_PEOPLE
    reason = ""
    if drawn:
        pairs = zip(after, released, strict=True)
        copied = any(_multiples(own) and _divisor(record_sizes(frame)) > 1 for own, frame in pairs)
        reason = WHY["repeated"] if copied else ""
    elif len(released) > 1 and not _one_holds_all(released):
        questions, reason = (*OF_PEOPLE, LEARNT), WHY["together"]
    elif max(pair.sizes) > pair.n:
        reason = WHY["more"]
    elif scenario.person is None and _are_multiples(before):  # else rows are judged as rows, and it is said
        reason = WHY["original_repeated"]
    scales = (_out_of_scale(one.n, one.stands_for, one.scenario.weight) for one in after)
    reasons = {RISK.name: next(filter(None, scales), "")} | dict.fromkeys(questions, reason)
    if any(limits.LIMITS[name].judged in COMPARED for name in scenario.limits_of(compared=True).declared):
        names = [*dict.fromkeys((*scenario.all_keys, *scenario.sensitive))]
        counted = [_texts_counted(measured) for measured in (before, *after)]
        files = zip(pair.released, counted[1:], strict=True)
        others = dict.fromkeys(
            name
            for file, texts in files
            for name in relabelled(pair.original, file, names, counted[0], texts, made=drawn)
        )
        reasons |= dict.fromkeys(COMPARED if others else (), WHY["relabelled"].format(", ".join(others)))
    verdicts = (verdict for own in intruders for verdict in own.verdicts if not drawn)
    if any(verdict.holds and limits.LIMITS[verdict.name].needs == HOUSEHOLD for verdict in verdicts):
        reasons[HOUSEHOLD] = _homes_told(pair, opened, scenario.household)
    return tuple(replace(own, verdicts=_opened(own.verdicts, reasons)) for own in intruders)


def _homes_told(pair: Pair, opened: Pair, household: str | None) -> str:
    """Why a release whose household column is left out, or puts nobody together, tells who lives so; else ""."""
    files = [column_names(file) for file in opened.frames]
    if household is None or household not in files[0]:
        return ""
    have = [file for file, names in zip(opened.released, files[1:], strict=True) if household in names]
    if any(_puts_together(file, household) for file in have):
        return ""
    told = WHY["homes_numbered" if have else "homes_told"]
    for file, names, order in zip(opened.released, files[1:], pair.orders, strict=True):
        shared = [name for name in files[0] if name in names and name != household]
        try:
            before, lazily = as_cells.columns_in_memory(opened.original, {"household": [household], "columns": shared})
            after, _ = as_cells.columns_in_memory(file, {"columns": plain_columns(file)})
        except SdcError as error:
            return WHY["homes_unknown"].format(error)
        coded = code_column(before.get_column(household))
        homes = households.homes_of(coded.codes(), coded.span)
        own = None
        if not lazily and len(after) == len(before) and (order is not None or in_same_order(before, after)):
            own = np.empty(len(after), np.int64)
            own[slice(None) if order is None else order] = homes.of_row
        if own is not None and _stand_together(own, homes):
            return told.format(WHY["by_rows"])
        telling = _shared_alone(before.select(shared) if own is None else after, homes, own, after)
        if telling := telling or _of_same_sizes(after, homes):
            return told.format(WHY["by_values"].format(some_of(telling)))
    return ""


def _puts_together(file: Any, household: str) -> bool:
    """Whether some records of a file have the same household; nobody looks where they are too many."""
    try:
        column = as_cells.columns_in_memory(file, {"household": [household]})[0].get_column(household)
    except SdcError:
        return True
    return not tells_apart(column)


def _stand_together(of_row: array_types.Ints, homes: households.Homes) -> bool:
    """Whether the members of half of the households or more stand one after the other in the rows of a release."""
    first, last = np.full(len(homes.size), len(of_row)), np.zeros(len(homes.size), np.int64)
    rows = np.arange(len(of_row))
    np.minimum.at(first, of_row, rows)
    np.maximum.at(last, of_row, rows)
    several = homes.size > 1
    return bool(several.any()) and float((last - first < homes.size)[several].mean()) >= STAND_TOGETHER


def _shared_alone(frame: Any, homes: households.Homes, of_row: array_types.Ints | None, released: Any) -> list[str]:
    """The columns whose values members share, where few records but those of one household have them together.

    `of_row`: household of each record of the release, if it is known; else `frame` is the original, and of the
    `released` records as many small groups must be there.
    """
    home, own = "sdckit__home", homes.of_row if of_row is None else of_row
    names = [*households.household_variables(with_new_column(frame, home, own), household=home, share=SHARED)]
    if not names:
        return []
    most = int(homes.size.max())

    def small(sizes: array_types.Ints) -> Any:
        return (sizes > 1) & (sizes <= most)

    groups = _joint(frame, names)
    homes_in = packing.group_codes([groups.of_row, own], len(own))
    different = np.bincount(groups.of_row[grouping.first_of_groups(homes_in.of_row, len(homes_in.size))])
    together = int((small(groups.size) & (different == 1)).sum())
    told = together >= max(RIGHT * int(small(groups.size).sum()), ALONE_TOGETHER * int((homes.size > 1).sum()), 1)
    if told and of_row is None:  # as the release has the values
        told = int(small(_joint(released, names).size).sum()) >= RIGHT * together
    return names if told else []


def _of_same_sizes(released: Any, homes: households.Homes) -> list[str]:
    """A column whose values are held by as many records each as households have members: their numbers, as others."""
    sizes = np.sort(homes.size)
    for name in plain_columns(released) if len(sizes) and sizes[0] < sizes[-1] else ():
        counts = np.bincount(code_column(released.get_column(name)).codes())
        if np.array_equal(np.sort(counts[counts > 0]), sizes):
            return [name]
    return []


def _joint(frame: Any, names: Sequence[str]) -> grouping.Groups:
    """The records grouped by the values of some columns together."""
    return packing.group_codes([code_column(frame.get_column(name)).codes() for name in names], len(frame))


def _texts_counted(measured: Assessment) -> dict[str, dict[str, int]]:
    """All values of keys and the records with each, as far as the assessment of a file lists them."""
    known = (facts for intruder in measured.intruders for facts in intruder.key_facts)
    return {facts.name: dict(facts.level_counts) for facts in known if facts.n_levels == len(facts.level_counts)}


def _one_holds_all(released: Sequence[Frame]) -> bool:
    """Whether one file in memory holds all columns of the others, row by row, so that these tell nothing beside it."""
    files: list[Any] = [frame for frame in released if not is_lazy(frame)]
    if len(files) < len(released):
        return False
    largest = max(files, key=lambda frame: len(frame.columns))
    whole = {name: to_arrow(largest[name]) for name in largest.columns}
    return all(name in whole and to_arrow(file[name]).equals(whole[name]) for file in files for name in file.columns)


def _opened(
    verdicts: Iterable[Verdict], reasons: Mapping[str, str], variables: Sequence[str] | None = None
) -> tuple[Verdict, ...]:
    """The verdicts, not judged where they hold and there is a reason against how they are judged, or their question."""

    def reason_of(verdict: Verdict) -> str:
        kind = limits.LIMITS[verdict.name]
        is_meant = verdict.holds and (variables is None or verdict.variable in variables)
        of_measure = limits.LIMITS[kind.of or kind.name].measure
        known = (reasons.get(key) for key in (kind.judged, kind.question, of_measure, kind.needs))
        reason = next(filter(None, known), "") if is_meant else ""
        any_size = SYNTHETIC in kind.types  # files of any size are judged by it
        return "" if any_size and reason == WHY["more"] else reason

    return tuple(
        replace(verdict, holds=None, n_records=None, value=None, reason=reason, because="", n_category=None, keyless="")
        if (reason := reason_of(verdict))
        else verdict
        for verdict in verdicts
    )


def _are_multiples(before: Assessment) -> bool:
    """Whether records with the same keys are everywhere a multiple of the same number, and not all as many: quotas."""
    return any(sizes.min() < sizes.max() for sizes in _multiples(before))


def _multiples(measured: Assessment) -> list[array_types.Ints]:
    """Records with each combination of an intruder's keys, where all of these are multiples of the same number."""
    results = filter(None, (intruder.get("key_frequencies") for intruder in measured.intruders))
    return [sizes for sizes in map(_cell_sizes, results) if _divisor(sizes) > 1]


def _cell_sizes(result: Any) -> array_types.Ints:
    """Records with each combination of the keys."""
    values = result.cells.values("sample_frequency")
    parts = getattr(values, "parts", None)
    return np.asarray(values.size if parts is None else np.concatenate([size for _, size in parts]), np.int64)


def _divisor(sizes: array_types.Ints) -> int:
    """What divides all sizes; 1 where there are too few of them to say so."""
    return int(np.gcd.reduce(sizes)) if len(sizes) >= ENOUGH else 1
