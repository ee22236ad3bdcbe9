"""What a file says of its columns: read without its records, taken by the writer."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from pyarrow import feather

import sdckit as sdc
from sdckit.data.files.file_labels import ColumnLabels, FileLabels
from sdckit.data.files.readers import describe_file
from sdckit.errors import FileFormatError


def test_spss(tmp_path):
    path = tmp_path / "a.sav"
    frame = pl.DataFrame({"sex": [1, 2, 9], "w": [1.5, 2.5, 3.0], "t": ["x", "y", "z"]})
    pyreadstat.write_sav(
        frame, path, column_labels={"sex": " Sex "}, variable_value_labels={"sex": {1: "m", 2: "f", 9: "refused"}},
        missing_ranges={"sex": [9], "t": ["z"], "w": [{"lo": -9, "hi": -1}]},
        variable_measure={"sex": "nominal"}, variable_format={"w": "F6.1"},
    )  # fmt: skip
    found = sdc.read_labels(path)
    assert found.get("sex") == ColumnLabels(
        "Sex", {"m": 1, "f": 2, "refused": 9}, ((9, 9),), "nominal", "F8.2"
    )
    assert found.get("w").missing == ((-9, -1),)
    assert found.get("w").display == "F6.1"
    assert found.get("t").missing == (("z", "z"),)
    assert [found.get("sex").is_missing(code) for code in (1, 9, "9")] == [False, True, False]


def test_stata(tmp_path):
    path = tmp_path / "a.dta"
    frame = pl.DataFrame({"sex": pl.Series([1, "b", None], dtype=pl.Object), "n": [1, 2, 3]})
    labels = {"sex": {1: "m", 2: "f", "b": "refused"}}
    pyreadstat.write_dta(frame, path, variable_value_labels=labels, missing_user_values={"sex": ["b"]})
    found = sdc.read_labels(path)
    assert found.get("sex").codes == {"m": 1, "f": 2, "refused": "b"}
    assert found.get("sex").is_missing("b")
    assert found.get("n") == ColumnLabels()
    assert found.variables == {}


@pytest.mark.parametrize("name", ["label", "Description", "comment"])
def test_descriptions_of_parquet_and_arrow_are_labels(tmp_path, name):
    described = pa.field("age", pa.int64(), metadata={name: " Age in years ", "other": "x"})
    table = pa.table({"age": [1, 2], "b": [1, 2]}, schema=pa.schema([described, pa.field("b", pa.int64())]))
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.arrow")
    for ending in ("parquet", "arrow"):
        assert sdc.read_labels(tmp_path / f"a.{ending}").variables == {"age": "Age in years"}
        assert describe_file(tmp_path / f"a.{ending}").labels == {"age": "Age in years"}


def test_text_says_nothing_and_an_absent_file_is_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n", encoding="utf-8")
    assert sdc.read_labels(path) == FileLabels()
    with pytest.raises(FileFormatError, match=r"no\.sav"):
        sdc.read_labels(tmp_path / "no.sav")
