"""``sdckit population-risk``: who is unique in the population, too, by several models."""

from __future__ import annotations

from typing import Annotated

import typer

from sdckit.cli.measure_tables import print_measure
from sdckit.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    File,
    Fraction,
    Keys,
    Missing,
    Weight,
    codes,
    make_scenario,
)
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared

__all__ = ["population_risk"]


def population_risk(
    file: File,
    *,
    keys: Keys,
    weight: Weight = None,
    sampling_fraction: Fraction = None,
    interactions: Annotated[
        int, typer.Option(metavar="M", help="Highest order of the model's terms; 1: main effects.")
    ] = 1,
    select: Annotated[bool, typer.Option("--select", help="Add pairs of keys until the model fits.")] = False,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Estimate who is unique in the population: the log-linear model beside those of group sizes.

    Exact figures for your own session. Needs --weight or --sampling-fraction.
    """
    chosen = make_scenario(
        None, keys=keys, intruders=None, missing_rule=None, thresholds={}, missing_codes=codes(missing),
        weight=weight, sampling_fraction=sampling_fraction,
    )  # fmt: skip
    with Steps(quiet=False) as steps:
        frame = read_declared(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
        )
        from sdckit.cells.as_cells import as_cells
        from sdckit.identity.population_risk import population_risk as measure
        from sdckit.identity.population_uniques import population_uniques

        cells = as_cells(frame, scenario=chosen, missing="category")
        steps.step("modelling the population")
        modelled = measure(cells, interactions=interactions, select=select)
        sized = population_uniques(cells)
    print_measure(file.name, modelled, sized)
