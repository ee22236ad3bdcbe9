"""``sdckit scenario init``: a commented scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from sdckit.cli.options import codes
from sdckit.cli.outputs import STDOUT, check_targets, write_text
from sdckit.cli.progress import Steps
from sdckit.cli.source import Reading, takes
from sdckit.errors import ScenarioError

__all__ = ["app"]

app = typer.Typer(help="Make a scenario: what an intruder could know, and the limits a release must keep.")


@app.callback()
def _group() -> None:
    """Keep `init` a command of its own while it is the only one."""


@app.command("init")
@takes(Reading)
def init(
    reading: Reading,
    *,
    output: Annotated[
        str, Option("--output", "-o", metavar="OUT.toml", help="Where to write it; - prints it.")
    ] = "scenario.toml",
    force: Annotated[bool, Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Guess the roles of a file's columns and write them as a commented TOML, each guess explained."""
    file, target = reading.file, Path(output)
    check_targets(output, inputs=(file,))
    if output != STDOUT and target.exists() and not force:
        raise ScenarioError(f"{target.name} exists already; --force replaces it, -o names another")
    with Steps(quiet=output == STDOUT) as steps:
        steps.step(f"looking at {file.name}")
        from sdckit.data.scenarios.guess import scenario_toml

        text = scenario_toml(file, missing=codes(reading.missing), **reading.how)
    if output == STDOUT:
        typer.echo(text, nl=False)
        return
    write_text(target, text)
    typer.echo(f"Wrote {target.name}. Read it through: the roles are guesses. Then:")
    typer.echo(f"  sdckit assess {file.name} --scenario {target.name} --report report.html")
