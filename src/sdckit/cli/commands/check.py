"""``sdckit check``: the release gate. It fails closed."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.cli import errors, progress
from sdckit.cli.commands.assess import Release, run
from sdckit.cli.options import (
    Limits,
    Quiet,
    ReleaseType,
    as_typed,
    codes,
    make_scenario,
    option,
    path_typed,
    whole_population,
)
from sdckit.cli.recipe_files import MAY_GO_OUT, public_command
from sdckit.cli.source import EngineOptions, Reading, takes
from sdckit.data.limits import LIMITS
from sdckit.errors import SdcError, SdcWarning

if TYPE_CHECKING:
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.check import CheckResult


NO_LEDGER = (
    "What it discloses together with earlier releases of the same people was not looked at: the scenario names no "
    "ledger (sdckit ledger create)."
)


@takes(Release, Limits, ReleaseType, EngineOptions, Reading, leave_out=("aligned", "model", "attacks", "n_attacks"))
def check(
    release: Release,
    limits: Any,
    of_type: ReleaseType,
    engine: EngineOptions,
    reading: Reading,
    *,
    scenario: Annotated[Path, option("check", "--scenario")],
    earlier: Annotated[list[Path] | None, option("check", "--earlier")] = None,
    sarif: Annotated[Path | None, option("check", "--sarif")] = None,
    figures: Annotated[Path | None, option("check", "--figures")] = None,
    protected: Annotated[bool, option("check", "--protected")] = False,
    quiet: Quiet = False,
) -> int:
    """Check a file, or a release against its original, against every threshold of a scenario; options win.

    Exit code 0 within every declared threshold; 1 a threshold exceeded; 2 bad input, or a threshold that
    could not be checked; 3 internal error.
    """
    from sdckit.cli.outputs import check_table, check_targets
    from sdckit.workflow.check import check_assessment, require_gate
    from sdckit.workflow.recipes.release_files import against_ledger

    chosen = make_scenario(scenario, thresholds=vars(limits), missing_codes=codes(reading.missing), **of_type.entries)
    require_gate(chosen, compared=bool(release.files))
    beside = AgainstLedger(*against_ledger(chosen, release.files or [reading.file], earlier or ()))
    chosen = beside.scenario
    release.check(reading.file)
    given = f"{path_typed(reading.file)} --scenario {path_typed(scenario)}"
    report = f"sdckit assess {given}{as_typed(release, of_type, limits, engine, reading)} --report report.html"
    engine = engine.by_default(reading, chosen, has_release=bool(release.files))
    engine.check(reading)
    others = (scenario, of_type.release_types, release.control, release.recipe, release.log)
    for file in (*release.files, *([] if release.control is None else [release.control])):
        reading.beside(file)  # what is said of how it is read tells no count: it is not kept back
    check_table(figures)
    check_targets(sarif, figures, inputs=(reading.file, *others, *release.files, *(earlier or ())))
    with progress.Steps(quiet=quiet) as steps, _kept_back(protected=protected) as kept:
        result = check_assessment(run(reading, chosen, release, steps=steps, engine=engine, gate=True))
        if sarif is not None:
            steps.step("writing the SARIF log")
            result.to_sarif(sarif, file=str(reading.file), released=[str(file) for file in release.files])
        if figures is not None:
            _write_verdicts(figures, result, protected=protected)
        told = beside.settled(passed=result.passed)
    shown: Sequence[Any] = result.verdicts
    if protected:
        shown = _print_protected(result, reading.file.name, kept, report=report, quiet=quiet)
    elif not quiet:
        _print(result, result.verdicts, reading.file.name, report, several=len(result.assessment.intruders) > 1)
    if not quiet:
        if result.passed:
            made = {"recipe": release.recipe, "log": release.log} if release.left_out else {}
            alone = [  # what goes out beside it follows from it alone
                public_command(file, scenario, reading.beside(file), of_type, limits, **made) for file in release.files
            ]
            for line in (*(f"{MAY_GO_OUT}\n  {typed}" for typed in alone), *beside.lacking):
                errors.tell(line)
        errors.tell(f"{reading.file.name}: {'passed' if result.passed else 'NOT passed'}{_of_both_kinds(shown)}")
    if not quiet and (promise := getattr(result.assessment, "promise", None)) is not None:
        from sdckit.report.chapters.promise_chapter import promise_line, promise_tree

        errors.tell(promise_line(promise_tree(promise)))
    if not quiet:
        for line in (*told, *_of_tables(result, reading, release, path_typed(scenario))):
            errors.tell(line)
    for verdict in () if protected else result.undefined:
        whom = f"threshold {verdict.name} for intruder '{verdict.intruder}'" if verdict.intruder else verdict.name
        errors.say(f"error: {whom} could not be checked: {verdict.reason}")
    return exit_code(result)


def _of_tables(result: CheckResult, reading: Reading, release: Release, scenario: str) -> list[str]:
    """What is left open of tables that the scenario declares, with the commands that tell it."""
    from sdckit.report.chapters.document import tables_kinds
    from sdckit.report.views.joint_audit import tables_command, tables_open

    kinds, judged = tables_kinds(result.assessment.scenario), {verdict.name for verdict in result.verdicts}
    audits: list[Any] = [own.results.get("joint_audit") for own in result.assessment.intruders]
    words = tables_open(kinds, judged, cells=any(audit is not None and any(audit.cells) for audit in audits))
    original = path_typed(reading.file) if release.files else ""
    more = as_typed(reading) + ("" if release.log is None else f" --log {path_typed(release.log)}")
    files = map(path_typed, release.files or [reading.file])
    commands = [tables_command(kinds, file, original, scenario + more) for file in files]
    return [words, *(f"  {command}" for command in commands)] if words else []


def _write_verdicts(path: Path, result: CheckResult, *, protected: bool) -> None:
    """Write what is said of every threshold; exact figures, unless `protected`, for their owner alone."""
    from sdckit.data import pl
    from sdckit.data.files.write_file import write_file

    texts, figures = ("threshold", "intruder", "variable", "verdict"), ("limit", "n_records", "value")
    judged: Sequence[Any] = result.told().verdicts if protected else result.verdicts
    rows = [
        (verdict.name, verdict.intruder, verdict.variable, verdict.word)
        + (() if protected else tuple(getattr(verdict, name) for name in figures))
        + (verdict.sentence,)
        for verdict in judged
    ]
    kinds = dict.fromkeys(texts, pl.String) | ({} if protected else dict.fromkeys(figures, pl.Float64))
    write_file(pl.DataFrame(rows, schema=kinds | {"sentence": pl.String}, orient="row"), path, private=not protected)


@dataclass(frozen=True)
class AgainstLedger:
    """The ledger of a scenario, if it names one, and the entries of it that remember the files that are to go out."""

    scenario: Scenario
    ledger: ReleaseLedger | None = None
    own: tuple[str, ...] = ()

    @property
    def lacking(self) -> list[str]:
        """What is said where the scenario names no ledger."""
        return [NO_LEDGER] if self.ledger is None else []

    def settled(self, *, passed: bool) -> list[str]:
        """Make pending entries of files that passed released ones; what became of them, in lines."""
        if self.ledger is None:
            return []
        from sdckit.cli.commands.ledger import head_line

        ledger = self.ledger
        pending = [entry.name for entry in ledger.entries if entry.pending and entry.name in self.own]
        for name in pending if passed else ():
            ledger = ledger.release(name)
        state = "is released" if passed else "stays pending"
        if not self.own:
            state = "is not remembered: if it goes out, add it (sdckit ledger add)"
        lines = [f"In the ledger the release {state}."] if pending or not self.own else []
        of_ledger = next(name for name, kind in LIMITS.items() if kind.judged == "ledger")
        if self.ledger.without(self.own).entries and of_ledger not in self.scenario.limits_of(compared=True).declared:
            lines.append(
                "What it discloses together with the earlier releases is not judged: the scenario has no limit on it "
                f"(under [thresholds], {of_ledger} = 0.01 is one record in a hundred)."
            )
        return [*lines, head_line(ledger)]


def _of_both_kinds(verdicts: Sequence[Any]) -> str:
    """Why a gate with an exceeded limit ends as one that could not be judged: the exit code says one thing only."""
    states = {verdict.holds for verdict in verdicts}
    return ": a limit is exceeded, and another is not judged" if {False, None} <= states else ""


def exit_code(result: CheckResult) -> int:
    """Give 0 only where every threshold was checked and holds."""
    if result.undefined:
        return errors.BAD_INPUT
    return errors.OK if result.passed else errors.EXCEEDED


@contextmanager
def _kept_back(*, protected: bool) -> Generator[list[str]]:
    """Collect the warnings about files, which tell exact counts as errors do, where others read what is printed."""
    if not protected:
        yield []
        return
    from sdckit.workflow.check import protected_error

    kept: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SdcWarning)
        try:
            yield kept
        except SdcError as error:
            raise protected_error(error) from None
    kept += (str(warning.message) for warning in caught)


def _print_protected(result: CheckResult, name: str, kept: list[str], *, report: str, quiet: bool) -> Sequence[Any]:
    """Print what the protected document of the gate says, warnings included; its verdicts."""
    protected = result.told()
    if not quiet:
        _print(result, protected.verdicts, name, report, several=protected.several_intruders, protected=True)
    for text in protected.warnings:
        errors.say(f"warning: {text}")
    if set(kept) - set(result.assessment.warnings):
        errors.say(
            "warning: some warnings about the files are left out, since they tell exact counts; the same command "
            "without --protected prints them"
        )
    for verdict, shown in zip(result.verdicts, protected.verdicts, strict=True):
        if verdict.holds is None:
            whom = f"for intruder '{shown.intruder}': " if shown.intruder else ""
            errors.say(f"error: {whom}{shown.sentence}")
    return protected.verdicts


def _print(
    result: CheckResult, verdicts: Sequence[Any], name: str, report: str, *, several: bool, protected: bool = False
) -> None:  # fmt: skip
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.blocks import Items, Paragraph, Verdicts
    from sdckit.report.chapters.coverage_chapter import coverage_blocks
    from sdckit.report.chapters.decision import NEXT, of_population
    from sdckit.report.chapters.sentences import N_ROWS_OPEN, limits_tree, release_sentence

    compared = result.assessment.compared
    scenario, columns = result.assessment.scenario, result.assessment.column_roles
    line = "" if columns is None or scenario.release is not None else columns.line
    tree = limits_tree(scenario, compared=compared, judged=[verdict.name for verdict in result.verdicts])
    sentences = [text for text in (release_sentence(tree), line) if text]
    items = tuple((verdict.word, verdict.intruder if several else "", verdict.sentence) for verdict in verdicts)
    rows, asked = result.assessment.coverage.rows(), "any question that a limit asks (assess asks more)"
    looked_at = coverage_blocks(rows, n_intruders=len(result.assessment), of=asked)
    print_blocks([*map(Paragraph, sentences), Verdicts(items), *looked_at])
    steps, n_more = result.next_steps(protected=protected)
    if steps:
        more = (f"And {n_more:,} more: in the report",) if n_more else ()
        lines = (*(f"{step} ({', '.join(names)})" for step, names in steps), *more)
        print_blocks([Paragraph(f"\n{NEXT}:"), Items(lines)])
    for line in result.households_alone(protected=protected):
        errors.tell(line)
    if any(verdict.single_rows for verdict in result.verdicts):
        print_blocks([Paragraph(N_ROWS_OPEN)])
    if taken := whole_population(result.assessment.scenario, name):
        errors.tell(taken)
    if people := result.assessment.stands_for:
        print_blocks([Paragraph(of_population(people))])
    errors.tell(f"All figures, and a report {'for those who decide' if compared else 'to hand on'}:\n  {report}")
