"""One line where a file is taken for the whole population: every risk in it is then the largest it could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


IN_OPTIONS = "--weight W or --sampling-fraction X"
IN_A_SCENARIO = 'weight = "W" or sampling_fraction = X in the scenario'


def whole_population(scenario: Scenario, name: str, *, options: bool = False) -> str:
    """What is said of a file without weight and sampling fraction; "" of another.

    `options`: whether the command has options for them.

    >>> from sdckit import Scenario
    >>> whole_population(Scenario(keys=["age"], weight="w"), "a.csv")
    ''
    >>> print(whole_population(Scenario(keys=["age"]), "a.csv", options=True))
    a.csv is taken for the whole population.
    If it is a sample, say so: --weight W or --sampling-fraction X.
    """
    if scenario.weight is not None or scenario.sampling_fraction is not None:  # a fraction of 1 says it, too
        return ""
    return (
        f"{name} is taken for the whole population.\n"
        f"If it is a sample, say so: {IN_OPTIONS if options else IN_A_SCENARIO}."
    )
