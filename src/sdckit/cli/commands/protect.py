"""``sdckit protect``: a recipe applied to a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from sdckit.cli import errors, outputs, recipe_files
from sdckit.cli.options import CoverOptions, Quiet, ReleaseType, Texts, argument, option, split_named, whole_population
from sdckit.cli.progress import Steps
from sdckit.cli.source import EngineOptions, Reading, takes
from sdckit.data.methods import MIXING, kind_of
from sdckit.display import counted
from sdckit.errors import FileFormatError, ScenarioError
from sdckit.workflow.recipes.release_files import (
    PendingRelease,
    check_ledger,
    numbered,
    open_ledger,
    unread,
    write_release,
)

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Applied, Recipe


TOML = ".toml"


@dataclass(frozen=True, kw_only=True)
class InLedger:
    """Whether the ledger of the scenario remembers the release, and as what."""

    ledger: Annotated[bool | None, option("protect", "--ledger/--no-ledger")] = None
    ledger_name: Annotated[str | None, option("protect", "--ledger-name")] = None
    ledger_date: Annotated[str, option("protect", "--ledger-date")] = ""

    def opened(
        self, scenario: Scenario | None, engine: EngineOptions, reading: Reading, out: Path, m: int, *, force: bool,
        replay: bool,
    ) -> PendingRelease | None:  # fmt: skip
        """The ledger that is to remember m files; None where none is to, nor by itself what was made before."""
        place = None if scenario is None else scenario.ledger
        if not (self.ledger or (self.ledger is None and not replay and place is not None and place.add)):
            if self.ledger_name is not None or self.ledger_date:
                raise ScenarioError("--ledger-name and --ledger-date are of an entry in the ledger; give --ledger, too")
            return None
        if scenario is None or place is None:
            raise ScenarioError("--ledger is for the ledger of a scenario; give --scenario with [ledger]")
        if engine.used:
            raise ScenarioError("--ledger reads what an engine never does whole; leave it out, use sdckit ledger add")
        stem = self.ledger_name or out.stem
        names = (stem,) if m == 1 else tuple(f"{stem} {number}" for number in range(1, m + 1))
        ledger, date = open_ledger(scenario), self.ledger_date
        return PendingRelease(ledger, scenario, names, partial(_ids, reading), date, force).check_names()


def _ids(reading: Reading, name: str) -> Any:
    """A column of the file, which the release need not have."""
    from sdckit.data.files.readers import read_file
    from sdckit.data.frames import open_frame

    frame: Any = open_frame(read_file(reading.file, columns=(name,), **reading.how))
    return frame[name]


@takes(InLedger, ReleaseType, CoverOptions, EngineOptions, Reading)
def protect(
    in_ledger: InLedger,
    of_type: ReleaseType,
    cover: CoverOptions,
    engine: EngineOptions,
    reading: Reading,
    recipe: Annotated[Path, argument("protect", "recipe")],
    *,
    out: recipe_files.Out,
    scenario: Annotated[Path | None, option("protect", "--scenario")] = None,
    log: recipe_files.Log = None,
    force: recipe_files.Force = False,
    replay: recipe_files.Replay = None,
    seed: recipe_files.SeedMixed = None,
    id_key: Annotated[
        Texts,
        Option("--id-key", metavar="COLUMN=FILE", help="new_ids: a file with the key, hexadecimal; made up without."),
    ] = None,
    report: Annotated[Path | None, option("protect", "--report")] = None,
    internal: Annotated[bool, option("protect", "--internal")] = False,
    beside: Annotated[Path | None, option("protect", "--beside")] = None,
    dry_run: Annotated[bool, option("protect", "--dry-run")] = False,
    labels: recipe_files.Labelled = None,
    excel_safe: recipe_files.Safe = False,
    quiet: Quiet = False,
) -> None:
    """Protect a file by a recipe: recode, suppress, perturb, synthesise, step by step.

    FILE is never overwritten, an older release only with --force, and never without the log that tells of it.
    The scenario's identifiers are left out, unless a step deals with them. Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.workflow.recipes.recipe import Recipe, UnseenRecipe

    file = reading.file
    if file.suffix.lower() == TOML and recipe.suffix.lower() != TOML:
        raise ScenarioError(f"the recipe comes first: sdckit protect {file.name} {recipe.name} --out ...")
    steps_of = (UnseenRecipe if quiet and report is None else Recipe).from_toml(recipe)
    chosen = of_type.of(recipe_files.scenario_of(steps_of, scenario))
    outputs.check_report_name(report)
    cover.check(written=report is not None)
    if report is not None and chosen is None:
        raise ScenarioError("--report tells who could be recognised; give --scenario S.toml")
    outputs.check_beside(beside, written=report is not None)
    check_ledger(chosen if report is not None else None)
    inputs = (*reading.inputs, recipe, scenario, of_type.release_types, replay, *_read_by(steps_of, recipe))
    written_to = numbered(out, _m(steps_of))
    outputs.check_targets(*written_to, log, report, inputs=inputs)
    if not dry_run:
        recipe_files.check_release(written_to, log, replay=replay, force=force)
    recipe_files.check_format(out, *reading.inputs, excel_safe=excel_safe)
    if alone := steps_of.reads_alone:
        refused = {"--report": report, "--replay": replay, "--seed": seed, "--labels": labels, "engine": engine.used}
        _check_alone(steps_of, refused, in_ledger, chosen, reading, out)
    _check_engine(engine, reading, out, labels=labels, report=report)
    file_labels = recipe_files.labels_for(out, reading, wanted=False if alone else labels)
    keys = _keys(id_key)
    pending = in_ledger.opened(chosen, engine, reading, out, len(written_to), force=force, replay=replay is not None)
    then = recipe_files.read_replay(replay, steps_of, scenario=chosen, seed=seed, keys=keys)
    with Steps(quiet=quiet) as steps:
        frame, n = _opened(reading, engine, steps, steps_of, chosen)
        if report is not None and n is not None:
            outputs.check_enough_records(n, internal=internal)
        if dry_run:
            steps_of.check(frame, scenario=chosen)
            sizes = counted(len(steps_of.steps), "step") + ("" if n is None else f", {counted(n, 'record')}")
            errors.tell(f"{recipe.name} fits {file.name}: {sizes}")
            return
        applied = recipe_files.apply_or_replay(
            steps_of, frame, then, steps=steps, scenario=chosen, seed=seed, keys=keys
        )
        assessed = None
        if report is not None:  # before anything is written: what cannot be reported is not released
            steps.step("assessing the release")
            assessed = applied.assess(seed=seed)
        written = write_release(
            applied.data, out, log=applied.log if log else None, log_path=log, excel_safe=excel_safe,
            sources=[input_ for input_ in inputs if input_ is not None], labels=file_labels,
            remember=None if pending is None else partial(pending.remember, applied),
        )  # fmt: skip
        if report is not None and assessed is not None:
            steps.step("writing the report")
            about = cover.arguments(*reading.inputs, *written_to)
            assessed.report(report, internal=internal, beside=beside, labels=reading.labels(), **about)
    if not quiet:
        _print(applied, file.name, written, log=log, report=report, replayed=replay is not None, pending=pending)


def _opened(
    reading: Reading, engine: EngineOptions, steps: Steps, recipe: Recipe, scenario: Scenario | None
) -> tuple[Any, int | None]:
    """FILE for the recipe, and its number of records; None where the first step alone reads it."""
    if recipe.reads_alone:
        from sdckit.data.files.domain_files import DomainFile

        return DomainFile(reading.file, reading.delimiter, reading.encoding, reading.decimal), None
    return recipe_files.open_all(
        reading, engine, steps=steps, recipe=recipe, scenario=scenario, leave_out=unread(recipe, scenario)
    )


def _check_engine(
    engine: EngineOptions, reading: Reading, out: Path, *, labels: bool | None, report: Path | None
) -> None:
    """Refuse what no engine does, before any work."""
    engine.check(reading)
    if not engine.used:
        return
    if report is not None:
        raise ScenarioError(
            "--report compares in memory what an engine keeps; leave it out, and run assess on the file written"
        )
    recipe_files.check_written(out, labels=labels)


READ_OTHERWISE = ("missing", "user_missing", "sheet", "header_row", "join", "join_key")


def _check_alone(
    recipe: Recipe, refused: dict[str, Any], in_ledger: InLedger, scenario: Scenario | None, reading: Reading, out: Path
) -> None:
    """Refuse, where the first step alone reads FILE, what would read it, too, or draw its noise again."""
    from sdckit.workflow.recipes.margins_first import refuse

    first, place = recipe.steps[0], None if scenario is None else scenario.ledger
    file, how = reading.file.name, f"{reading.file.name} is read by its domain, which says what its values mean"
    why = {
        "--report": f"sdckit assess {file} --released {out.name} --log LOG.json --report OUT.html compares the two",
        "--replay": "its noise is in no log, and never drawn again",
        "--seed": "whoever could draw its noise again could take it away; leave it out",
        "engine": "noise is drawn in memory",
    }
    options = {f"--{name.replace('_', '-')}": getattr(reading, name) for name in READ_OTHERWISE}
    for flag, value in (refused | options).items():
        if value not in (None, False):
            raise refuse(first, flag, why.get(flag, how))
    if in_ledger.ledger or (in_ledger.ledger is None and place is not None and place.add):
        raise refuse(first, "--ledger", "it reads the original, too; --no-ledger, and sdckit ledger add afterwards")


def _m(recipe: Recipe) -> int:
    from sdckit.workflow.recipes.recipe_steps import method_of, n_files

    last = recipe.steps[-1]
    return n_files(method_of(last.method, "the last step"), last.arguments)


def _read_by(recipe: Recipe, path: Path) -> list[Path]:
    """Files that the recipe names: none of them may be an output."""
    named = [step.arguments.get(name) for step in recipe.steps for name in kind_of(step.method).files]
    return [path.parent / name for name in [*named, recipe.scenario] if isinstance(name, str)]


def _keys(named: list[str] | None) -> dict[str, str]:
    levels = {}
    for column, name in split_named(named, option="--id-key", example="person=key.hex").items():
        path = Path(name)
        try:
            levels[column] = path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeError):
            raise FileFormatError(f"--id-key {column}: {path.name} cannot be read as a hexadecimal key") from None
    return levels


def _in_old_order(applied: Applied) -> list[str]:
    """Columns of new identifiers whose old ones the order of the records tells: the file was sorted by them."""
    from sdckit.data.frames import really_has
    from sdckit.workflow.recipes.recipe_steps import method_of

    steps, original = applied.recipe.steps, applied.original
    if any(kind_of(step.method) is MIXING or kind_of(step.method).new_rows for step in steps):
        return []
    keyed = [step.arguments for step in steps if method_of(step.method, "step").keyed]
    names = [str(given[role]) for given in keyed for role in ("household", "column") if given.get(role)]
    olds = {
        name: original[name].drop_nulls() for name in names if really_has(original, "height")
    }  # a plan has no order
    return [
        name for name, ids in olds.items() if ids.n_unique() > 1 and (ids.is_sorted() or ids.is_sorted(descending=True))
    ]


def _print(
    applied: Applied, name: str, written: list[Path], *, log: Path | None, report: Path | None,
    replayed: bool, pending: PendingRelease | None,
) -> None:  # fmt: skip
    from sdckit.cli.terminal import print_blocks
    from sdckit.protect.margins.promise import checked_promise
    from sdckit.report.chapters.promise_chapter import promise_blocks, promise_tree
    from sdckit.report.notebook import recipe_blocks

    made = applied.log.margins
    head = f"{name}: {applied.log.n:,} records" + (" made" if made else "")
    print_blocks(
        [*(promise_blocks(promise_tree(checked_promise(made))) if made else ()), *recipe_blocks(applied.what_was_done)],
        head=[head],
    )
    if made is None and applied.scenario is not None and (taken := whole_population(applied.scenario, name)):
        errors.tell(f"\n{taken}")
    if made is None:
        errors.tell("\nThese figures are exact, for your own session.")
    errors.tell(f"Written: {', '.join(path.name for path in written)}")
    if log is not None and applied.log.is_public:
        errors.tell(f"Log written: {log.name}. It tells nothing that the release does not.")
    elif log is not None:
        errors.tell(f"Log written: {log.name}. It helps to undo the protection: keep it in the room.")
    elif not replayed and any({"seed", "key"} & {*step.secret} for step in applied.log.steps):
        errors.tell("Without --log this release cannot be made again: its secret is gone.")
    for column in _in_old_order(applied):
        errors.tell(
            f"The records stand in the order of the old {column}: whoever knows that order knows who they are. Mix "
            f"them by a last step {MIXING.name}."
        )
    if report is not None:
        errors.tell(f"Report written: {report.name}. It is {recipe_files.DECIDES}.")
    if pending is not None:
        errors.tell(pending.line)
