"""l-diversity of a plan as windows over its filled keys; recursive diversity by one safe join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from sdckit.cells.plans.lazy_values import aggregate, count
from sdckit.cells.plans.lazy_wildcards import Filled
from sdckit.errors import DataError

if TYPE_CHECKING:
    from sdckit.cells.plans.lazy_tabulate import KeyPlan

__all__ = ["diversity_columns"]


def diversity_columns(
    frame: nw.LazyFrame[Any], plan: KeyPlan, name: str, kinds: Sequence[str], c: float
) -> tuple[nw.LazyFrame[Any], int]:
    """Add ``<kind>_<name>`` for each kind; the plan and the number of homogeneous cells."""
    schema = frame.collect_schema()
    sensitive = Filled.of(name, 999, schema[name])
    n, gone = aggregate(frame, nw.len(), count(sensitive.absent))
    if gone == n:
        raise DataError(f"sensitive variable {name!r} has no value in any record; leave it out")
    group, own = plan.group, ["sdckit__value", "sdckit__gone"]
    frame = frame.with_columns(
        sensitive.filled.alias("sdckit__value"), sensitive.absent.cast(nw.Int64).alias("sdckit__gone")
    )
    frame = frame.with_columns(
        nw.len().over(*group, *own).cast(nw.Float64).alias("sdckit__same"),
        nw.len().over(*group).cast(nw.Float64).alias("sdckit__all"),
    )
    same, total = nw.col("sdckit__same"), nw.col("sdckit__all")
    frame = frame.with_columns(
        (1.0 / same).sum().over(*group).round().cast(nw.Int64).alias(f"sdckit__distinct_{name}")
    )
    homogeneous = (
        nw.when((nw.col(f"sdckit__distinct_{name}") == 1) & (total > 1)).then(1.0 / total).otherwise(0.0)
    )
    found = round(aggregate(frame, homogeneous.sum())[0])
    if "entropy" in kinds:
        frame = frame.with_columns(((same / total).log() / total).alias("sdckit__plogp"))
        entropy = (nw.col("sdckit__plogp").sum().over(*group) * -1.0).exp()
        frame = frame.with_columns(entropy.alias(f"sdckit__entropy_{name}")).drop("sdckit__plogp")
    if "recursive" in kinds:
        frame = _recursive(frame, group, name, c)
    return frame.drop(*own, "sdckit__same", "sdckit__all"), found


def _recursive(frame: nw.LazyFrame[Any], group: list[str], name: str, c: float) -> nw.LazyFrame[Any]:
    """The largest l with r_1 < c (r_l + ... + r_m), counts r of the values that are not missing, descending."""
    counts = (
        frame.filter(nw.col("sdckit__gone") == 0)
        .group_by(*group, "sdckit__value")
        .agg(nw.len().cast(nw.Int64).alias("sdckit__r"))
    )
    order = ["sdckit__r", "sdckit__value"]
    counts = counts.with_columns(nw.lit(1).alias("sdckit__one"))
    counts = counts.with_columns(
        nw.col("sdckit__r").max().over(*group).alias("sdckit__r1"),
        nw.len().over(*group).cast(nw.Int64).alias("sdckit__m"),
        nw.col("sdckit__r").cum_sum().over(*group, order_by=order).alias("sdckit__tail"),
        nw.col("sdckit__one").cum_sum().over(*group, order_by=order).alias("sdckit__rank"),
    )
    holds = nw.col("sdckit__r1").cast(nw.Float64) < c * nw.col("sdckit__tail").cast(nw.Float64)
    level = nw.when(holds).then(nw.col("sdckit__m") - nw.col("sdckit__rank") + 1).otherwise(0)
    counts = counts.with_columns(level.cast(nw.Int64).alias("sdckit__l"))
    best = counts.group_by(*group).agg(nw.col("sdckit__l").max())
    best = best.rename({key: f"sdckit__d{i}" for i, key in enumerate(group)})
    right = [f"sdckit__d{i}" for i in range(len(group))]
    joined = frame.join(best, left_on=group, right_on=right, how="left")
    result = nw.col("sdckit__l").fill_null(1).cast(nw.Int64).alias(f"sdckit__recursive_{name}")
    return joined.with_columns(result).drop("sdckit__l", *right, strict=False)
