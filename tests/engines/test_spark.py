"""Spark, in local mode: the same figures, and no more than 1 MB of results on the driver."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sdckit as sdc
from cells.test_parted_pair import BY_GROUPS, MEASURES, files
from engines.comparing import assert_same_figures, assert_same_records, quiet
from sdckit.cells import pair as pairs
from sdckit.cells.pair import open_files
from sdckit.cells.parted_pair import PartedPair
from sdckit.cells.plans import count_cells, lazy
from sdckit.data.frames import blocks, collect, open_frame
from sdckit.errors import DataError

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


def test_pieces_are_the_whole_in_its_order(spark: Any) -> None:
    """Of every type as where all of it comes at once; one piece where there are no more records, none of none."""
    day, noon = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12, 0, 0, 7)
    here = survey().with_columns(
        day=pl.lit(day), noon=pl.lit(noon), yes=pl.col("row") > 7, fine=pl.lit(Decimal("1.20"))
    )
    plan = open_frame(spark.createDataFrame(here.to_arrow()).repartition(3))
    whole = collect(plan).to_native()
    for rows, least in ((1, 3), (500, 1)):
        pieces = [piece.to_native() for piece in blocks(plan, here.columns, rows)]
        assert len(pieces) >= least
        assert pa.concat_tables(pieces).equals(whole)
    assert list(blocks(plan.filter(nw.col("row") < 0), ["row"], 5)) == []


@pytest.mark.parametrize("few", [0, 4, 10])
def test_cells_come_until_there_are_too_many(spark: Any, monkeypatch: Any, few: int) -> None:
    """Ten cells of 120 records: all of them where ten may come, else their number."""
    plan = open_frame(spark.createDataFrame(pl.DataFrame({"a": [row % 10 for row in range(120)]}).to_arrow()))
    monkeypatch.setattr(count_cells, "most_cells", lambda *_: few)
    if few < 10:
        with pytest.raises(sdc.DataError, match="have 10 different combinations"):
            count_cells.count_by(plan, ["a"], 120)
        return
    counted = count_cells.count_by(plan, ["a"], 120)
    assert sorted(counted["a"].to_list()) == [*range(10)]
    assert set(count_cells.sizes_of(counted).tolist()) == {12}


def test_cells_in_parts(spark: Any, monkeypatch: Any) -> None:
    """Where neither cells nor columns of two files fit, the figures are those of memory."""
    original, releases = files()
    here = open_files(original, releases, id="id")
    monkeypatch.setattr(count_cells, "MOST_CELLS", 150)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    there = open_files(*(spark.createDataFrame(frame.to_arrow()) for frame in (original, *releases)), id="id")
    for name in ("replicated_uniques", "matching_risk"):
        result = quiet(MEASURES[name], there)
        assert isinstance(result.pair, PartedPair), name
        assert_same_figures(quiet(MEASURES[name], here).to_dict()["figures"], result.to_dict()["figures"], name)
        groups = [pl.DataFrame(quiet(BY_GROUPS[name], pair, ["job"]).by_group).sort("job") for pair in (here, there)]
        assert_same_figures(*(rows.to_dict(as_series=False) for rows in groups), name)


SETTINGS = [
    {
        "spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false", "spark.sql.ansi.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "false", "spark.sql.session.timeZone": "America/St_Johns",
    },
    {
        "spark.sql.shuffle.partitions": "200", "spark.sql.adaptive.enabled": "true", "spark.sql.ansi.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true", "spark.sql.session.timeZone": "Asia/Kolkata",
    },
]  # fmt: skip


@pytest.mark.parametrize("options", SETTINGS, ids=["one partition", "200 partitions"])
def test_figures_do_not_depend_on_the_session(spark: Any, options: dict[str, str]) -> None:
    """Partitions, adaptive plans, Arrow, ANSI and the zone; the settings of the session stay as they were."""
    zone = pl.datetime_range(dt.datetime(2020, 10, 25), dt.datetime(2020, 10, 25, 3), "1h", eager=True)
    rng = np.random.default_rng(8)
    here = survey(90).drop("half").with_columns(
        at=pl.Series(zone.dt.replace_time_zone("UTC").gather(rng.integers(0, 4, 90))),
        day=pl.Series(zone.dt.date().gather(rng.integers(0, 4, 90))), yes=pl.Series(rng.random(90) < 0.5),
    )  # fmt: skip
    release = here.with_columns(whole=pl.Series(rng.permutation(here["whole"].to_numpy())).cast(pl.Int64, strict=False))
    keys = ["text", "whole", "at", "day", "yes"]
    before = {name: spark.conf.get(name) for name in options}

    def measured(original: Any, released: Any) -> list[Any]:
        pair = open_files(original, released, id="row")
        return [
            quiet(sdc.individual_risk, original, keys=keys, weight="w").global_risk,
            quiet(sdc.matching_risk, pair, known=keys[:2], synthetic=keys[2:], numeric=[]).to_dict()["figures"],
            quiet(sdc.replicated_uniques, pair, keys=keys).to_dict()["figures"],
        ]

    try:
        for name, value in options.items():
            spark.conf.set(name, value)
        found = measured(*(spark.createDataFrame(frame.to_arrow()) for frame in (here, release)))
        assert {name: spark.conf.get(name) for name in options} == options
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert_same_figures(measured(here, release), found)


def test_rows_that_are_words_are_not_joined(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers by a whole id, and each file by itself after that; where ids differ, the engine says it."""
    rng = np.random.default_rng(3)
    here = pl.DataFrame({"row": range(40), "age": [None, *range(30, 43)] * 2 + [7] * 12, "yes": [True, None] * 20})
    release = here.with_columns(age=pl.Series(rng.permutation(here["age"].to_numpy())).cast(pl.Int64, strict=False))
    rows = zip(here.select("age", "yes").rows(), release.select("age", "yes").rows(), strict=True)
    original, *others = (
        spark.createDataFrame(frame[rng.permutation(40)].to_arrow())
        for frame in (here, release, release.with_columns(pl.col("row") + 1))
    )
    with monkeypatch.context() as patch:
        patch.setattr(pairs, "count_together", lambda *_: pytest.fail("joined"))
        pair = open_files(original, others[0], id="row")
        counted = pairs.count_pair(pair, {"keys": ["age", "yes"]}, aligned=True)
        assert counted is not None
        assert counted.times is not None
        cells = zip(*(frame.rows() for frame in counted.frames), strict=True)
        assert Counter(dict(zip(cells, counted.times[0].tolist(), strict=True))) == Counter(rows)
        patch.setattr(pairs, "count_file", lambda *_: pytest.fail("grouped"))
        pair.memo.pop(("counted", True))
        alone = pairs.count_pair(pair, {"keys": ["yes"]}, aligned=False)
        assert alone is not None
        assert sorted(alone.frames[1]["yes"].to_list(), key=str) == [None, True]
        assert [own.tolist() for own in alone.times or ()] == [[20, 20], [20, 20]]
    with pytest.raises(DataError, match="1 value of id 'row' that another file has not"):
        pairs.count_pair(open_files(original, others[1], id="row"), {"keys": ["age", "yes"]}, aligned=True)
