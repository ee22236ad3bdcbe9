"""``sdckit outliers``: values so extreme that they are recognised as such."""

from __future__ import annotations

from typing import Annotated

import typer

from sdckit.cli.measure_tables import print_measure
from sdckit.cli.options import Decimal, Delimiter, Encoding, File, Missing, codes, split
from sdckit.cli.progress import Steps

__all__ = ["outliers"]


def outliers(
    file: File,
    *,
    numeric: Annotated[list[str], typer.Option(metavar="A,B", help="Numeric variables.")],
    by: Annotated[list[str] | None, typer.Option(metavar="A,B", help="Within the groups of these.")] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="percentile, mad or robust_mahalanobis.")
    ] = "percentile",
    upper: Annotated[
        float | None, typer.Option(metavar="X", help="Extreme from this quantile on; default 0.95.")
    ] = None,
    lower: Annotated[
        float | None, typer.Option(metavar="X", help="Extreme up to this quantile; default none.")
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Count the records with extreme values; neither values nor limits are shown.

    Exact counts for your own session.
    """
    names, groups = split(numeric), split(by)
    with Steps(quiet=False) as steps:
        steps.step(f"reading {file.name}")
        from sdckit.data.readers import read_file

        columns = tuple(dict.fromkeys([*names, *groups]))
        frame = read_file(
            file,
            columns=columns,
            missing=codes(missing),
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
        )
        from sdckit.identity.outliers import outliers as measure

        steps.step("looking for outliers")
        result = measure(
            frame,
            numeric=names,
            by=groups,
            method=method,  # type: ignore[arg-type]
            upper=0.95 if upper is None and lower is None else upper,
            lower=lower,
        )
    print_measure(file.name, result)
