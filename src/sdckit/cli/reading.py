"""Read what a command needs of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.errors import ColumnError

if TYPE_CHECKING:
    import polars as pl

    from sdckit.cli.progress import Steps
    from sdckit.data.scenario import Scenario

__all__ = ["read_declared"]


def read_declared(
    file: Path,
    scenario: Scenario,
    *,
    steps: Steps,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> pl.DataFrame:
    """Read the declared columns of a file; a column that is absent is named by its role."""
    steps.step(f"reading {file.name}")
    from sdckit.data.readers import read_file, scan_header

    try:
        return read_file(
            file,
            columns=scenario.columns,
            identifiers=scenario.identifiers,
            missing=scenario.missing_codes,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
        )
    except ColumnError:  # the scenario knows which role the absent column was to play
        header = scan_header(file, delimiter=delimiter, encoding=encoding)
        scenario.check_columns(header.columns, certain=header.certain)
        raise
