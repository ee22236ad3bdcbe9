"""Spark, in local mode: the same figures, and no more than 1 MB of results on the driver."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import assert_same_figures, assert_same_records, quiet

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # PySpark's about pandas 3
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
KEYS = ["text", "whole", "half"]


def survey(n: int = 120) -> pl.DataFrame:
    rng = random.Random(7)

    def column(*values: Any) -> list[Any]:
        """The last two records have no key at all."""
        return [*(rng.choice(values) if rng.random() > 0.15 else None for _ in range(n - 2)), None, None]

    return pl.DataFrame(
        {
            "row": range(n),
            "text": column("", "x", "naïve"),
            "whole": column(0, 1, 2, 3),
            "half": column(0.0, 0.5),
            "learnt": column("a", "b", "c"),
            "home": column(*range(30)),
            "w": [1 + 50 * rng.random() for _ in range(n)],
        }
    )


@pytest.mark.parametrize("rule", [{"alpha": 0.5}, {"missing": "category"}])
def test_same_as_in_memory(spark: Any, rule: dict[str, Any]) -> None:
    here = survey()
    there = spark.createDataFrame(here.to_arrow())
    call = dict(keys=KEYS, weight="w", household="home", **rule)
    expected = quiet(sdc.individual_risk, here, id="row", **call)
    found = quiet(sdc.individual_risk, there, **call)
    assert_same_records(expected.records, found.records)
    assert_same_figures(expected.global_risk, found.global_risk)
    anonymity, theirs = (quiet(sdc.k_anonymity, data, keys=KEYS, **rule) for data in (here, there))
    assert anonymity.violations == theirs.violations
    assert anonymity.resting_on_missing == theirs.resting_on_missing
    assert any(theirs.resting_on_missing.values()) == ("alpha" in rule)
    assert found.resting_on_missing == expected.resting_on_missing


def test_l_diversity_and_persons(spark: Any) -> None:
    here = survey()
    there = spark.createDataFrame(here.to_arrow())
    call = {"keys": KEYS[:2], "sensitive": "learnt", "c": 1.5}
    expected = quiet(sdc.l_diversity, here, id="row", **call)
    assert_same_records(expected.records, quiet(sdc.l_diversity, there, **call).records)
    here = here.with_columns(pl.col("home").fill_null(0))
    there = spark.createDataFrame(here.to_arrow())
    call = {"keys": ["text"], "person": "home", "missing": "category"}
    expected = quiet(sdc.key_frequencies, here, id="row", **call)
    assert_same_records(expected.records, quiet(sdc.key_frequencies, there, **call).records)


def test_driver_with_one_megabyte(spark: Any, tmp_path: Path) -> None:
    n, rng = 200_000, np.random.default_rng(1)
    here = pl.DataFrame({"a": rng.integers(0, 50, n), "b": rng.integers(0, 40, n), "w": 1 + 50 * rng.random(n)})
    here = here.with_columns(pl.when(pl.Series(rng.random(n) < 0.01)).then(None).otherwise(pl.col("b")).alias("b"))
    here.write_parquet(tmp_path / "large.parquet")
    there = spark.read.parquet(str(tmp_path / "large.parquet"))
    with pytest.raises(Exception, match="maxResultSize"):
        there.toArrow()  # the records alone are too much for this driver
    expected = sdc.individual_risk(here, keys=["a", "b"], weight="w", threshold=0.001)
    found = quiet(sdc.individual_risk, there, keys=["a", "b"], weight="w", threshold=0.001)
    assert_same_figures(expected.global_risk, found.global_risk)
    assert (expected.n_above, expected.n) == (found.n_above, found.n)
    cells = quiet(sdc.key_frequencies, there, keys=["a", "b"])
    assert cells.frequency_of_frequencies == sdc.key_frequencies(here, keys=["a", "b"]).frequency_of_frequencies
    assert found.records.count() == n


def test_the_workers_of_these_tests_have_nothing_of_ours(spark: Any) -> None:
    def lacking(_: Any) -> list[str]:
        import importlib

        found = []
        for name in ("sdckit", "numba", "scipy", "pandas", "numpy", "pyarrow"):
            try:
                importlib.import_module(name)
            except ImportError:
                found.append(name)
        return found

    context = spark.sparkContext
    assert context.parallelize([0], 1).map(lacking).collect() == [["sdckit", "numba", "scipy", "pandas"]]


def test_a_name_that_spark_cannot_read_is_told(spark: Any) -> None:
    strange = spark.createDataFrame(survey().select(pl.col("text").alias("a`b"), "whole").to_arrow())
    with pytest.raises(sdc.ColumnError, match="Spark cannot read a column with a backtick"):
        sdc.singling_out(strange, strange, variables=["a`b", "whole"], seed=1)


def test_subgroups_are_grouped_by_the_engine(spark: Any) -> None:
    here = survey()
    there = spark.createDataFrame(here.to_arrow())
    for by, name, more in (
        ("learnt", "individual_risk", {"weight": "w"}), (["half", "learnt"], "k_anonymity", {}),
    ):  # fmt: skip
        expected, found = (quiet(getattr(sdc, name), data, keys=KEYS, by=by, **more).by_group for data in (here, there))
        wanted, told = pl.DataFrame(expected), pl.DataFrame(found)
        names = [by] if isinstance(by, str) else by
        assert told.columns == wanted.columns
        assert told.sort(names).select(*names, "n").equals(wanted.sort(names).select(*names, "n"))
        for figure in wanted.columns[len(names) :]:
            both = (one.sort(names)[figure].to_numpy().astype(float) for one in (wanted, told))
            np.testing.assert_allclose(*both, rtol=1e-9)
