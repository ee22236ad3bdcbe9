"""The key of planted records: which they are, which were held back, and how far apart values can be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.errors import DataError, FileFormatError

if TYPE_CHECKING:
    import polars as pl

    from sdckit.attacks.planted.canaries import Canaries


SCHEMA = "sdckit/canaries"


@dataclass(frozen=True, eq=False)
class Key:
    """What is needed to look for planted records in a release.

    `both` are the planted records, and behind them those held back; `ranges` are those of each number.
    """

    both: pl.DataFrame
    n_planted: int
    copies: int
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    ranges: tuple[float, ...]


def write_key(made: Canaries, path: Path) -> None:
    """Write the key as JSON, for its owner only."""
    from sdckit.report.formats.atomic import write_whole

    both = made.planted.vstack(made.held_out)
    plain = {
        "schema": SCHEMA, "schema_version": "1", "n_planted": made.n_planted, "copies": made.copies,
        "seed": str(made.seed),
        "variables": list(made.variables), "numeric": list(made.numeric), "ranges": made.ranges.tolist(),
        "columns": {name: _plain(both.get_column(name)) for name in made.variables},
    }  # fmt: skip
    write_whole(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", path, what="key", private=True)


def read_key(path: Path) -> Key:
    """Read a key."""
    wrong = FileFormatError(f"{path.name} is no key of canaries; 'sdckit canaries make' writes one")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise wrong from None
    except OSError as error:
        raise FileFormatError(f"cannot read {path.name}: {error.strerror}") from None
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise wrong
    import polars as pl

    try:
        names = tuple(plain["variables"])
        key = Key(
            pl.DataFrame([_series(name, plain["columns"][name]) for name in names]),
            int(plain["n_planted"]), int(plain["copies"]), names, tuple(plain["numeric"]),
            tuple(float(one) for one in plain["ranges"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError):
        raise wrong from None  # the words of the error may show values
    if not 0 < key.n_planted < key.both.height or len(key.ranges) != len(key.numeric):
        raise wrong
    return key


def _plain(series: pl.Series) -> dict[str, Any]:
    """Values with the type that they need to be compared with a release."""
    import polars as pl

    kind = series.dtype
    if kind == pl.Boolean:
        return {"type": "boolean", "values": series.to_list()}
    if kind == pl.Date:
        return {"type": "date", "values": series.to_physical().to_list()}
    if isinstance(kind, pl.Datetime):
        values = series.to_physical().to_list()
        return {"type": "datetime", "unit": kind.time_unit, "zone": kind.time_zone, "values": values}
    if kind.is_integer():
        return {"type": "integer", "values": series.to_list()}
    if kind.is_numeric():
        return {"type": "number", "values": series.cast(pl.Float64).fill_nan(None).to_list()}
    if kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum):
        return {"type": "text", "values": series.cast(pl.String).to_list()}
    raise DataError(f"column {series.name!r} holds {kind}, which no key can; leave it out: --variables A,B")


def _series(name: str, plain: Mapping[str, Any]) -> pl.Series:
    import polars as pl

    kind, values = plain["type"], plain["values"]
    if kind == "date":
        return pl.Series(name, values, pl.Int32).cast(pl.Date)
    if kind == "datetime":
        return pl.Series(name, values, pl.Int64).cast(pl.Datetime(plain["unit"], plain["zone"]))
    types: dict[str, Any] = {
        "boolean": pl.Boolean, "integer": pl.Int64, "number": pl.Float64, "text": pl.String,
    }  # fmt: skip
    return pl.Series(name, values, types[kind])
