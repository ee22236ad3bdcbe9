"""``sdckit recipe init``: a commented recipe to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from sdckit.cli import errors, progress, recipe_files
from sdckit.cli.options import Quiet, ReleaseType, codes, make_scenario, option
from sdckit.cli.outputs import TO_STDOUT as STDOUT, check_targets, refuse_existing, written
from sdckit.cli.source import Reading, read_declared, takes
from sdckit.display import counted
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.release_files import check_ledger

app = typer.Typer(help="Make a recipe: the steps that protect a file.")


@app.callback()
def _group() -> None:
    """Keep `init` a command of its own while it is the only one."""


@app.command("init")
@takes(ReleaseType, Reading)
def init(
    of_type: ReleaseType,
    reading: Reading,
    *,
    scenario: Annotated[Path, option("recipe", "--scenario")],
    out: Annotated[str, option("recipe", "--out", "-o")] = STDOUT,
    force: Annotated[bool, option("recipe", "--force")] = False,
    share: Annotated[
        float, Option(metavar="X", help="Recode until so few of the records are left to local_suppression.")
    ] = 0.05,
    internal: Annotated[bool, option("recipe", "--internal")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a recipe to start from, by the ranked advice on the keys: each step with a comment saying why.

    The steps are tried on FILE, which is only read. Then change the recipe, and run sdckit protect.
    """
    file, target = reading.file, Path(out)
    check_targets(out, inputs=(file, scenario, of_type.release_types))
    refuse_existing(out, force=force)
    if not 0 <= share <= 1:
        raise ScenarioError("--share is a share of the records; give a number from 0 to 1")
    chosen = make_scenario(scenario, missing_codes=codes(reading.missing), **of_type.entries)
    check_ledger(chosen)
    called = recipe_files.next_commands(out, reading, of_type, scenario)
    with progress.Steps(quiet=quiet) as steps:
        from sdckit.data.files.readers import scan_header

        header = scan_header(file, **reading.how)
        # columns without a role, too: what goes out may follow from them
        frame = read_declared(file, chosen, steps=steps, if_there=tuple(header.columns), header=header, **reading.how)
        steps.step("looking for recodings")
        from sdckit.workflow.recipes.starter_recipe import HEAD, make_starter

        made = make_starter(
            frame, chosen, columns=header.columns, share=share, internal=internal,
            folder=Path() if out == STDOUT else target.parent, head=[*HEAD, "Then:", *called],
        )  # fmt: skip
    if written(out, made.text, private=internal) and not quiet:
        missed = {"Threshold still exceeded": made.exceeded, "Not judged": made.unjudged}
        hold = "".join(f" {words}: {', '.join(names)}." for words, names in missed.items() if names)
        errors.tell(
            f"Wrote {target.name}: {counted(len(made.recipe.steps), 'step')}, tried on {file.name}.{hold} "
            "Read it through. Then:"
        )
        errors.tell("\n".join(called))
