"""``sdckit explore``: a recipe with every combination of some arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.cli import errors, progress, recipe_files
from sdckit.cli.options import Quiet, ReleaseType, argument, option
from sdckit.cli.outputs import FEWEST_RECORDS, check_chart_name, check_targets, count, number, percent, refuse_existing
from sdckit.cli.source import Reading, takes
from sdckit.data.files.file_limits import toml_of
from sdckit.display import counted
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.recipes.release_files import unread

if TYPE_CHECKING:
    from sdckit.workflow.recipes.explore import Exploration


@takes(ReleaseType, Reading)
def explore(
    of_type: ReleaseType,
    reading: Reading,
    recipe: Annotated[Path, argument("explore", "recipe")],
    *,
    grid: Annotated[list[str], option("explore", "--grid")],
    scenario: Annotated[Path | None, option("explore", "--scenario")] = None,
    seed: Annotated[int | None, option("explore", "--seed")] = None,
    risk_figure: Annotated[str, option("explore", "--risk-figure")] = "expected_reidentifications",
    loss_figure: Annotated[str, option("explore", "--loss-figure")] = "share_changed",
    workers: Annotated[int | None, option("explore", "--workers")] = None,
    resume: Annotated[Path | None, option("explore", "--resume")] = None,
    out: Annotated[Path | None, option("explore", "--out", "-o")] = None,
    force: Annotated[bool, option("explore", "--force")] = False,
    plot: Annotated[Path | None, option("explore", "--plot")] = None,
    quiet: Quiet = False,
) -> None:
    """Try a recipe with every combination of some arguments: risk against what is lost.

    Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.workflow.recipes.recipe import Recipe

    file = reading.file
    steps_of = Recipe.from_toml(recipe)
    chosen = of_type.of(recipe_files.scenario_of(steps_of, scenario))
    values = read_grid(grid)
    check_targets(out, plot, resume, inputs=(*reading.inputs, recipe, scenario, of_type.release_types))
    refuse_existing(out, force=force)
    if out is not None:
        recipe_files.check_format(out, file, excel_safe=False)
    check_chart_name(plot)
    with progress.Steps(quiet=quiet) as steps:
        frame = recipe_files.read_all(
            file, reading, steps=steps, recipe=steps_of, scenario=chosen, leave_out=unread(steps_of, chosen),
            **reading.how,
        )  # fmt: skip
        if plot is not None and len(frame) < FEWEST_RECORDS:
            raise DataError(
                f"the file has fewer than {FEWEST_RECORDS} records, too few for a map that may leave the room; leave "
                "--plot out, --out writes the exact table"
            )
        from sdckit.workflow.recipes.explore import explore as run

        exploration = run(
            frame, steps_of, grid=values, scenario=chosen, seed=seed, risk_figure=risk_figure,
            loss_figure=loss_figure, workers=workers, resume=resume, step=steps.step,
        )  # fmt: skip
        _write(exploration, out, plot)
    if not quiet:
        _print(exploration, file.name, [path for path in (out, plot) if path is not None])


def read_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Read ``step.argument=value,value``; values as TOML writes them, words without quotes are text.

    Examples
    --------
    >>> read_grid(["2.k=2,3,5", "recode.how=log,equal_width", "recode.bands=[0, 40, inf],5"])
    {'2.k': [2, 3, 5], 'recode.how': ['log', 'equal_width'], 'recode.bands': [[0, 40, inf], 5]}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        path, equals, values = (part.strip() for part in text.partition("="))
        if not (path and equals and values):
            raise ScenarioError("--grid takes step.argument=value,value, such as --grid pram.pd=0.7,0.9")
        if path in grid:
            raise ScenarioError(f"--grid names {path} twice; give all its values together")
        grid[path] = _values(values)
    return grid


def _values(text: str) -> list[Any]:
    try:
        return list(toml_of(f"v = [{text}]")["v"])
    except ValueError:
        return [part.strip() for part in text.split(",") if part.strip()]


def _write(exploration: Exploration, out: Path | None, plot: Path | None) -> None:
    if out is not None:
        from sdckit.data.files.write_file import write_file

        write_file(exploration.table, out, private=True)
    if plot is not None:
        from sdckit.report.offline import write_chart

        write_chart(exploration.plot(), plot, what="map")


def _print(exploration: Exploration, name: str, written: list[Path]) -> None:
    from sdckit.cli.terminal import print_blocks
    from sdckit.data.losses import COARSENING
    from sdckit.report.blocks import Block, Paragraph, TableBlock

    paths = list(exploration.points[0].parameters)
    other = [exploration.loss] if exploration.loss in COARSENING else []
    heads = ("", *paths, "Alone", f"Below {exploration.k}", "Expected links", "Differ", "pMSE", *other, "Front")
    rows = []
    notes: list[Block] = []
    for row, (point, front) in enumerate(zip(exploration.points, exploration.on_front, strict=True), 1):
        one = point.figures
        if point.note:
            notes.append(Paragraph(f"{row}: {point.note}", "note"))
        figures = ("–",) * (5 + len(other))
        if not point.note:
            figures = (
                count(one["sample_uniques"]), count(one["below_k"]), number(one["expected_reidentifications"]),
                percent(one["share_changed"], 1), f"{one['pmse']:.2g}", *(f"{one[name]:.4g}" for name in other),
            )  # fmt: skip
        rows.append((str(row), *(str(value) for value in point.parameters.values()), *figures, "*" * front))
    table = TableBlock("Recipes tried", heads, tuple(rows), tuple(range(1, len(heads) - 1)))
    best = Paragraph(f"* no other recipe has less of {exploration.risk} and not more of {exploration.loss}.", "note")
    print_blocks([*notes, table, best], head=[f"{name}: {counted(len(exploration.points), 'recipe')}"])
    if written:
        errors.tell(f"Written: {', '.join(path.name for path in written)}")
