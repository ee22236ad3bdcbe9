"""The one way out of a protected frame: its records and nothing else.

A frame remembers more than it shows. An unused category and one missing value name the value that was taken out; the
bytes beneath a missing value, the text behind a filtered column and the notes in a schema do so without any thought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import is_lazy, open_frame
from sdckit.data.outgoing.arrow_records import arrow_records, arrow_use
from sdckit.data.outgoing.in_use import InUse
from sdckit.data.outgoing.pandas_records import pandas_records, pandas_use
from sdckit.data.outgoing.plan_records import plan_records
from sdckit.data.outgoing.polars_records import polars_records, polars_use


def only_records(data: Any) -> Any:
    """Give a frame, or a list of them, that holds nothing but its records; of a plan the categories become texts.

    Categories that no record has are gone (those left keep their order), and with them the bytes beneath missing
    values, texts that no record has, values outside a slice, notes on frame and columns (``attrs``, metadata of
    schema and fields). The frame given is not changed. Files of a list that declare the same categories keep those
    that one of them uses, so that they still fit together.

    >>> import polars as pl
    >>> sizes = pl.DataFrame({"size": pl.Series(["S", None, "L"], dtype=pl.Enum(["S", "M", "L"]))})
    >>> only_records(sizes)["size"].dtype
    Enum(categories=['S', 'L'])
    """
    if not isinstance(data, list):
        return _bare(data, _use(data))
    uses = [_use(one) for one in data]
    return [_bare(one, _together(use, uses)) for one, use in zip(data, uses, strict=True)]


def _use(data: Any) -> dict[str, InUse]:
    frame: Any = open_frame(data)
    if is_lazy(frame):
        return {}
    native = nw.to_native(frame)
    if frame.implementation.is_pandas():
        return pandas_use(native)
    if frame.implementation.is_polars():
        return polars_use(native)
    return arrow_use(native) if frame.implementation.is_pyarrow() else {}


def _bare(data: Any, use: Mapping[str, InUse]) -> Any:
    frame: Any = open_frame(data)
    if is_lazy(frame):
        return plan_records(frame)
    native = nw.to_native(frame)
    if frame.implementation.is_pandas():
        return pandas_records(native, use)
    if frame.implementation.is_polars():
        return polars_records(native, use)
    return arrow_records(native, use) if frame.implementation.is_pyarrow() else native


def _together(own: Mapping[str, InUse], all_files: Sequence[Mapping[str, InUse]]) -> dict[str, InUse]:
    """What this file and the others that declare the same categories use."""
    found = dict(own)
    for other in all_files:
        for name, mine in own.items():
            if name in other and other[name].declared == mine.declared:
                found[name] = found[name].joined(other[name])
    return found
