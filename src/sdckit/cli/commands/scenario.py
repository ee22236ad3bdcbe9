"""``sdckit scenario init``: a commented scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli import errors, options, progress
from sdckit.cli.outputs import TO_STDOUT as STDOUT, check_targets, refuse_existing, written
from sdckit.cli.source import Reading, takes

if TYPE_CHECKING:
    from sdckit.data.scenarios.guessing.judge import RoleGuesses


TAKEN = "taken for the whole population,\nunless sampling_fraction = X (or weight) is declared in it"

app = typer.Typer(help="Make a scenario: what an intruder could know, and the thresholds a release must keep.")


@app.callback()
def _group() -> None:
    """Keep `init` a command of its own while it is the only one."""


@app.command("init")
@takes(Reading)
def init(
    reading: Reading,
    *,
    out: Annotated[str, options.option("scenario", "--out", "-o")] = "scenario.toml",
    force: Annotated[bool, options.option("scenario", "--force")] = False,
) -> None:
    """Guess the roles of a file's columns and write them as a commented TOML.

    Each guess says how sure it is, and why. What is not sure is asked in the file, under unconfirmed:
    delete each name there when you have looked at it; until then sdckit check refuses to be a gate.
    """
    file, target = reading.file, Path(out)
    check_targets(out, inputs=reading.inputs)
    refuse_existing(out, force=force)
    with progress.Steps(quiet=out == STDOUT) as steps:
        steps.step(f"looking at {file.name}")
        from sdckit.data.scenarios.guess import guess_file, write_guesses

        guesses, name, looked_at, notes = guess_file(file, missing=options.codes(reading.missing), **reading.how)
        text = write_guesses(guesses, name=name, looked_at=looked_at, notes=notes)
    if not written(out, text):
        return
    _print(guesses)
    errors.tell(f"\nWrote {target.name}. Read it through: the roles are guesses.")
    if guesses.unconfirmed:
        n = len(guesses.unconfirmed)
        errors.tell(
            f"{n} {'column is' if n == 1 else 'columns are'} asked about in it, under unconfirmed; sdckit check "
            f"waits for\nthe answer{'' if n == 1 else 's'}."
        )
    reading.tell_user_missing()
    if not guesses.of("weight"):
        errors.tell(f"No weight was found: {file.name} will be {TAKEN}.")
    if guesses.of("key"):
        errors.tell("Then:")
        names = options.path_typed(file), options.path_typed(out)
        errors.tell("  sdckit assess {} --scenario {}{} --report report.html".format(*names, options.as_typed(reading)))
    else:
        errors.tell("No column looks like a key: name some in it, or it is not valid.")


def _print(guesses: RoleGuesses) -> None:
    """Show what has a role, and how many columns have none."""
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.blocks import TableBlock

    rows = tuple(
        (guess.column, guess.role, guess.confidence, guess.evidence[0]) for guess in guesses if guess.role != "ignore"
    )
    left = len(guesses) - len(rows)
    print_blocks([TableBlock("Guessed roles", ("Column", "Role", "How sure", "Why, first of all"), rows)])
    if left:
        errors.tell(f"{left} {'other is' if left == 1 else 'others are'} left out.")
