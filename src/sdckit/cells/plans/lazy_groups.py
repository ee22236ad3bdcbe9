"""Figures of subgroups of a plan, aggregated by its engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.cells.plans.key_columns import KeyColumn
from sdckit.data.frames import check_plan_names, collect
from sdckit.errors import DataError
from sdckit.result import FileFigure

MOST_GROUPS = 1_000_000


def lazy_group_figures(
    frame: nw.LazyFrame[Any], columns: Mapping[str, str], by: Sequence[str], figures: Sequence[FileFigure]
) -> tuple[nw.DataFrame[Any], list[list[float]]]:
    """The labels of each group with its records (``n``), and its figures in their order.

    `columns` says where what is told of each record lies in the plan.

    Raises DataError: more groups than can be brought here, or a column of lists or structures.
    """
    check_plan_names(frame, by, "by")
    schema = frame.collect_schema()
    labels = [f"sdckit__by{i}" for i in range(len(by))]
    ours = [
        KeyColumn.of(name, i, schema[name]).present.alias(label)
        for i, (name, label) in enumerate(zip(by, labels, strict=True))
    ]
    values = [_value(one, columns).alias(f"sdckit__value{i}") for i, one in enumerate(figures)]
    grouped = (
        frame.select(*ours, *values)
        .group_by(*labels)
        .agg(
            nw.len().cast(nw.Int64).alias("sdckit__n"),
            *(_made(one, f"sdckit__value{i}").alias(f"sdckit__f{i}") for i, one in enumerate(figures)),
        )
    )
    found = collect(grouped.head(MOST_GROUPS + 1))
    found = found.sort(*labels, nulls_last=True)  # an engine gives groups in any order
    if len(found) > MOST_GROUPS:
        raise DataError(
            f"by: more than {MOST_GROUPS:,} groups; name columns with fewer values", argument="by"
        )
    told = [[_number(value) for value in found[f"sdckit__f{i}"].to_list()] for i in range(len(figures))]
    names = dict(zip([*labels, "sdckit__n"], [*by, "n"], strict=True))
    return found.select(*names).rename(names), told


def _value(figure: FileFigure, columns: Mapping[str, str]) -> nw.Expr:
    value = nw.col(columns[figure.column]).cast(nw.Float64)
    if figure.below is not None:
        return (value < figure.below).cast(nw.Int64).cast(nw.Float64)
    return value if figure.above is None else (value > figure.above).cast(nw.Int64).cast(nw.Float64)


def _made(figure: FileFigure, column: str) -> nw.Expr:
    return {"mean": nw.col(column).mean, "sum": nw.col(column).sum, "min": nw.col(column).min,
            "max": nw.col(column).max}[figure.how]()  # fmt: skip


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
