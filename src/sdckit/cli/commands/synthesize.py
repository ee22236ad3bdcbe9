"""``sdckit synthesize``: a file of made-up records that behave like the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.cli import errors, outputs, progress, recipe_files
from sdckit.cli.options import Quiet, Texts, as_typed, option, path_typed, split, split_named
from sdckit.cli.source import EngineOptions, Reading, takes
from sdckit.data.methods import ADVICE
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.release_files import numbered, unread, write_release

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


@takes(EngineOptions, Reading)
def synthesize(
    engine: EngineOptions,
    reading: Reading,
    *,
    out: recipe_files.Out,
    m: Annotated[int, option("synthesis", "--m")] = 1,
    columns: Annotated[Texts, option("synthesis", "--columns")] = None,
    order: Annotated[Texts, option("synthesis", "--order")] = None,
    models: Annotated[Texts, option("synthesis", "--models")] = None,
    formulas: Annotated[Texts, option("synthesis", "--formula")] = None,
    n: Annotated[int | None, option("synthesis", "--n")] = None,
    proper: Annotated[bool, option("synthesis", "--proper")] = False,
    min_leaf: Annotated[int | None, option("synthesis", "--min-leaf")] = None,
    smoothing: Annotated[float | None, option("synthesis", "--smoothing")] = None,
    identifiers: Annotated[Texts, option("synthesis", "--identifiers")] = None,
    scenario: Annotated[Path | None, option("synthesis", "--scenario")] = None,
    seed: recipe_files.SeedMixed = None,
    log: recipe_files.Log = None,
    force: recipe_files.Force = False,
    replay: recipe_files.Replay = None,
    labels: recipe_files.Labelled = None,
    excel_safe: recipe_files.Safe = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise a file: each variable drawn from a model of it given those before.

    FILE is never overwritten, an older release only with --force. Exit code 0 when it ran; 2 for bad input.
    """
    file = reading.file
    if m < 1:
        raise ScenarioError("--m counts files; give a whole number of 1 or more")
    outputs.check_targets(*numbered(out, m), log, inputs=(*reading.inputs, scenario, replay))
    recipe_files.check_release(numbered(out, m), log, replay=replay, force=force)
    recipe_files.check_format(out, *reading.inputs, excel_safe=excel_safe)
    engine.check(reading)
    if engine.used:
        recipe_files.check_written(out, labels=labels)
    file_labels = recipe_files.labels_for(out, reading, wanted=labels)
    by_column = {name: model for text in models or () for name, model in _models(text).items()}
    step = {"method": "synthesize", "m": m, "columns": split(columns) or None, "order": split(order) or None,
            "models": by_column or None, "predictors": _predictors(formulas or ()) or None, "n": n,
            "proper": proper or None, "min_leaf": min_leaf, "smoothing": smoothing}  # fmt: skip
    from sdckit.workflow.recipes.recipe import Recipe

    recipe = Recipe([step])
    chosen = recipe_files.scenario_of(recipe, scenario)
    then = recipe_files.read_replay(replay, recipe, scenario=chosen, seed=seed)
    with progress.Steps(quiet=quiet) as steps:
        left_out = [*split(identifiers), *unread(recipe, chosen)]
        frame, _ = recipe_files.open_all(
            reading, engine, steps=steps, recipe=recipe, scenario=chosen, leave_out=left_out
        )
        applied = recipe_files.apply_or_replay(
            recipe, frame, then, steps=steps, watch=False, scenario=chosen, seed=seed
        )
        written = write_release(
            applied.data,
            out,
            log=applied.log,
            log_path=log,
            sources=reading.inputs,
            excel_safe=excel_safe,
            labels=file_labels,
        )
    if not quiet:
        from sdckit.cli.terminal import print_blocks
        from sdckit.report.notebook import recipe_blocks

        print_blocks(recipe_blocks(applied.what_was_done), head=[f"{file.name}: {applied.log.n:,} records"])
        errors.tell(f"\nWritten: {', '.join(path.name for path in written)}")
        if log is None and replay is None:
            errors.tell("Without --log these files cannot be made again: their secret is gone.")
        numbering = _numbering(applied.data, chosen)
        for name in (name for name in numbering if name not in left_out):
            errors.tell(f"{name} {numbering[name]} {file.name}: {ADVICE['numbers_of_units']}, or leave it out.")
        errors.tell("A synthetic file is not safe by itself. What it tells:")
        errors.tell(f"  {_judged_by(reading, numbered(out, m), scenario)}")


def _judged_by(reading: Reading, released: Sequence[Path], scenario: Path | None) -> str:
    """The command that says what made files tell; attacks need no roles of columns."""
    files = path_typed(reading.file) + "".join(f" --released {path_typed(file)}" for file in released)
    if scenario is None:
        return f"sdckit attack {files}{as_typed(reading)}"
    return f"sdckit assess {files} --scenario {path_typed(scenario)}{as_typed(reading)}"


def _numbering(made: Any, scenario: Scenario | None) -> dict[str, str]:
    """Columns with the real numbers of units, and how sure that is: as declared, or as a file without roles looks."""
    if scenario is not None:
        return {name: "has the numbers of" for name in (scenario.household, scenario.person) if name is not None}
    from sdckit.data.scenarios.guess import guess_roles

    guesses = guess_roles(made[0] if isinstance(made, list) else made)
    of_units = (*guesses.of("household"), *guesses.of("person"), *guesses.of("identifier"))
    return dict.fromkeys(of_units, "looks like the numbers of people or households, and may have those of")


def _predictors(formulas: Sequence[str]) -> dict[str, str]:
    """Each ``--formula`` by its left side."""
    named: dict[str, str] = {}
    for text in formulas:
        name, tilde, terms = text.partition("~")
        column = name.strip().strip("`")
        if not tilde or not column or not terms.strip():
            raise ScenarioError(f"--formula {text!r} is not 'COLUMN ~ TERMS', such as 'income ~ age * sex'")
        if column in named:
            raise ScenarioError(f"--formula names {column!r} twice")
        named[column] = f"~ {terms.strip()}"
    return named


def _models(text: str) -> dict[str, str]:
    """Read one ``--models``, which may name several with commas between them."""
    return split_named(split([text]), option="--models", example="income=normal")
