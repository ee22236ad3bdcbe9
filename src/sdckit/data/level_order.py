"""In which order the levels of a column stand: as its categories are declared, else by value.

A pandas categorical, a Polars Enum, an Arrow dictionary and value labels bring an order. A Polars Categorical brings
none: Polars itself sorts it by the alphabet, and the numbers behind it depend on what else was read before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sdckit.data.columns import Coded


T = TypeVar("T")


def categories_of(coded: Coded) -> list[str]:
    """The categories that a column declares, in their order, used or not; none for text, numbers and dates.

    Categories that are numbers go by their value, not by what is declared.
    """
    if coded.categories is None:
        return []
    found = coded.categories.to_pylist()
    return found if all(isinstance(one, str) for one in found) else []


def joint_categories(files: Sequence[Coded]) -> list[str]:
    """The order of the first file that declares one, then what only later ones declare.

    >>> import polars as pl
    >>> from sdckit.data.columns import code_column
    >>> from sdckit.data.frames import open_frame
    >>> sizes = [pl.Series("x", ["M"], pl.Enum(["S", "M"])), pl.Series("x", ["L"], pl.Enum(["M", "L"]))]
    >>> joint_categories([code_column(open_frame(one.to_frame())["x"]) for one in sizes])
    ['S', 'M', 'L']
    """
    return list(dict.fromkeys(value for coded in files for value in categories_of(coded)))


def in_order(values: Collection[T], declared: Sequence[str] = ()) -> list[T]:
    """Distinct values in the order that is declared, those of which nothing is declared behind them, ascending.

    >>> in_order({"high", "low", "other", "any"}, ["low", "middle", "high"])
    ['low', 'high', 'any', 'other']
    """
    place = {value: i for i, value in enumerate(declared)}
    if not place:
        return sorted(values)  # type: ignore[type-var]
    known = sorted((value for value in values if value in place), key=lambda value: place[value])
    return [*known, *sorted(value for value in values if value not in place)]  # type: ignore[type-var]


def places_in_order(values: Sequence[str], declared: Sequence[str] = ()) -> list[int]:
    """The places of distinct values, brought in their order.

    >>> places_in_order(["b", "a", "c"], ["c", "b"])
    [2, 0, 1]
    """
    place = {value: i for i, value in enumerate(values)}
    return [place[value] for value in in_order(values, declared)]
