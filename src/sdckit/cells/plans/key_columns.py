"""The columns of a plan that records are grouped and joined by.

Engines group missing values, but never match them in a join: there every missing value is filled with a value of its
type, and what was missing becomes a column of its own.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.errors import DataError

PREFIX = "sdckit__"


@dataclass(frozen=True)
class KeyColumn:
    """A key of a plan.

    `name` and `column`: the key, and what it is called in our own frames. `is_float`: whether a value may be none.
    `as_text` and `as_number`: whether it is brought here as its text, or as its number of units. `blank`: what missing
    values are filled with for a join. `has_missing`: whether a value may be missing.
    """

    name: str
    column: str
    is_float: bool
    as_text: bool
    as_number: bool
    blank: nw.Expr
    has_missing: bool = True

    @staticmethod
    def of(name: str, number: int, dtype: Any, *, whole_times: bool = False) -> KeyColumn:
        """Plan a key by its type; refuse lists and structures.

        `whole_times` says that the engine casts times of day and durations to integers.
        """
        if dtype.is_nested():
            raise DataError(
                f"column {name!r} holds {type_name(dtype)}: a variable needs one plain value per record"
            )
        kind = dtype.base_type()
        blank, as_text, as_number = nw.lit(""), False, False
        if dtype.is_integer() or dtype.is_float():
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
        return KeyColumn(name, f"{PREFIX}key{number}", dtype.is_float(), as_text, as_number, blank)

    @property
    def absent(self) -> nw.Expr:
        """Whether the value is missing: null, or not a number."""
        null = nw.col(self.name).is_null()
        return null | nw.col(self.name).is_nan().fill_null(True) if self.is_float else null

    @property
    def value(self) -> nw.Expr:
        """The value as it is grouped, null where it is not a number."""
        own = nw.col(self.name)
        return nw.when(~self.absent).then(own) if self.is_float else own

    def brought(self, column: str) -> nw.Expr:
        """A column of values as it is brought here: categories and the like as text."""
        value = nw.col(column)
        if self.as_text:
            return value.cast(nw.String)
        return value.cast(nw.Int64) if self.as_number else value

    @property
    def present(self) -> nw.Expr:
        """The value as it is brought here, null where it is not a number."""
        own = self.brought(self.name)
        return nw.when(~self.absent).then(own) if self.is_float else own

    def one_zero(self, value: nw.Expr) -> nw.Expr:
        """A value as it is hashed or looked up: -0.0 is 0.0, as engines group them."""
        return value + 0.0 if self.is_float else value


def type_name(dtype: Any) -> str:
    """The name of a type, without its parameters: those of an enumeration are values of the data."""
    name: str = dtype.base_type().__name__
    return name
