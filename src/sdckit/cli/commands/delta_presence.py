"""``sdckit delta-presence``: how surely a person is known to be in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from sdckit.cli.source import POPULATION, Source, read_population, reads_keys
from sdckit.cli.terminal import print_measure


@reads_keys
def delta_presence(
    source: Source,
    *,
    population: Annotated[Path, POPULATION],
    lower: Annotated[float, Option(metavar="X", help="Smallest share of a key allowed.")] = 0.0,
    upper: Annotated[float, Option(metavar="X", help="Largest share of a key allowed.")] = 1.0,
) -> None:
    """Find how surely an intruder who knows a person's key learns that the person is in the file.

    Exact figures for your own session.
    """
    chosen = source.declared()
    with source.steps() as steps:
        frame = source.read(chosen, steps)
        everybody = read_population(source, population, chosen, steps)
        from sdckit.identity.population.delta_presence import delta_presence as measure

        steps.step("counting the people behind each key")
        result = measure(frame, everybody, scenario=chosen, limits=(lower, upper))
    print_measure(source.file.name, result)
