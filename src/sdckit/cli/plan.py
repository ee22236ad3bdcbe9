"""What a command would do, without reading the data: measures, memory, time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.catalogue import measure
from sdckit.cells.plans.count_cells import BYTES_OF_A_KEY, Beside, cells_within
from sdckit.cells.plans.lazy import COLLECT_LIMIT
from sdckit.cli.errors import tell
from sdckit.data.files.file_checks import FileHeader
from sdckit.data.formula_text import formula_columns
from sdckit.data.limits import LIMITS
from sdckit.data.memory import AT_REST, LEAST, PER_VALUE, bytes_of_file, bytes_of_records, free_bytes, shares_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted

if TYPE_CHECKING:
    from sdckit.cli.commands.assess import Release
    from sdckit.cli.source import EngineOptions, Reading
    from sdckit.workflow.plan import Planned


# Measured on two cores with one and ten million records, seven keys, a weight and households; meant as an
# order of magnitude.
SECONDS_PER_VALUE = 2e-7
SECONDS_AT_REST = 2.0
MEGABYTE = 1_000_000
Opened = tuple[Path, "FileHeader"]
IN_PARTS = ("identity", "attribute")  # rooms whose measures of two files deal cells out where they do not fit
IN_BLOCKS = ("record_linkage",)  # goes on beyond what is brought where people are drawn


@dataclass(frozen=True)
class _Room:
    """What may come here of so many files on an engine; `here`: the bytes that `--memory` leaves, None without it."""

    here: int | None
    files: int

    def cells(self, columns: int, *, alone: bool = False) -> int:
        """Cells of each file; `alone`: of one file by itself."""
        return cells_within(columns, self.here, None if alone or self.here is None else Beside(self.files))

    def values(self, *, alone: bool = False) -> int:
        """Values of the records of each file."""
        files = 1 if alone else self.files
        return COLLECT_LIMIT if self.here is None else min(COLLECT_LIMIT, self.here // PER_VALUE // files)


def plan_lines(
    original: Opened, scenario: Scenario, measures: Sequence[str] = (), *, released: Sequence[Opened] = (),
    control: Opened | None = None, attacks: bool = False, n_attacks: int = 500, targets: int | None = None,
    aligned: bool = False, models: Mapping[str, str] | None = None, engine: str | None = None,
    memory: str | None = None, id: str | None = None,
) -> list[str]:  # fmt: skip
    """Say what would run, and roughly what it would cost.

    Each file comes with its header; `attacks` are made without a control file, too; `aligned` says whether it is
    declared which rows belong together; `engine`, with whom the records stay; `memory`, what both may take together.
    """
    from sdckit.workflow.plan import plan_file

    read = tuple(dict.fromkeys([*scenario.columns, *filter(None, [id])]))
    lines = [f"{_would_read(*original, read)}:", f"  {', '.join(read)}"]
    lines += [f"{_would_read(*other, read)}, a release" for other in released]
    if control is not None:
        lines.append(f"{_would_read(*control, scenario.columns)}, people never in the file")
    if left := [name for name in scenario.identifiers if name != id]:
        lines.append(f"Would not read: {', '.join(left)}")
    lines += [f"Intruder '{name}' knows {', '.join(keys)}" for name, keys in scenario.intruders.items()]
    if released:
        lines.append("In each file:")
    of_file = plan_file(scenario, measures=measures, compared=bool(released), n=original[1].n_rows)
    here = None if memory is None else shares_of(memory)[1]
    room = None if engine is None else _Room(here, 1 + len(released))
    lines += _told((entry for planned in of_file.values() for entry in planned), room)
    if released:
        lines += _together(
            original, scenario, released, control, attacks=attacks, n_attacks=n_attacks, targets=targets,
            aligned=aligned, models=models or {}, id=id, room=room,
        )  # fmt: skip
    in_force = scenario.limits_of(compared=bool(released)).declared
    limits = ", ".join(f"{name} {limit}" for name, limit in in_force.items())
    lines.append(f"Thresholds: {limits or 'none declared'}")
    lines += _type_of_release(scenario, compared=bool(released))
    every = [original, *released, *(() if control is None else (control,))]
    lines.append(_cost(every, scenario) if engine is None else _cost_of_plan(original[1], engine))
    lines += [] if memory is None else [_limits_within(memory, len(scenario.keys))]
    return lines + _beyond_what_is_free(every, scenario, engine, memory)


def _type_of_release(scenario: Scenario, *, compared: bool) -> list[str]:
    """What the file is released as, and which limits come with it."""
    from sdckit.report.chapters.sentences import limits_tree, release_sentence

    judged = [name for name, kind in LIMITS.items() if kind.alone]  # whether values are missing is not read yet
    sentence = release_sentence(limits_tree(scenario, compared=compared, judged=judged))
    return [sentence] if sentence else []


def _together(
    original: Opened, scenario: Scenario, released: Sequence[Opened], control: Opened | None, *, attacks: bool,
    n_attacks: int, targets: int | None, aligned: bool, models: Mapping[str, str], id: str | None = None,
    room: _Room | None = None,
) -> list[str]:  # fmt: skip
    """What would be learnt of a release beside its original."""
    from sdckit.report.chapters.sentences import columns_words
    from sdckit.workflow.plan import attacked_columns, declared_knowledge, plan_attacks, plan_release, plan_utility

    header, headers = original[1], [release for _, release in released]
    counts = [release.n_rows for release in headers if release.n_rows is not None]
    columns = frozenset(header.columns).intersection(*(release.columns for release in headers))
    known: dict[str, Any] = {
        "n": header.n_rows, "sizes": tuple(counts) if len(counts) == len(headers) else (), "columns": columns,
        "aligned": aligned, "has_control": control is not None, "on_engine": room is not None,
        "named": id is not None, "asked": targets,
    }  # fmt: skip
    compared = plan_release(scenario, **known)
    lines = ["On a release beside the original:"]
    lines += _told((entry for planned in compared.values() for entry in planned), room)
    lines += _told(plan_utility(scenario, models=models, **known), room)
    if not attacks and control is None:
        return [*lines, "Simulated attacks: none; --control FILE or --attacks starts them"]
    people = None if control is None else control[1].columns
    chosen = attacked_columns(scenario, header.columns, [release.columns for release in headers], people, id=id)
    knowledge = declared_knowledge(scenario, chosen.declared, n_attacks=n_attacks)
    words = columns_words(len(chosen.declared), len(chosen.every), chosen.n_going_out)
    lines.append(f"Simulated attacks, {n_attacks:,} attempts each, {words}:")
    return lines + _told(plan_attacks(scenario, knowledge, **known))


def _would_read(path: Path, header: FileHeader, columns: Sequence[str]) -> str:
    held = [name for name in columns if name in header.columns]
    return f"Would read {len(held)} of {len(header.columns)} columns of {path.name} ({header.format})"


def _told(planned: Iterable[Planned], room: _Room | None = None) -> list[str]:
    """What would run first; what only some intruders or variables lack is told of them; of an engine what comes."""
    will: dict[str, str] = {}
    will_not: list[tuple[str, str, str]] = []
    for entry in planned:
        if entry.lacks:
            whose = "" if entry.row.files == "attack" else f" ({entry.context.intruder})"
            will_not.append((entry.row.name, entry.place + whose, entry.lacks))
        elif entry.row.inside is None:
            will[entry.row.name] = entry.row.question + ("" if room is None else _brought(entry, room))
        else:
            for place, reason in entry.row.inside(entry.context):
                name = place.partition(":")[0]
                if reason:
                    will_not.append((name, name, reason))
                else:
                    will[name] = measure(name).question + ("" if room is None else _brought_within(name, entry, room))
    lines = [f"  would run  {name}: {question}" for name, question in will.items()]
    reasons = ((place if name in will else name, reason) for name, place, reason in will_not)
    return lines + [f"  would not  {name}: {reason}" for name, reason in dict.fromkeys(reasons)]


def _brought(entry: Planned, room: _Room) -> str:
    """What a measure brings of files on an engine, and how often each is read for it."""
    row, context = entry.row, entry.context
    each = "" if row.files == "one" else " of each file"
    if row.of_plan == "cells":
        columns = len(context.keys) + (context.target is not None)
        fit = room.cells(columns, alone=row.files == "one")
        most = fit if context.n is None else min(context.n, fit)
        joined = "together by the id, " if "known" in row.needs else ""
        size = counted(most, "cell")
        words = f"{joined}{counted(columns, 'column')}: at most {size}{each}, {_megabytes(most * columns)}, 1 pass"
        parted = row.files == "release" and row.room in IN_PARTS
        return f" [{words}{'; in parts where they do not fit' if parted else ''}]"
    columns = len(context.scenario.columns)
    size = "" if context.n is None else f", {_megabytes(context.n * columns)}"
    drawn = row.draws(context)
    if drawn and row.records_drawn is not None:
        return f" [{drawn}{each}; and cells column by column, 1 pass for each]"
    values = room.values(alone=row.files == "one")
    largest = "200 million" if values == COLLECT_LIMIT else f"{values:,}"
    beyond = "the original passes by in blocks" if drawn and row.name in IN_BLOCKS else "refused"
    words = f"records of up to {counted(columns, 'column')}{each}{size}, 1 pass; above {largest} values {beyond}"
    return f" [{', '.join(filter(None, (words, drawn)))}]"


def _brought_within(name: str, entry: Planned, room: _Room) -> str:
    """The same of a part of the overview of utility, which brings the columns once for all of its parts, if it may."""
    arguments = {} if entry.row.arguments is None else entry.row.arguments(entry.context)
    columns, n = len(arguments["variables"]), max(entry.context.n or 0, *entry.context.sizes, 0)
    if n * columns <= room.values():
        size = f", {_megabytes(n * columns)}" if n else ""
        return f" [records of {counted(columns, 'column')} of each file{size}, 1 pass for all parts of the overview]"
    row = measure(name)
    if row.of_plan != "cells" or (row.of_categories and arguments["numeric"]):
        return f" [refused: {counted(n * columns, 'value')} of each file, and up to {room.values():,} are brought]"
    if name == "compare_models":
        columns = max(len(formula_columns(formula)) for formula in arguments["models"])
        most = room.cells(columns)
        size = f"{counted(columns, 'column')} of each file: at most {counted(most, 'cell')}"
        return f" [{size}, {_megabytes(most * columns)}, 2 passes]"
    most = room.cells(columns)
    size = f"tables of {counted(columns, 'column')} of each file"
    return f" [{size}: at most {counted(most, 'cell')} at once, {_megabytes(most * columns)}, 2 passes or more]"


def _megabytes(values: int) -> str:
    return f"{max(1, values * BYTES_OF_A_KEY // MEGABYTE):,} MB"


def _beyond_what_is_free(
    files: Sequence[Opened], scenario: Scenario, engine: str | None, memory: str | None
) -> list[str]:  # fmt: skip
    """The free memory, where the system says it, and a warning where more would be taken."""
    free = free_bytes()
    if free is None:
        return []
    has = f"the machine has {free / MEGABYTE:,.0f} MB free now"
    if engine is None:
        needed, smaller = _memory_of(files, scenario), "leave the records with an engine (--engine duckdb --memory"
        smaller = f"{smaller} {max(LEAST, free // 2) // MEGABYTE}MB)"
    elif memory is None:
        return [f"T{has[1:]}; of it cells may take a quarter here, records brought a half, beside what {engine} takes"]
    else:
        needed, smaller = AT_REST + sum(shares_of(memory)), "give less"
    if needed <= free:
        return [] if engine is None else [f"T{has[1:]}"]
    what = "this" if memory is None else f"--memory {memory}"
    takes = f"Warning: {what} may take {needed / MEGABYTE:,.0f} MB, and {has}: the system may end the process"
    return [f"{takes}; {smaller}, or free some memory first"]


def _memory_of(files: Sequence[Opened], scenario: Scenario) -> int:
    """What files take in memory, by their records where these are known."""
    counts = [header.n_rows for _, header in files if header.n_rows is not None]
    if len(counts) < len(files):
        return AT_REST + sum(bytes_of_file(path) for path, _ in files)
    return AT_REST + bytes_of_records(sum(counts), len(scenario.columns))


def _cost(files: Sequence[Opened], scenario: Scenario) -> str:
    more = "; comparing the files takes more time" if len(files) > 1 else ""
    counts = [header.n_rows for _, header in files if header.n_rows is not None]
    memory = _memory_of(files, scenario)
    if len(counts) < len(files):
        return f"The number of records is not known before reading; memory about {memory / MEGABYTE:,.0f} MB{more}"
    n_rows = sum(counts)
    seconds = SECONDS_AT_REST + n_rows * len(scenario.columns) * SECONDS_PER_VALUE * (1 + len(scenario.intruders))
    return f"{n_rows:,} records: memory about {memory / MEGABYTE:,.0f} MB, time about {seconds:,.0f} s{more}"


def _cost_of_plan(header: FileHeader, engine: str) -> str:
    records = "The records" if header.n_rows is None else counted(header.n_rows, "record")
    return f"{records} would be left with {engine}, and never read whole; memory goes by the combinations of keys"


def _limits_within(memory: str, n_keys: int) -> str:
    """What a bound of memory lets come here."""
    engine, here = shares_of(memory)
    alone, each = cells_within(n_keys, here), cells_within(n_keys, here, Beside(files=2))
    return (
        f"Within --memory {memory}: {engine // MEGABYTE:,} MB for the engine; here up to {alone:,} cells of {n_keys} "
        f"keys of one file, {each:,} of each of two files beside each other, {here // PER_VALUE:,} values of records. "
        "What needs more is counted in parts, or refused before it begins"
    )


def print_plan(
    reading: Reading, scenario: Scenario, measures: Sequence[str], release: Release, models: Mapping[str, str],
    engine: EngineOptions,
) -> None:  # fmt: skip
    """Print what would run; of every file only the header and the number of records are read."""
    from sdckit.cli.source import release_header

    header, headers = engine.header(reading), release.headers(reading, engine)
    scenario = release.by_itself(scenario, header)
    recodings, scenario = release.recodings(reading, scenario, header, headers)
    scenario.check_columns(header.columns, certain=header.certain)
    also = () if release.id is None else (release.id,)
    control = release.control
    beside = reading if control is None else reading.beside(control)
    by_log = recodings is not None and recodings.tells_rows  # which rows belong together
    for line in plan_lines(
        (reading.file, header), scenario, measures,
        released=[
            (file, release_header(file, scenario, also=also, header=of))
            for file, of in zip(release.files, headers, strict=True)
        ],
        control=None if control is None else (control, release_header(control, scenario, **beside.how)),
        attacks=release.attacks, n_attacks=release.attempts, targets=release.targets, models=models,
        engine=engine.engine if engine.used else None, memory=engine.memory if engine.used else None,
        aligned=scenario.aligned or release.id is not None or by_log, id=release.id,
    ):  # fmt: skip
        tell(line)
