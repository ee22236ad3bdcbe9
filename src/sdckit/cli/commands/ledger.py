"""``sdckit ledger``: remember what was released, and hold the next release against it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit.cli.errors import BAD_INPUT, EXCEEDED, OK, tell
from sdckit.cli.options import Texts, argument, codes, make_scenario, option, split
from sdckit.cli.outputs import check_enough_records, check_report_name, check_targets
from sdckit.cli.progress import Steps
from sdckit.cli.source import EngineOptions, NoProgress, Reading, read_declared, read_release, takes
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.workflow.recipes.release_files import ledger_files, open_ledger, own_entries

if TYPE_CHECKING:
    from sdckit.attacks.differencing.differencing import Differencing
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.verdicts import Verdict


app = typer.Typer(help="Remember releases as keyed sketches, and hold the next one against them.")
FromScenario = Annotated[Path, option("ledger", "--scenario")]
MaybeScenario = Annotated[Path | None, option("ledger-by-itself", "--scenario")]
Folder = Annotated[Path | None, option("ledger", "--ledger")]
KeyFile = Annotated[Path | None, option("ledger", "--key")]
People = Annotated[str | None, option("ledger", "--people")]
Id = Annotated[str | None, option("ledger", "--id")]

Original = Annotated[Path | None, option("ledger", "--original")]
Log = Annotated[Path | None, option("ledger", "--log")]


@app.command("create")
def create(
    folder: Annotated[Path | None, argument("ledger", "dir")] = None,
    *,
    scenario: MaybeScenario = None,
    ledger: Annotated[Path | None, option("ledger-create", "--ledger")] = None,
    key: Annotated[Path | None, option("ledger-create", "--key")] = None,
    survey: Annotated[str | None, option("ledger", "--survey")] = None,
) -> None:
    """Start a ledger and make up its key; what is not given is as the scenario names its ledger.

    Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger

    if folder and ledger:
        raise ScenarioError("the ledger is named twice: DIR and --ledger are the same")
    declaring = _declaring(scenario)
    folder, key = ledger_files(declaring, folder or ledger, key)
    survey = survey or getattr(declaring and declaring.ledger, "survey", None)
    if survey is None:
        raise ScenarioError("say what the releases are releases of: --survey TEXT, or survey in the scenario's ledger")
    ReleaseLedger.create(folder, key=key, survey=survey)
    tell(f"A ledger of {survey} in {folder.name}; its key is {key.name}. Nobody can make the key again: keep a copy.")


@app.command("add")
@takes(EngineOptions, Reading)
def add(
    engine: EngineOptions,
    reading: Reading,
    *,
    scenario: FromScenario,
    name: Annotated[str, option("ledger", "--name")],
    ledger: Folder = None,
    key: KeyFile = None,
    date: Annotated[str, option("ledger", "--date")] = "",
    people: People = None,
    id: Id = None,
    original: Original = None,
    log: Log = None,
    no_progress: NoProgress = False,
) -> None:
    """Remember FILE as a release: digests of its combinations with their counts, and no value.

    With an id what releases make certain together can be found later; it need not go out with the release, --original
    has it. Exit code 0 when it ran; 2 for bad input.
    """
    engine.check(reading)
    chosen = _scenario(scenario, reading)
    people, id = _declared(chosen, people, id)
    _check_original(original, id, engine)
    columns = engine.header(reading).columns
    chosen = _without_keys(_reading_id(chosen, id), columns, log)
    opened = open_ledger(chosen, ledger, key)
    with Steps(quiet=no_progress) as steps:
        frame, n = _read(reading, engine, chosen, columns, id, steps, original=original, log=log)
        if original is not None:
            chosen = chosen.changed(identifiers=[*chosen.identifiers, str(id)])  # it does not go out
        steps.step(f"adding {n:,} records")
        opened = opened.add(frame, name=name, scenario=chosen, date=date, people=people or "", id=id, file=reading.file)
    number = counted(len(opened.entries), "release")
    tell(f"{reading.file.name} is in the ledger of {opened.survey} as {name}; it holds {number}.")
    tell(head_line(opened))


@app.command("list")
def list_releases(*, scenario: MaybeScenario = None, ledger: Folder = None, key: KeyFile = None) -> None:
    """List the releases of a ledger, those that are pending, too, and its head.

    Exit code 0 when it ran; 2 for bad input, a ledger that was changed, or an older copy of it.
    """
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.blocks import TableBlock

    opened = _named(scenario, ledger, key)
    rows = tuple(
        (entry.name, entry.date or "–", entry.people or "–", "pending" if entry.pending else "released")
        for entry in opened.entries
    )
    if rows:
        print_blocks([TableBlock(f"Releases of {opened.survey}", ("Release", "Date", "People", "State"), rows)])
    tell(head_line(opened))


@app.command("withdraw")
def withdraw(
    name: Annotated[str, argument("ledger-withdraw", "name")],
    *,
    scenario: MaybeScenario = None,
    ledger: Folder = None,
    key: KeyFile = None,
) -> None:
    """Take a pending release out of a ledger: it does not go out. What went out stays.

    Exit code 0 when it ran; 2 for bad input.
    """
    opened = _named(scenario, ledger, key).withdraw(name)
    tell(f"{name} is not in the ledger of {opened.survey} any more. Do not let its file go out.")
    tell(head_line(opened))


@app.command("upgrade")
def upgrade(*, scenario: MaybeScenario = None, ledger: Folder = None, key: KeyFile = None) -> None:
    """Seal a ledger of an earlier version, once: from then on an older copy of it is refused.

    Look at what it lists: what was taken out before is not missed. Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger

    folder, file = ledger_files(_declaring(scenario), ledger, key)
    opened = ReleaseLedger.upgrade(folder, key=file)
    names = ", ".join(entry.name for entry in opened.entries) or "no release"
    tell(f"Sealed: {names}. The head lies beside {file.name}.")
    tell(head_line(opened))


@app.command("check")
@takes(EngineOptions, Reading)
def check(
    engine: EngineOptions,
    reading: Reading,
    *,
    scenario: FromScenario,
    ledger: Folder = None,
    key: KeyFile = None,
    earlier: Annotated[list[Path] | None, option("ledger", "--earlier")] = None,
    earlier_keys: Annotated[Texts, option("ledger", "--earlier-keys")] = None,
    aligned: Annotated[bool, option("ledger", "--aligned")] = False,
    people: People = None,
    id: Id = None,
    original: Original = None,
    log: Log = None,
    within: Annotated[int | None, option("ledger", "--within")] = None,
    report: Annotated[Path | None, option("ledger", "--report")] = None,
    internal: Annotated[bool, option("ledger", "--internal")] = False,
    no_progress: NoProgress = False,
) -> int:
    """Hold FILE, before it goes out, against the releases of the ledger, or against earlier files.

    Exact figures for your own session; those of a report are protected. Exit code 0 within the threshold
    `differencing` of the scenario, or without one; 1 where it is exceeded; 2 bad input, or a threshold that could not
    be judged; 3 internal error.
    """
    from sdckit.attacks.differencing.differencing import differencing
    from sdckit.attacks.differencing.release_ledger import files_at_hand, with_files

    check_report_name(report)
    check_targets(report, inputs=(reading.file, scenario, key, original, log, *(earlier or ())))
    engine.check(reading)
    chosen = _scenario(scenario, reading)
    people, id = _declared(chosen, people, id)
    _check_original(original, id, engine)
    columns = engine.header(reading).columns
    if id is not None and id not in columns and original is None and not earlier:
        raise ColumnError(
            f"{reading.file.name} has no column {id!r}, the id of the ledger: it need not go out. Say which file has "
            "it: --original ORIGINAL --log LOG"
        )
    id = id if original is not None or id in columns else None  # earlier files are joined by what they show
    chosen = _without_keys(_reading_id(chosen, id), columns, log)
    place = chosen.ledger
    declared: dict[str, Any] = {} if place is None else place.model_dump(include={"first", "new", "within"})
    declared |= {} if within is None else {"within": within}
    opened = None if earlier and ledger is None and place is None else open_ledger(chosen, ledger, key)
    own = () if opened is None else own_entries(opened, [reading.file, *(earlier or ())])
    held = None if opened is None else opened.without(own)
    at_hand = files_at_hand(held, chosen) if held is not None and ledger is None else {}
    with Steps(quiet=no_progress) as steps:
        frame, n = _read(reading, engine, chosen, columns, id, steps, original=original, log=log)
        if report is not None:
            check_enough_records(n, internal=internal)
        held = held and with_files(held, at_hand, chosen, frame)
        files = {
            path.name: _earlier(path, chosen, reading, id, split(earlier_keys), steps, engine, frame)
            for path in earlier or ()
        }
        differences = {
            name: differencing(
                frame, scenario=chosen.intruder(name), step=steps.step, earlier=files or None,
                ledger=held, earlier_keys=split(earlier_keys) or None, aligned=aligned,
                people=people, id=id, **declared,
            )
            for name in chosen.intruders
        }  # fmt: skip
    verdicts = _verdicts(chosen, differences)
    if report is not None:
        _report(report, reading.file.name, differences, verdicts, internal=internal)
    from sdckit.cli.terminal import print_measure

    for name, result in differences.items():
        if len(differences) > 1:
            tell(f"\n{name}")
        print_measure(reading.file.name, result)
    code = _told(verdicts)
    if opened is not None:
        if own:
            tell(f"\nLeft out of the ledger, as the file itself is given: {', '.join(own)}.")
        tell(head_line(opened))
    return code


def head_line(ledger: ReleaseLedger) -> str:
    """What a ledger holds, and its head: whoever keeps the line can tell whether a copy is the newest."""
    pending = sum(entry.pending for entry in ledger.entries)
    held = counted(len(ledger.entries) - pending, "release") + (f", {pending:,} pending" if pending else "")
    return f"Ledger of {ledger.survey}: {held}; head {ledger.head}"


def _declaring(file: Path | None) -> Scenario | None:
    from sdckit.data.scenarios.scenario import Scenario

    return None if file is None else Scenario.from_toml(file)


def _named(scenario: Path | None, ledger: Path | None, key: Path | None) -> ReleaseLedger:
    return open_ledger(_declaring(scenario), ledger, key)


def _scenario(file: Path, reading: Reading) -> Scenario:
    return make_scenario(file, thresholds={}, missing_codes=codes(reading.missing))


def _declared(scenario: Scenario, people: str | None, id: str | None) -> tuple[str | None, str | None]:
    """Whom it is about and the id, as the options say, else the scenario."""
    place = scenario.ledger
    return (people, id) if place is None else (people or place.people, id or place.id)


def _reading_id(scenario: Scenario, id: str | None) -> Scenario:
    """The scenario under which an id is read that is an identifier elsewhere: a ledger keeps digests of it alone."""
    return scenario.changed(identifiers=[name for name in scenario.identifiers if name != id])


def _without_keys(scenario: Scenario, columns: Sequence[str], log: Path | None) -> Scenario:
    """The scenario without the keys, and without roles of other columns, that a recipe left out, as its log says."""
    if log is None:
        return scenario
    from sdckit.workflow.recoded_original.published_recodings import left_of, read_recodings

    recodings = read_recodings(None, log)
    left, gone = left_of(scenario, recodings, columns)
    for name in gone:
        tell(f"{name} was left out of the release, so it is no key of an intruder there.")
    return left if recodings is None else left.narrowed({*left.columns} - {*recodings.left_out} | {*columns})


def _with_id(reading: Reading, scenario: Scenario, original: Path, log: Path | None, id: str, steps: Steps) -> Any:
    """A release with the id of each record, from the file it was made from."""
    from sdckit.data.frames import open_frame
    from sdckit.data.replace import with_column_of
    from sdckit.workflow.recoded_original.published_recodings import read_recodings

    recodings = read_recodings(None, log)
    frame: Any = open_frame(read_release(reading.file, scenario.narrowed(()), steps=steps, whole=True, **reading.how))
    whole: Any = open_frame(read_declared(original, scenario, also=(id,), steps=steps, **reading.beside(original).how))
    if len(frame) != len(whole):
        raise DataError(
            f"{reading.file.name} has {len(frame):,} records and {original.name} {len(whole):,}: row by row they are "
            "not the same people's; add a release that has its id"
        )
    rows = None if recodings is None else recodings.in_order_of(whole).rows
    ids = whole[id] if rows is None else whole[id][rows.tolist()]
    return with_column_of(frame.drop(id, strict=False), ids).to_native()


def _check_original(original: Path | None, id: str | None, engine: EngineOptions) -> None:
    if original is not None and engine.used:
        raise ScenarioError(
            "--original and FILE belong together row by row, and an engine has no order of rows: leave --engine out, "
            "both are read into memory, or give a FILE that has the id"
        )
    if original is not None and id is None:
        raise ScenarioError("--original has the id of each record; name it: --id COLUMN")


def _read(
    reading: Reading, engine: EngineOptions, scenario: Scenario, columns: Sequence[str], id: str | None, steps: Steps,
    *, original: Path | None, log: Path | None,
) -> tuple[Any, int]:  # fmt: skip
    """The release with all of its columns but identifiers, as a plan where an engine is named; its records.

    Its id is that of the original, where that is given.
    """
    if original is not None:
        frame = _with_id(reading, scenario, original, log, str(id), steps)
        return frame, frame.height
    if engine.used:
        return engine.open(reading, scenario, [name for name in columns if name not in scenario.identifiers], steps)
    also = () if id is None else (id,)
    frame = read_declared(reading.file, scenario, also=also, if_there=tuple(columns), steps=steps, **reading.how)
    return frame, frame.height


def _earlier(
    file: Path, scenario: Scenario, reading: Reading, id: str | None, keys: list[str], steps: Steps,
    engine: EngineOptions, release: Any,
) -> Any:  # fmt: skip
    """An earlier release with all of its columns but identifiers; its id, where it has one."""
    from sdckit.data.files.readers import scan_header
    from sdckit.data.files.scan_file import is_read_by

    named = scenario.changed(intruders={"default": tuple(keys)}, missing="wildcard") if keys else scenario
    own = reading.beside(file)
    columns = scan_header(file, **own.how).columns
    also = () if id is None or id not in columns else (id,)
    if is_read_by(engine.engine, file):
        chosen = [name for name in columns if name not in scenario.identifiers or name in also]
        return engine.scan(own, steps, columns=chosen, missing=scenario.missing_codes, beside=release)[0]
    return read_release(file, named, also=also, steps=steps, whole=True, **own.how)


def _verdicts(scenario: Scenario, differences: dict[str, Differencing]) -> list[Verdict]:
    """The limits in force against every intruder: what is disclosed together, and k, risk and l on linked releases."""
    from sdckit.workflow.verdicts import judge_differencing, judge_linked

    verdicts: list[Verdict] = []
    for name, result in differences.items():
        limit = scenario.limit_on(result.measure)
        verdicts += [] if limit is None else [judge_differencing(limit, name, result, {})]
        verdicts += judge_linked(scenario.limits, name, result)
    return verdicts


def _report(
    path: Path, name: str, differences: dict[str, Differencing], verdicts: list[Verdict], *, internal: bool
) -> None:
    from sdckit.report.chapters.ledger_page import ledger_page, plain_ledger
    from sdckit.report.formats.write import write_page

    write_page(ledger_page(plain_ledger(differences, verdicts, internal=internal), name), path, internal=internal)


def _told(verdicts: list[Verdict]) -> int:
    """Say whether the threshold holds, and give the exit code."""
    for verdict in verdicts:
        tell(f"\n{verdict.word}: {verdict.sentence}")
    if any(verdict.holds is False for verdict in verdicts):
        return EXCEEDED
    return BAD_INPUT if any(verdict.holds is None for verdict in verdicts) else OK
