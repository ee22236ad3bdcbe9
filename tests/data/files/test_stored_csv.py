"""CSV for an engine: the records and types of `read_file`, part by part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.files.stored_csv import CsvOptions, store_csv

ANY: dict[str, Any] = {"columns": None, "identifiers": (), "missing": ()}
TEXT = """region;age;day;w;code
1;30;2024-01-31;0,5;007
2;NA;;1,25;012
;41;2024-02-29;2;100

1;-9;2024-03-01;3,5;
"""


def stored(path: Path, **how: Any) -> pl.DataFrame:
    folder = path.parent / "stored"
    folder.mkdir(exist_ok=True)
    options = CsvOptions(*(how.pop(name, None) for name in ("delimiter", "encoding", "decimal")))
    return pl.read_parquet(store_csv([path], None, folder, options, **ANY | how))


@pytest.mark.filterwarnings("ignore::sdckit.SdcWarning")
@pytest.mark.parametrize("missing", [(), ("-9",), ("NA", "-9", "100")])
def test_types_and_records_are_those_of_a_file_in_memory(tmp_path: Path, missing: tuple[str, ...]) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    plan = sdc.scan_file(tmp_path / "a.csv", missing=missing)
    whole = sdc.read_file(tmp_path / "a.csv", missing=missing)
    assert plan.collect().equals(whole)
    assert plan.collect_schema() == whole.schema
    assert plan.collect_schema()["w"] == pl.Float64
    assert plan.collect_schema()["code"] == pl.String


FIELD = st.sampled_from(["", "NA", "0", "7", "-3", "1.5", "007", "x", "2024-02-29", "1,5", "null"])


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=8))
@pytest.mark.filterwarnings("ignore::sdckit.SdcWarning")
def test_whatever_the_fields_are(tmp_path_factory: Any, rows: list[tuple[str, ...]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text("".join(";".join(one) + "\n" for one in [("aa", "bb", "cc"), *rows]))
    expected = sdc.read_file(path, delimiter=";")
    found = stored(path, delimiter=";")
    assert found.equals(expected)
    assert found.schema == expected.schema


def test_what_a_sample_does_not_show(tmp_path: Path) -> None:
    values = [*map(str, range(12_000)), "12.5", *["3"] * 5, "later a text"]
    (tmp_path / "a.csv").write_text("one,two\n" + "".join(f"{one},{one[:4]}\n" for one in values))
    found = stored(tmp_path / "a.csv")
    assert found.schema == sdc.read_file(tmp_path / "a.csv").schema == {"one": pl.String, "two": pl.String}
    (tmp_path / "b.csv").write_text("one,two\n" + "".join(f"{one},1\n" for one in values[:-1]))
    assert stored(tmp_path / "b.csv").schema == {"one": pl.Float64, "two": pl.Int64}


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_folder_is_one_file_and_its_folders_are_columns(tmp_path: Path, engine: Any) -> None:
    for year, rows in ((2024, "2,b\n1,a\n"), (2025, "3.5,c\n")):
        (tmp_path / "census" / f"year={year}").mkdir(parents=True)
        (tmp_path / "census" / f"year={year}" / "part.csv").write_text(f"num,text\n{rows}")
    (tmp_path / "census" / "README.txt").write_text("no table")
    plan = sdc.scan_file(tmp_path / "census", engine=engine)
    found = plan.collect() if engine == "polars" else plan.pl()
    assert found.sort("num").rows() == [(1.0, "a", 2024), (2.0, "b", 2024), (3.5, "c", 2025)]
    assert sdc.k_anonymity(plan, keys=["year"]).violations[2] == 1


def test_compressed_and_in_another_encoding(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("who,age\nJosé,3\nAnn,4\n".encode("cp1252")))
    found = stored(tmp_path / "a.csv.gz", encoding="cp1252")
    assert found.rows() == [("José", 3), ("Ann", 4)]


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "a.csv").write_text("one,two\n1,2\n")
    (tmp_path / "all" / "b.csv").write_text("one,three\n1,2\n")
    with pytest.raises(sdc.FileFormatError, match=r"b\.csv has other columns than a\.csv"):
        sdc.scan_file(tmp_path / "all")
    (tmp_path / "c.csv").write_text("one,two\n1,2\n3\n")
    with pytest.raises(sdc.FileFormatError, match=r"c\.csv, line 3: 1 fields where the header has 2"):
        sdc.scan_file(tmp_path / "c.csv")
    with pytest.raises(sdc.FileFormatError, match="the decimal mark must be"):
        sdc.scan_file(tmp_path / "all" / "a.csv", decimal=";")
    with pytest.raises(sdc.FileFormatError, match="is CSV, which Spark's workers cannot be handed"):
        sdc.scan_file(tmp_path / "all" / "a.csv", engine="spark")
    with pytest.raises(sdc.ColumnError, match="has no column 'onw' \\(did you mean 'one'"):
        sdc.scan_file(tmp_path / "all" / "a.csv", columns=["onw"])
    pl.DataFrame({"one": [1]}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(sdc.FileFormatError, match=r"d\.parquet is Parquet: delimiter, encoding"):
        sdc.scan_file(tmp_path / "d.parquet", delimiter=",")


def test_a_hint_at_the_decimal_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name,w\nx,"1,5"\ny,"2,5"\n')
    with pytest.warns(sdc.SdcWarning, match="every value is a number with the decimal mark ','"):
        assert stored(tmp_path / "a.csv").schema["w"] == pl.String
    assert stored(tmp_path / "a.csv", decimal=",").schema["w"] == pl.Float64
