"""A recipe on Spark: what it gives in memory, from workers with NumPy and PyArrow alone, written by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.test_spark import survey
from every_measure import assert_close, figures
from sdckit.cells.plans.changed_plan import bring, put_back
from sdckit.data.frames import collect

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # PySpark's about pandas 3
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
SECRET = "05" * 16
STEPS: list[dict[str, Any]] = [
    {"method": "drop_identifiers", "columns": ["learnt"]},
    {"method": "recode", "column": "text", "groups": {"either": ["x", "naïve"]}, "outside": "keep"},
    {"method": "recode", "column": "whole", "bands": [0, 2, None]},
    {"method": "recode", "column": "half", "groups": {"none": [9.0]}, "others": "more"},
    {"method": "top_bottom_code", "column": "w", "top": 40, "to": "mean", "by": ["text"]},
    {"method": "round_to", "column": "w", "base": 5},
    {"method": "local_suppression", "keys": ["text", "whole", "home"], "k": 5},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    survey(400).drop_nulls(["text", "home", "whole"]).write_parquet(tmp_path / "survey.parquet")
    return tmp_path / "survey.parquet"


def files_in(folder: Path) -> set[str]:
    """The names of what a folder holds."""
    return {one.name for one in folder.iterdir()}


def test_the_release_is_that_of_memory(spark: Any, file: Path, tmp_path: Path) -> None:
    recipe = sdc.Recipe(STEPS)
    here = recipe.apply(pl.read_parquet(file), secret=SECRET)
    there = recipe.apply(spark.read.parquet(str(file)), secret=SECRET)
    assert here.log.steps[-1].n_changed > 10
    left, right = (one.log.to_dict(internal=True) for one in (here, there))
    for one, other in zip(left.pop("steps"), right.pop("steps"), strict=True):
        assert one == other
    assert left == right
    assert there.differing == here.differing
    out = tmp_path / "out.parquet"
    sdc.write_file(there.data, out)
    expected = here.data.with_columns(pl.col(pl.Enum).cast(pl.String))
    found = pl.read_parquet(out / "*.parquet").sort("row")
    assert found.columns == expected.columns
    assert found.equals(expected.cast(found.schema))
    assert files_in(tmp_path) == {"survey.parquet", "out.parquet"}
    assert spark.catalog.listTables() == []


def test_an_older_folder_is_replaced_whole(spark: Any, file: Path, tmp_path: Path) -> None:
    plan, out = spark.read.parquet(str(file)), tmp_path / "out.parquet"
    sdc.write_file(plan, out)
    before = files_in(out)
    sdc.write_file(plan.limit(3), out)
    assert pl.read_parquet(out / "*.parquet").height == 3
    assert not before & {name for name in files_in(out) if "part" in name}
    assert files_in(tmp_path) == {"survey.parquet", "out.parquet"}
    with pytest.raises(sdc.DataError, match="cannot be carried out"):
        sdc.write_file(plan.selectExpr("CAST(text AS INT) AS a"), out)
    assert pl.read_parquet(out / "*.parquet").height == 3
    assert files_in(tmp_path) == {"survey.parquet", "out.parquet"}
    with pytest.raises(sdc.FileFormatError, match="leave private= out"):
        sdc.write_file(plan, out, private=True)


def test_records_in_random_order(spark: Any, file: Path, tmp_path: Path) -> None:
    recipe = sdc.Recipe([{"method": "random_order"}])
    plan = spark.read.parquet(str(file)).filter("row >= 0")  # no longer a file
    rows = []
    for secret in (SECRET, SECRET, "06" * 16):
        applied = recipe.apply(plan, secret=secret)
        rows.append([row["row"] for row in applied.data.collect()])
    assert rows[0] == rows[1] != rows[2]
    assert sorted(rows[0]) == sorted(pl.read_parquet(file)["row"].to_list())
    assert rows[0] != sorted(rows[0])
    assert len(rows[0]) > 200
    with pytest.raises(sdc.DataError, match=r"step 1 \(random_order\) was carried out by Spark"):
        applied.log.rows()
    sdc.write_file(applied.data, tmp_path / "out.parquet")
    assert written(tmp_path / "out.parquet")["row"].to_list() == rows[2]


def written(folder: Path) -> pl.DataFrame:
    """What Spark wrote, in the order of its files."""
    return pl.concat([pl.read_parquet(part) for part in sorted(folder.glob("part-*.parquet"))])


@pytest.fixture
def parts(spark: Any, file: Path, tmp_path: Path) -> Any:
    """The survey in three files, which Spark reads by their sizes, the second in several partitions; in memory, too."""
    survey, folder = sdc.read_file(file), tmp_path / "survey"  # where no text is empty
    folder.mkdir()
    for name, start, rows in (("a", 0, 30), ("b c", 30, 150), ("é", 180, None)):
        survey[start:][:rows].write_parquet(folder / f"{name}.parquet", row_group_size=25)
    spark.conf.set("spark.sql.files.openCostInBytes", "1")  # so that it reads the largest file first
    yield folder, survey
    spark.conf.unset("spark.sql.files.openCostInBytes")


TO_AND_FRO: list[dict[str, Any]] = [
    {"method": "random_order", "household": "home"},
    {"method": "pram", "columns": ["text"], "pd": 0.5},
    {"method": "local_suppression", "keys": ["text", "whole"], "k": 20},
    {"method": "random_order"},
]


def test_records_of_files_have_places_whatever_order_they_are_read_in(spark: Any, parts: Any, tmp_path: Path) -> None:
    """The release of several files is that of memory, row by row, and its log knows each row, on Spark as in memory."""
    folder, survey = parts
    recipe, plan = sdc.Recipe(TO_AND_FRO), sdc.scan_file(folder, engine="spark")
    assert plan.rdd.getNumPartitions() > 1
    assert [row["row"] for row in plan.collect()] != survey["row"].to_list()
    here, there = (recipe.apply(data, secret=SECRET, watch=False) for data in (survey, plan))
    sdc.write_file(there.data, tmp_path / "out.parquet")
    found, expected = written(tmp_path / "out.parquet"), here.data.with_columns(pl.col(pl.Enum).cast(pl.String))
    assert found.equals(expected.cast(found.schema))
    left, right = (applied.log.to_dict(internal=True) for applied in (here, there))
    assert {**left, "date": ""} == {**right, "date": ""}
    assert survey["row"].to_numpy()[there.log.rows(survey)].tolist() == found["row"].to_list()
    scenario = sdc.Scenario(keys=["text", "whole"], sensitive=["learnt"], thresholds={"match_risk": 0.1})
    names = ["text", "whole", "learnt", "home", "half", "w"]  # `row` would tell
    release = sdc.scan_file(tmp_path / "out.parquet", engine="spark").select(*names)
    log = drop_row(there.log)
    judged = [
        sdc.assess(original, released, scenario=scenario, log=log, seed=1)["default"]
        for original, released in ((survey.select(names), found.select(names)), (plan.select(*names), release))
    ]
    for name in ("matching_risk", "identity_disclosure"):
        assert_close(*(figures(results[name]) for results in judged), name)


def drop_row(log: Any) -> Any:
    """A log of the file without the number of its rows."""
    return replace(log, columns=tuple(name for name in log.columns if name != "row"))


def test_notes_on_columns_stay_behind(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions

    plan = spark.createDataFrame([(1, "a")], ["x", "y"])
    noted = plan.select(functions.col("x").alias("x", metadata={"comment": "the-note"}), "y")
    sdc.write_file(noted, tmp_path / "out.parquet")
    assert not any(b"the-note" in one.read_bytes() for one in (tmp_path / "out.parquet").iterdir())


BY_RECORD: list[dict[str, Any]] = [
    {"method": "pram", "columns": ["text", "whole"], "pd": 0.3, "strata": ["home"]},
    {"method": "local_suppression", "keys": ["text", "whole"], "k": 30, "together": [["text", "learnt"]]},
    {"method": "round_to", "column": "w", "base": 7.5, "how": "random"},
    {"method": "synthesize", "columns": ["whole"], "predictors": ["w"]},
]


def test_what_is_drawn_for_every_record_is_that_of_memory(spark: Any, file: Path, tmp_path: Path) -> None:
    """The columns come to the driver, the new values go to bare workers."""
    recipe = sdc.Recipe(BY_RECORD)
    here = recipe.apply(pl.read_parquet(file), secret=SECRET, watch=False)
    there = recipe.apply(spark.read.parquet(str(file)), secret=SECRET, watch=False)
    assert all(one.n_changed for one in here.log.steps)
    assert there.log.to_dict(internal=True) == here.log.to_dict(internal=True)
    assert there.differing == here.differing
    sdc.write_file(there.data, tmp_path / "out.parquet")
    found = pl.read_parquet(tmp_path / "out.parquet" / "*.parquet").sort("row")
    expected = here.data.with_columns(pl.col(pl.Enum).cast(pl.String))
    assert found.columns == expected.columns
    assert found.equals(expected.cast(found.schema))


def test_what_is_made_here_becomes_a_frame_of_spark(spark: Any, file: Path, tmp_path: Path) -> None:
    """A whole file, one of another size, several, and masked copies: bare workers write what memory gives."""
    mask = {"method": "mask_continuous", "columns": ["w"], "sd": 1.0, "suffix": "_z"}
    draw = {"method": "impute_masked", "masked": {"w": "w_z"}, "error": {"w": 1.0}, "iterations": 2}
    drop = {"method": "drop_identifiers", "columns": ["learnt"]}
    for number, steps in enumerate(
        [
            [{"method": "synthesize"}],
            [{"method": "synthesize", "n": 900}, {"method": "pram", "columns": ["text"]}],
            [drop, {"method": "synthesize", "columns": ["text"], "predictors": ["w"], "m": 2}],
            [drop, mask],
            [drop, mask, {**draw, "m": 2}],
        ]
    ):
        recipe = sdc.Recipe(steps)
        here = recipe.apply(pl.read_parquet(file), secret=SECRET, watch=False)
        there = recipe.apply(spark.read.parquet(str(file)), secret=SECRET, watch=False)
        assert there.log.to_dict(internal=True) == here.log.to_dict(internal=True)
        assert there.differing == here.differing
        files = [one.data if isinstance(one.data, list) else [one.data] for one in (here, there)]
        for m, (one, other) in enumerate(zip(*files, strict=True)):
            out = tmp_path / f"out-{number}-{m}.parquet"
            sdc.write_file(other, out)
            parts = [pl.read_parquet(part) for part in sorted(out.glob("part-*.parquet"))]
            found = pl.concat(parts)
            expected = one.with_columns(pl.col(pl.Enum).cast(pl.String))
            assert found.columns == expected.columns
            assert found.equals(expected.cast(found.schema))


def test_what_spark_cannot_place_is_refused(spark: Any, file: Path) -> None:
    plan, shuffle = spark.read.parquet(str(file)), {"method": "random_order"}
    sdc.Recipe([{**shuffle, "household": "home"}, BY_RECORD[0]]).check(plan)
    plan = plan.filter("row >= 0")
    sdc.Recipe([BY_RECORD[0], shuffle]).check(plan)
    with pytest.raises(sdc.DataError, match=r"step 2 \(pram\) .*: Spark knows places .*no record is found again"):
        sdc.Recipe([shuffle, BY_RECORD[0]]).check(plan)
    with pytest.raises(sdc.DataError, match=r"step 1 \(random_order\) .*: household: Spark knows places"):
        sdc.Recipe([{**shuffle, "household": "home"}]).check(plan)


def test_records_that_are_numbered_anew_get_no_values_of_others(spark: Any, file: Path) -> None:
    frame: nw.LazyFrame[Any] = nw.from_native(spark.read.parquet(str(file)))
    found = bring(frame, ["text", "half"], "row", {})
    hit = np.ones(len(found.place), bool)
    new = {"text": found.table["text"].take(np.zeros(len(hit), int))}
    same = collect(put_back(frame, "row", found, hit, new))
    assert set(same["text"].to_list()) == {found.table["text"][0].as_py()}
    last = int(found.place[-1])
    with pytest.raises(sdc.DataError, match="numbers the records of this plan anew"):
        collect(put_back(frame.with_columns(row=last - nw.col("row")), "row", found, hit, new))
