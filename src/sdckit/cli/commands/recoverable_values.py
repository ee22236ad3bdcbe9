"""``sdckit recoverable-values``: what a release gives back to somebody who has nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from sdckit.cli.attack_files import check_original
from sdckit.cli.options import Fraction, Weight
from sdckit.cli.source import Source, reads_keys
from sdckit.cli.terminal import print_measure


@reads_keys
def recoverable_values(
    source: Source,
    *,
    original: Annotated[
        Path | None,
        Option(metavar="FILE", help="What FILE was made from, row by row: says what is reconstructed rightly."),
    ] = None,
    id: Annotated[str | None, Option("--id", metavar="COLUMN", help="Says which rows belong together.")] = None,
    log: Annotated[
        Path | None,
        Option(metavar="LOG.json", help="Of the recipe: says what was changed, and the order of the rows."),
    ] = None,
    household: Annotated[str | None, Option(metavar="COLUMN", help="Tells which records share a household.")] = None,
    weight: Weight = None,
    sampling_fraction: Fraction = None,
    seed: Annotated[int | None, Option(metavar="N", help="Of the model that guesses.")] = None,
) -> None:
    """Find what a released FILE itself gives back of what was suppressed, coded, banded, rounded or perturbed in it.

    Exact figures for your own session. Without --original and --log missing values, ranges and heaped ends count as
    changed.
    """
    from sdckit.workflow.recipes.recipe_log import RecipeLog

    chosen = source.declared(
        design=True,
        roles=("household",),
        household=household,
        weight=weight,
        sampling_fraction=sampling_fraction,
    )
    kept = None if log is None else RecipeLog.read(log)
    if original is not None:
        check_original(original, source.file)
    with source.steps() as steps:
        frame = source.read(chosen, steps, whole=True)
        before = None if original is None else source.read(chosen, steps, file=original, whole=True)
        from sdckit.attacks.recovery.recoverable_values import recoverable_values as measure

        result = measure(
            frame,
            before,
            scenario=chosen,
            household=household,
            weight=weight,
            log=kept,
            id=id if before is not None else None,
            seed=seed,
            step=steps.step,
        )
    print_measure(source.file.name, result)
