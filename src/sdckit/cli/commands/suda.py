"""``sdckit suda``: special uniques of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from sdckit.cli.options import MissingRule
from sdckit.cli.source import Source, reads_keys
from sdckit.cli.terminal import print_measure

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


ASSUMED = 0.01  # sampling fraction where nothing is said


@reads_keys
def suda(
    source: Source,
    *,
    max_size: Annotated[int | None, Option(metavar="M", help="Largest number of keys to combine; default all.")] = None,
    scoring: Annotated[str, Option(metavar="NAME", help="elliot or ihsn.")] = "elliot",
    missing_rule: MissingRule = None,
    sampling_fraction: Annotated[
        float | None,
        Option(metavar="X", help="Share of the population in the file; default the scenario's, or 0.01."),
    ] = None,
) -> None:
    """Find special uniques: records that a few of the keys already single out.

    Exact figures for your own session; no value of a record is shown.
    """
    chosen = source.declared(design=True, missing_rule=missing_rule, sampling_fraction=sampling_fraction)
    with source.steps() as steps:
        frame = source.read(chosen, steps)
        from sdckit.cells.as_cells import as_cells
        from sdckit.identity.special_uniques.suda import suda as measure

        cells = as_cells(frame, scenario=chosen).in_memory()
        result = measure(
            cells,
            max_size=max_size,
            scoring=scoring,  # type: ignore[arg-type]
            sampling_fraction=_share(cells, chosen),
            step=steps.step,
        )
    print_measure(source.file.name, result)


def _share(cells: object, scenario: Scenario) -> float:
    """The share of the population in the file: declared, or from the weights, or 1 %."""
    if scenario.weight is None and scenario.sampling_fraction is None:
        return ASSUMED
    from sdckit.identity.population.size_models import sampling_fraction_of

    return sampling_fraction_of(cells)  # type: ignore[arg-type]
