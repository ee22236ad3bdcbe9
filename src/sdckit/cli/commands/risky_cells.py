"""``sdckit risky-cells``: combinations of a few variables that too few records have."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from sdckit.cli.source import Source, reads_keys
from sdckit.cli.terminal import print_measure


@reads_keys
def risky_cells(
    source: Source,
    *,
    max_dim: Annotated[int, Option(metavar="D", help="Largest number of variables.")] = 3,
    threshold: Annotated[int, Option(metavar="N", help="Records up to which a cell is unsafe.")] = 1,
) -> None:
    """Count the combinations of a few variables that too few records have.

    Exact figures for your own session; no value of a record is shown.
    """
    chosen = source.declared()
    with source.steps() as steps:
        frame = source.read(chosen, steps)
        from sdckit.identity.special_uniques.risky_cells import risky_cells as measure

        steps.step("counting combinations")
        result = measure(frame, scenario=chosen, max_dim=max_dim, threshold=threshold)
    print_measure(source.file.name, result)
