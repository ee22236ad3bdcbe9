"""``sdckit risky-cells``: combinations of a few variables that too few records have."""

from __future__ import annotations

from typing import Annotated

import typer

from sdckit.cli.measure_tables import print_measure
from sdckit.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    File,
    Keys,
    Missing,
    codes,
    make_scenario,
)
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared

__all__ = ["risky_cells"]


def risky_cells(
    file: File,
    *,
    keys: Keys,
    max_dim: Annotated[int, typer.Option(metavar="D", help="Largest number of variables.")] = 3,
    threshold: Annotated[int, typer.Option(metavar="N", help="Records up to which a cell is unsafe.")] = 1,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Count the combinations of a few variables that too few records have.

    Exact figures for your own session; no value of a record is shown.
    """
    chosen = make_scenario(
        None, keys=keys, intruders=None, missing_rule=None, thresholds={}, missing_codes=codes(missing)
    )
    with Steps(quiet=False) as steps:
        frame = read_declared(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
        )
        from sdckit.identity.risky_cells import risky_cells as measure

        steps.step("counting combinations")
        result = measure(frame, scenario=chosen, max_dim=max_dim, threshold=threshold)
    print_measure(file.name, result)
