"""Roles guessed from names, labels and values; every guess says why and how sure it is, so people can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.files.readers import describe_file
from sdckit.data.frames import carried_out, check_plan_names
from sdckit.data.missing_values.missing_notes import MissingNotes
from sdckit.data.scenarios.guess_toml import write_guesses
from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.guesses import RoleGuesses
from sdckit.data.scenarios.guessing.judge import Setting, judge
from sdckit.data.scenarios.guessing.places import coordinates_of
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import units_of
from sdckit.data.scenarios.guessing.weights import weights_of
from sdckit.errors import DataError

if TYPE_CHECKING:
    import polars as pl


SAMPLE = 1_000_000  # records looked at
"""Files of many columns are looked at in fewer records, at least 100,000."""


def guess_roles(
    data: Any,
    *,
    labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Sequence[str]] | None = None,
) -> RoleGuesses:
    """Guess a role for every column.

    Parameters
    ----------
    data
        A path, or a data frame of any engine; its first million records are looked at.
    labels
        Variable labels by column. SPSS, Stata and SAS files bring their own.
    value_labels
        Value labels by column, likewise.

    Raises
    ------
    DataError
        There are no records or no columns.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"v1": [1, 2] * 10, "wgt": [1.5, 2.25] * 10, "v3": [7] * 20})
    >>> found = guess_roles(frame, labels={"v1": "Geschlecht"})
    >>> [(guess.column, guess.role, guess.confidence) for guess in found]
    [('v1', 'key', 'sure'), ('wgt', 'weight', 'likely'), ('v3', 'ignore', 'sure')]
    """
    of_columns = {} if labels is None else arguments.mapping(labels, "labels", "are by column")
    of_values = (
        {} if value_labels is None else arguments.mapping(value_labels, "value_labels", "are by column")
    )
    if isinstance(data, str | Path):
        sample = describe_file(data)
        own, theirs = dict(sample.labels), dict(sample.value_labels)
        return _guess(sample.frame, own | of_columns, theirs | of_values)
    return _guess(_first(data), of_columns, of_values)


def scenario_toml(
    data: Any,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    labels: bool = True,
) -> str:
    r"""Write a commented scenario for a file or a frame, with guessed roles.

    Parameters
    ----------
    data
        A path, or a data frame of any engine.
    missing, delimiter, encoding, decimal, labels
        As in `sdckit.data.files.readers.read_file`; for paths only. Missing codes are written into the scenario.

    Returns
    -------
    str
        TOML that `Scenario.from_toml` accepts. It holds column names and numbers of values, never values.
        What is not sure is asked in it, under ``unconfirmed``; where no column looks like a key, ``keys`` is
        left empty, to be filled.

    Raises
    ------
    DataError
        There are no records or no columns.

    Examples
    --------
    >>> import polars as pl
    >>> text = scenario_toml(pl.DataFrame({"sex": [1, 2] * 10, "person_weight": [1.5, 2.25] * 10}))
    >>> print("\n".join(line for line in text.splitlines() if line and not line.startswith("#")))
    keys = [
        # sure: its name speaks of sex or gender; 2 values; the values fit sex or
        #   gender
        "sex",
    ]
    weight = "person_weight"
    """
    guesses, name, looked_at, notes = guess_file(
        data, missing=missing, delimiter=delimiter, encoding=encoding, decimal=decimal, labels=labels
    )
    return write_guesses(guesses, name=name, looked_at=looked_at, notes=notes)


Guessed = tuple[RoleGuesses, str, str, MissingNotes]


def guess_file(
    data: Any,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    labels: bool = True,
    user_missing: bool = False,
    join: str | Path | None = None,
    join_key: str | None = None,
) -> Guessed:
    """Guess the roles of a file's or a frame's columns: the guesses, its name, what was looked at, its missing codes.

    Options and errors are those of `scenario_toml` and of `read_file`.
    """
    codes = (missing,) if isinstance(missing, str) else tuple(str(code) for code in missing)
    if not isinstance(data, str | Path):
        frame = _first(data)
        looked = f"At most the first {SAMPLE:,} records were looked at." if frame.height >= SAMPLE else ""
        return _guess(frame, {}, {}), "the data", looked, MissingNotes(codes)
    sample = describe_file(
        data, missing=codes, delimiter=delimiter, encoding=encoding, decimal=decimal, labels=labels,
        user_missing=user_missing, join=join, join_key=join_key,
    )  # fmt: skip
    guesses = _guess(sample.frame, sample.labels, sample.value_labels)
    n_rows = sample.header.n_rows
    looked = "" if n_rows is None or n_rows <= sample.frame.height else (
        f"Only the first {sample.frame.height:,} of {n_rows:,} records were looked at."
    )  # fmt: skip
    return guesses, Path(data).name, looked, sample.notes


def _guess(
    frame: pl.DataFrame, labels: Mapping[str, str], value_labels: Mapping[str, Sequence[str]]
) -> RoleGuesses:
    if frame.height == 0 or frame.width == 0:
        raise DataError("there are no records to guess roles from")
    facts = {name: facts_of(frame[name], value_labels.get(name, ())) for name in frame.columns}
    spoken = spoken_of(tuple(facts.values()), labels)
    units = units_of(frame, facts, spoken)
    weights = weights_of(frame, facts, spoken, units)
    setting = Setting(units, weights, coordinates_of(facts, spoken, labels))
    guesses = tuple(judge(facts[name], spoken[name], setting) for name in frame.columns)
    return RoleGuesses(guesses, frame.height, units.constant)


def _first(frame: Any) -> pl.DataFrame:
    """Give the first records as a Polars frame, whatever the engine."""
    import narwhals as nw
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame.head(SAMPLE)
    wide = nw.from_native(frame).head(SAMPLE)
    check_plan_names(wide, carried_out(wide.collect_schema).names())
    eager = carried_out(lambda: wide.collect("pyarrow")) if isinstance(wide, nw.LazyFrame) else wide
    table = eager.to_arrow()  # column by column: of a whole table Polars would give an empty name another
    return pl.DataFrame(
        {
            name: pl.Series(name, column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )
