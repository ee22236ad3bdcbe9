"""A hierarchy built from codes themselves: at each level their ends are cut off."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

from sdckit.data.columns import distinct_values
from sdckit.data.replace import open_eager
from sdckit.errors import DataError


def code_hierarchy(data: Any, column: str) -> str:
    """Write the hierarchy of a column of codes as a file for `read_hierarchy`: it names every value of the column.

    Examples
    --------
    >>> import polars as pl
    >>> print(code_hierarchy(pl.DataFrame({"place": ["112", "113", "210"]}), "place"), end="")
    112;11;1
    113;11;1
    210;21;2
    """
    values = distinct_values(open_eager(data, {"column": [column]})[column]).values
    codes = sorted({str(one) for one in values if one is not None})
    longest = max(map(len, codes), default=0)
    if longest < 2:
        raise DataError(f"column {column!r} has no codes of two letters or more whose ends could be cut off")
    text = StringIO()
    rows = ([one, *(one[:length] for length in range(longest - 1, 0, -1))] for one in codes)
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()
