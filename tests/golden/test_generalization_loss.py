"""What generalised files lost, beside the figures of ARX's own test suite on the adult file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit import GeneralizationLoss, generalization_loss, read_hierarchy
from sdckit.data.hierarchy import Hierarchy

TOP = "*"
# What ARX states, by the name of its metric and whether it is the variant that looks at levels only.
STATED: dict[tuple[str, bool], Callable[[Any], float]] = {
    ("AECSMetric", False): lambda lost: lost.average_class_size,
    ("HeightMetric", False): lambda lost: lost.height,
    ("DiscernabilityMetric", False): lambda lost: lost.discernibility,
    ("DiscernabilityMetric", True): lambda lost: lost.arx[0]["discernibility_levels"],
    ("PrecisionMetric", False): lambda lost: lost.arx[0]["precision"],
    ("PrecisionMetric", True): lambda lost: lost.arx[0]["precision_levels"],
    ("EntropyMetric", False): lambda lost: lost.arx[0]["entropy"],
}


def transformed(data: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], levels: list[int], k: int) -> pl.DataFrame:
    """The columns at these levels; records in classes below k have nothing but the top of each hierarchy."""
    up = [
        pl.col(name).replace_strict(hierarchies[name].at(level))
        for name, level in zip(data.columns, levels, strict=True)
        if level
    ]
    made = data.with_columns(up)
    rare = pl.len().over(data.columns) < k
    return made.with_columns(
        pl.when(rare).then(pl.lit(TOP)).otherwise(pl.col(name)).alias(name) for name in data.columns
    )


def test_every_figure_of_arx(reference: Path) -> None:
    folder = reference / "arx"
    adult = pl.read_csv(gzip.decompress((folder / "adult.csv.gz").read_bytes()), separator=";", infer_schema_length=0)
    hierarchies = {name: read_hierarchy(folder / f"hierarchy_{name}.csv", delimiter=";") for name in adult.columns}
    cases = json.loads((folder / "losses.json").read_text(encoding="utf-8"))
    assert len(cases) > 80

    @cache
    def lost_at(levels: tuple[int, ...], k: int, left_out: str) -> GeneralizationLoss:
        data = adult.drop(left_out)
        release = transformed(data, hierarchies, list(levels), k)
        own = {name: hierarchies[name] for name in data.columns}
        return generalization_loss(data, release, hierarchies=own, aligned=True)

    for case in cases:
        lost = lost_at(tuple(case["levels"]), case["k"], case["not_generalised"])
        where = (case["metric"], case["levels"])
        if case["metric"] == "LossMetric":
            losses = sorted(lost.column_losses.values(), reverse=True)
            stated = json.loads(case["value"])
            assert losses == pytest.approx(stated, abs=1e-9), where  # it states ten digits
        else:
            figure = STATED[case["metric"], case["arguments"] == "true"](lost)
            assert figure == pytest.approx(float(case["value"]), rel=1e-8), where
