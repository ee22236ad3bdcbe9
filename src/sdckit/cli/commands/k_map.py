"""``sdckit k-map``: how many people of the population share each record's key."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from sdckit.cli.options import Fraction, Texts, Weight, whole_numbers
from sdckit.cli.source import Population, Source, read_population, reads_keys
from sdckit.cli.terminal import print_measure
from sdckit.errors import ScenarioError


@reads_keys
def k_map(
    source: Source,
    *,
    population: Population = None,
    k: Annotated[Texts, Option("--k", metavar="K,K", help="Levels to test; default 2,3,5.")] = None,
    weight: Weight = None,
    sampling_fraction: Fraction = None,
) -> None:
    """Test that k people of the population share each record's key, with the population at hand.

    Without --population the records expected to fail are estimated from --weight or --sampling-fraction, the
    keys taken as independent. Exact figures for your own session.
    """
    levels = whole_numbers(k, option="--k") or [2, 3, 5]
    if population is not None and (weight is not None or sampling_fraction is not None):
        raise ScenarioError("--population says how large it is; leave --weight and --sampling-fraction out")
    chosen = source.declared(design=population is None, weight=weight, sampling_fraction=sampling_fraction)
    with source.steps() as steps:
        frame = source.read(chosen, steps)
        everybody = None if population is None else read_population(source, population, chosen, steps)
        from sdckit.identity.population.k_map import k_map as measure

        steps.step("counting the people behind each key")
        result = measure(frame, everybody, scenario=chosen, k=levels)
    print_measure(source.file.name, result)
