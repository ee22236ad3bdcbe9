"""``sdckit suda``: special uniques of a file."""

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
    MissingRule,
    codes,
    make_scenario,
)
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared

__all__ = ["suda"]


def suda(
    file: File,
    *,
    keys: Keys,
    max_size: Annotated[
        int | None, typer.Option(metavar="M", help="Largest number of keys to combine; default all.")
    ] = None,
    scoring: Annotated[str, typer.Option(metavar="NAME", help="elliot or ihsn.")] = "elliot",
    missing_rule: MissingRule = None,
    sampling_fraction: Fraction = 0.01,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Find special uniques: records that a few of the keys already single out.

    Exact figures for your own session; no value of a record is shown.
    """
    chosen = make_scenario(
        None,
        keys=keys,
        intruders=None,
        missing_rule=missing_rule,
        thresholds={},
        missing_codes=codes(missing),
    )
    with Steps(quiet=False) as steps:
        frame = read_declared(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
        )
        from sdckit.identity.suda import suda as measure

        result = measure(
            frame,
            scenario=chosen,
            max_size=max_size,
            scoring=scoring,  # type: ignore[arg-type]
            sampling_fraction=0.01 if sampling_fraction is None else sampling_fraction,
            step=steps.step,
        )
    print_measure(file.name, result)
