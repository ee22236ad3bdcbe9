"""Wildcard frequencies of a plan, as one relational plan.

Cells are counted, each is projected on the keys observed both in its own missingness pattern and in every
other one, the projections are summed, and the sums are joined back by pattern numbers and filled keys. The cell
that lacks all of several keys counts for no other.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import collect
from sdckit.errors import DataError

__all__ = ["Filled", "match_wildcards", "type_name"]

MAX_PATTERNS = 512


@dataclass(frozen=True)
class Filled:
    """A key, and the column that holds it with missing values filled.

    `name` and `column`: the key, and its filled column. `is_float` and `numeric`: what kind of values it has.
    `as_text` and `as_number`: whether it is grouped by its text, or by its number of units. `blank`: what missing
    values are filled with. `has_missing` and `wild`: whether values are missing, and whether those stand for any
    value.
    """

    name: str
    column: str
    number: int
    is_float: bool
    numeric: bool
    as_text: bool
    as_number: bool
    blank: nw.Expr
    has_missing: bool = True
    wild: bool = False

    @staticmethod
    def of(name: str, number: int, dtype: Any, *, whole_times: bool = False) -> Filled:
        """Plan a key by its type; refuse lists and structures.

        `whole_times` says that the engine casts times of day and durations to integers.
        """
        if dtype.is_nested():
            raise DataError(
                f"column {name!r} holds {type_name(dtype)}: a variable needs one plain value per record"
            )
        numeric = dtype.is_integer() or dtype.is_float()
        kind = dtype.base_type()
        blank, as_text, as_number = nw.lit(""), False, False
        if numeric:
            blank = nw.lit(0)
        elif kind == nw.Boolean:
            blank = nw.lit(False)
        elif kind == nw.Date:
            blank = nw.lit(dt.date(1970, 1, 1))
        elif kind == nw.Datetime:  # as text, an hour that the clocks repeat would be one
            blank = nw.lit(dt.datetime(1970, 1, 1)).cast(dtype)
        elif kind in (nw.Time, nw.Duration) and whole_times:  # as text, fractions of a second would be lost
            blank, as_number = nw.lit(0), True
        elif kind != nw.String:
            as_text = True
        column = f"sdckit__key{number}"
        return Filled(name, column, number, dtype.is_float(), numeric, as_text, as_number, blank)

    def with_missing(self, has_missing: bool, *, wild: bool) -> Filled:
        """The same once the missing values are counted."""
        return replace(self, has_missing=has_missing, wild=wild)

    @property
    def absent(self) -> nw.Expr:
        """Whether the value is missing: null, or not a number."""
        null = nw.col(self.name).is_null()
        return null | nw.col(self.name).is_nan().fill_null(True) if self.is_float else null

    @property
    def present(self) -> nw.Expr:
        """The value, null where it is not a number; categories and the like as text."""
        value = nw.col(self.name)
        if self.as_text:
            value = value.cast(nw.String)
        if self.as_number:
            value = value.cast(nw.Int64)
        if self.is_float:
            value = nw.when(~self.absent).then(value)
        return value

    @property
    def filled(self) -> nw.Expr:
        """The value, `blank` where missing."""
        if not self.has_missing:
            return self.present
        return nw.when(self.absent).then(self.blank).otherwise(self.present)


def type_name(dtype: Any) -> str:
    """The name of a type, without its parameters: those of an enumeration are values of the data."""
    name: str = dtype.base_type().__name__
    return name


def match_wildcards(
    frame: nw.LazyFrame[Any],
    keys: Sequence[Filled],
    pattern: str,
    *,
    weight: str | None,
    alpha: float,
    frequency: str,
    strict: str,
    population: str,
) -> nw.LazyFrame[Any]:
    """Add f (and F, with a weight) under the wildcard rule to a plan extended by its filled keys.

    `strict` names the frequency if other records' missing values counted for nothing.

    Raises DataError: more than 512 patterns of missing keys.
    """
    wild = [key for key in keys if key.wild]
    group = [key.column for key in keys] + [pattern]
    has_weight = weight is not None
    w = nw.col(weight).cast(nw.Float64) if weight is not None else nw.lit(0.0)
    cells = (
        frame.with_columns(w.alias("sdckit__w"))
        .group_by(*group)
        .agg(nw.len().alias("sdckit__n"), nw.col("sdckit__w").sum())
    )
    mine = nw.lit(0)
    for i, key in enumerate(wild):
        mine = mine + (nw.col(pattern) // (1 << key.number)) % 2 * (1 << i)
    others = nw.col(pattern)
    for key in wild:
        others = others - (nw.col(pattern) // (1 << key.number)) % 2 * (1 << key.number)
    cells = cells.with_columns(
        mine.cast(nw.Int64).alias("sdckit__mine"), others.cast(nw.Int64).alias("sdckit__fixed")
    )
    patterns = cells.select(nw.col("sdckit__mine").alias("sdckit__yours")).unique()
    _check_patterns(patterns)
    spread = _project(cells.join(patterns, how="cross"), wild)
    if len(keys) > 1 and all(key.has_missing for key in keys):
        heard = nw.when(nw.col(pattern) != sum(1 << key.number for key in keys))
        spread = spread.with_columns(
            heard.then(nw.col("sdckit__n")).otherwise(0).alias("sdckit__n"),
            heard.then(nw.col("sdckit__w")).otherwise(0.0).alias("sdckit__w"),
        )
    places = [key.column if not key.wild else key.column + "p" for key in keys] + ["sdckit__fixed"]
    return _join_back(frame, cells, spread, group, places, alpha, has_weight, frequency, strict, population)


def _check_patterns(patterns: nw.LazyFrame[Any]) -> None:
    found = int(collect(patterns.select(nw.len().alias("sdckit__found"))).item())
    if found > MAX_PATTERNS:
        raise DataError(
            f"the keys have {found} different patterns of missing values, and a plan takes {MAX_PATTERNS} for "
            "wildcards; use missing='category', or bring the data into memory"
        )


def _project(pairs: nw.LazyFrame[Any], wild: Sequence[Filled]) -> nw.LazyFrame[Any]:
    """Blank the keys that one of two different patterns lacks."""
    pairs = pairs.filter(nw.col("sdckit__mine") != nw.col("sdckit__yours"))
    columns = []
    for i, key in enumerate(wild):
        lacking = nw.col("sdckit__mine") // (1 << i) % 2 + nw.col("sdckit__yours") // (1 << i) % 2
        columns.append(
            nw.when(lacking == 0).then(nw.col(key.column)).otherwise(key.blank).alias(key.column + "p")
        )
    return pairs.with_columns(*columns)


def _join_back(
    frame: nw.LazyFrame[Any],
    cells: nw.LazyFrame[Any],
    spread: nw.LazyFrame[Any],
    group: list[str],
    places: list[str],
    alpha: float,
    has_weight: bool,
    frequency: str,
    strict: str,
    population: str,
) -> nw.LazyFrame[Any]:
    sums = spread.group_by("sdckit__mine", "sdckit__yours", *places).agg(
        nw.col("sdckit__n").sum().alias("sdckit__n2"), nw.col("sdckit__w").sum().alias("sdckit__w2")
    )
    credit = nw.when(nw.col("sdckit__mine") == 0).then(1.0).otherwise(alpha)
    theirs = sums.select(
        nw.col("sdckit__mine").alias("sdckit__from"),
        nw.col("sdckit__yours").alias("sdckit__to"),
        *(nw.col(place).alias(f"sdckit__r{i}") for i, place in enumerate(places)),
        (credit * nw.col("sdckit__n2").cast(nw.Float64)).alias("sdckit__n3"),
        (credit * nw.col("sdckit__w2")).alias("sdckit__w3"),
        nw.when(nw.col("sdckit__mine") == 0).then(nw.col("sdckit__n2")).otherwise(0).alias("sdckit__s3"),
    )
    matched = spread.join(
        theirs,
        left_on=["sdckit__mine", "sdckit__yours", *places],
        right_on=["sdckit__to", "sdckit__from", *(f"sdckit__r{i}" for i in range(len(places)))],
        how="inner",
    )
    found = matched.group_by(*group).agg(
        *(nw.col(name).sum() for name in ("sdckit__n3", "sdckit__w3", "sdckit__s3"))
    )
    keyed = found.rename({name: f"sdckit__m{i}" for i, name in enumerate(group)})
    full = cells.join(keyed, left_on=group, right_on=[f"sdckit__m{i}" for i in range(len(group))], how="left")
    f = nw.col("sdckit__n").cast(nw.Float64) + nw.col("sdckit__n3").fill_null(0.0)
    own = (nw.col("sdckit__n") + nw.col("sdckit__s3").fill_null(0)).cast(nw.Int64)
    results = [(f.round().cast(nw.Int64) if alpha == 1 else f).alias(frequency), own.alias(strict)]
    if has_weight:
        results.append((nw.col("sdckit__w") + nw.col("sdckit__w3").fill_null(0.0)).alias(population))
    full = full.select(*(nw.col(name).alias(f"sdckit__c{i}") for i, name in enumerate(group)), *results)
    joined = frame.join(
        full, left_on=group, right_on=[f"sdckit__c{i}" for i in range(len(group))], how="inner"
    )
    return joined.drop(*(f"sdckit__c{i}" for i in range(len(group))), strict=False)
