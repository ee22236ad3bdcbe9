"""The one way out of a protected plan: its records and nothing else."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import on_spark, open_frame


def plan_records(plan: Any) -> Any:
    """A plan whose categories are texts, and whose columns have no notes.

    Which categories are in use is known only when the plan is carried out; a file with all that were declared would
    name those that were taken out.

    >>> import polars as pl
    >>> sizes = pl.LazyFrame({"size": pl.Series(["S"], dtype=pl.Enum(["S", "M"]))})
    >>> plan_records(sizes).collect_schema()['size']
    String
    """
    frame: Any = open_frame(plan)
    schema = frame.collect_schema()
    named = [nw.col(name).cast(nw.String) if kind.base_type() in (nw.Categorical, nw.Enum) else nw.col(name)
             for name, kind in schema.items()]  # fmt: skip
    native = frame.select(*named).to_native()
    if not on_spark(frame):
        return native
    from pyspark.sql import functions

    return native.select(*(functions.col(f"`{name}`").alias(name, metadata={}) for name in schema.names()))
