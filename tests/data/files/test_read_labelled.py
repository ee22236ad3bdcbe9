"""SPSS, Stata and SAS files: labels, user-missing values, projection and what is refused."""

from __future__ import annotations

import decimal
import sys
from datetime import date
from types import SimpleNamespace

import duckdb
import narwhals.stable.v2 as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from polars.testing import assert_frame_equal
from pyarrow import feather

import sdckit as sdc
from sdckit.data.files.file_labels import ColumnLabels, FileLabels
from sdckit.data.files.read_labelled import read_labels
from sdckit.data.files.readers import describe_file, read_file, scan_header
from sdckit.data.frames import with_usual_types
from sdckit.errors import ColumnError, DataError, FileFormatError, SdcWarning

MARK = "Zyxw-4711"
LABELS = {"sex": {2: "female", 1: "male", 9: "refused"}, "job": {1: "other", 2: "other", 3: "nurse"}}


def survey():
    return pd.DataFrame(
        {
            "name": [MARK, "b", "", "d"],
            "sex": [1.0, 2.0, 9.0, 3.0],
            "job": [1.0, 2.0, 3.0, None],
            "w": [1.5, 2.0, 4.0, -999.0],
            "n": [1.0, 2.0, 3.0, -999.0],
        }
    )


@pytest.fixture
def sav(tmp_path):
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(survey(), str(path), variable_value_labels=LABELS, missing_ranges={"sex": [9]})
    return path


@pytest.fixture
def dta(tmp_path):
    path = tmp_path / "s.dta"
    frame = survey().astype({"sex": "Int32", "job": "Int32"})
    pyreadstat.write_dta(frame, str(path), variable_value_labels=LABELS)
    return path


def test_spss(sav):
    frame = read_file(sav, missing=["-999"])
    assert frame["sex"].to_list() == ["male", "female", None, "3"]
    assert frame["sex"].dtype == pl.Enum(["male", "female", "refused", "3"])
    assert frame["job"].to_list() == ["other (1)", "other (2)", "nurse", None]
    assert frame["name"].to_list() == [MARK, "b", None, "d"]
    assert frame["w"].to_list() == [1.5, 2.0, 4.0, None]
    assert frame["n"].to_list() == [1, 2, 3, None]
    assert frame["n"].dtype == pl.Int64
    assert scan_header(sav).columns == ("name", "sex", "job", "w", "n")
    assert scan_header(sav).n_rows == 4
    assert scan_header(sav).format == "SPSS"


def test_compressed_spss(tmp_path):
    path = tmp_path / "s.zsav"
    pyreadstat.write_sav(survey(), str(path), variable_value_labels=LABELS, compress=True)
    with pytest.warns(SdcWarning, match="sex holds 'refused' in 1 record"):
        assert read_file(path, columns=["sex"])["sex"].to_list() == ["male", "female", "refused", "3"]


def test_stata(dta):
    with pytest.warns(SdcWarning, match="sex holds 'refused' in 1 record.*--missing=refused"):
        frame = read_file(dta, columns=["job", "sex"])
    assert frame.columns == ["job", "sex"]
    assert frame["sex"].to_list() == ["male", "female", "refused", "3"]
    assert frame["job"].to_list() == ["other (1)", "other (2)", "nurse", None]


def test_spss_portable_and_sas_transport(tmp_path):
    portable, transport = tmp_path / "s.por", tmp_path / "s.xpt"
    pyreadstat.write_por(survey().rename(columns=str.upper), str(portable))
    pyreadstat.write_xport(survey(), str(transport))
    assert read_file(portable, columns=["SEX"])["SEX"].to_list() == [1, 2, 9, 3]
    assert read_file(transport, columns=["n", "sex"], missing=["-999"]).rows() == [(1, 1), (2, 2), (3, 9), (None, 3)]
    assert scan_header(transport).columns == ("name", "sex", "job", "w", "n")
    assert scan_header(portable).format == "SPSS portable"


def test_texts_and_labels_follow_the_rule_of_every_format(tmp_path):
    path = tmp_path / "s.dta"
    frame = pd.DataFrame({"t": ["a", "NA", "", "."], "c": [1, 2, 1, 1]})
    pyreadstat.write_dta(frame, str(path), variable_value_labels={"c": {1: "yes", 2: "N/A"}})
    with pytest.warns(SdcWarning, match=r"'NA' in t \(1 record\); '\.' in t \(1 record\); 'N/A' in c \(1 record\)"):
        read = read_file(path)
    assert read["t"].to_list() == ["a", None, None, None]
    assert read["c"].to_list() == ["yes", None, "yes", "yes"]
    assert read_file(path, missing="")["t"].to_list() == ["a", "NA", None, "."]


def test_labels_of_variables_and_values(tmp_path):
    path = tmp_path / "l.sav"
    pyreadstat.write_sav(
        survey(), str(path), variable_value_labels=LABELS, column_labels=["Name", None, " Beruf ", "", "Zahl"]
    )
    found = read_labels(path)
    assert found.variables == {"name": "Name", "job": "Beruf", "n": "Zahl"}
    assert found.get("sex").codes == {"male": 1, "female": 2, "refused": 9}
    assert found.get("job").codes == {"other (1)": 1, "other (2)": 2, "nurse": 3}
    with pytest.warns(SdcWarning, match="may mean missing|means missing"):
        sample = describe_file(path)
    assert sample.labels == found.variables
    assert sample.value_labels == {name: tuple(found.get(name).codes) for name in LABELS}


def test_without_labels(sav):
    assert read_file(sav, columns=["sex"], labels=False)["sex"].to_list() == [1, 2, None, 3]


def test_missing_code_by_code_or_by_label(dta):
    assert read_file(dta, columns=["sex"], missing=["9"])["sex"].to_list() == ["male", "female", None, "3"]
    assert read_file(dta, columns=["sex"], missing=["refused"])["sex"].to_list()[2] is None


def test_only_the_declared_columns_are_asked_for(sav, monkeypatch):
    asked = []
    read = pyreadstat.read_sav

    def spy(*args, **kwargs):
        asked.append(kwargs)
        return read(*args, **kwargs)

    monkeypatch.setattr(pyreadstat, "read_sav", spy)
    frame = read_file(sav, columns=["w"], missing=["-999"])
    assert frame.columns == ["w"]
    assert all(call.get("metadataonly") or call["usecols"] == ["w"] for call in asked)


def test_first_rows(sav):
    assert read_file(sav, rows=2).height == 2


def test_a_measured_number_with_a_labelled_code_stays_a_number(tmp_path):
    path = tmp_path / "s.sav"
    frame = pd.DataFrame({"income": [float(i) for i in range(100)]})
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"income": {0: "none", 99: "99 or more"}})
    with pytest.warns(SdcWarning, match="'income' has 98 values without a label; it stays numeric"):
        assert read_file(path)["income"].to_list() == list(range(100))


def test_of_a_number_whose_labelled_codes_are_declared_missing_nothing_is_asked(tmp_path):
    path = tmp_path / "s.sav"
    frame = pd.DataFrame({"income": [-9.0, *(float(i) for i in range(100))]})
    labels = {"income": {-9: "refused"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges={"income": [-9]})
    assert read_file(path)["income"].to_list() == [None, *range(100)]  # a warning would be an error here


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_labels_that_say_missing_of_codes_that_are_not_declared_are_asked_about(tmp_path, kind):
    """They became categories, and a code among numbers a number, without a word."""
    path = tmp_path / f"s.{kind}"
    frame = pd.DataFrame({"score": [-5.0, *(float(i) for i in range(100))], "reading": [1.0, 9.0] * 50 + [1.0]})
    labels = {"score": {-5: "not assessed"}, "reading": {1: "basic", 9: "Absent", 8: "not assessed"}}
    write = getattr(pyreadstat, f"write_{kind}")
    write(frame, str(path), variable_value_labels=labels)
    with pytest.warns(SdcWarning) as caught:
        read_file(path)
    assert "s." + kind + ": score holds -5 in 1 record. If that means missing give" in str(caught[-1].message)
    write(frame.astype({"reading": int}), str(path), variable_value_labels={"reading": {1: "basic", 9: "not assessed"}})
    with pytest.warns(SdcWarning, match="reading holds 'not assessed' in 50 records"):
        read_file(path, columns=["reading"])
    with pytest.warns(SdcWarning, match="reading holds 9 in 50 records"):
        read_file(path, columns=["reading"], labels=False)
    assert read_file(path, columns=["reading"], missing=["not assessed"])["reading"].null_count() == 50


def test_a_label_that_reads_like_a_code_is_kept_apart(tmp_path):
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(pd.DataFrame({"c": [1.0, 2.0]}), str(path), variable_value_labels={"c": {1: "2"}})
    assert read_file(path)["c"].to_list() == ["2", "2 (no label)"]


def test_text_codes_and_an_all_missing_column(tmp_path):
    path = tmp_path / "s.sav"
    frame = pd.DataFrame({"c": ["a", "b", "a"], "gone": [None, None, None]}).astype({"gone": float})
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"c": {"a": "yes"}})
    read = read_file(path)
    assert read["c"].to_list() == ["yes", "b", "yes"]
    assert read["gone"].to_list() == [None, None, None]


def test_sas_catalogue_beside_the_file_gives_the_labels(tmp_path, monkeypatch):
    # No open tool writes .sas7bdat, so a stand-in reader shows how it is called and what is done with labels.
    path = tmp_path / "s.sas7bdat"
    path.write_bytes(b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + b"\0" * 64)
    path.with_suffix(".sas7bcat").touch()
    calls = []

    def read_sas7bdat(name, **options):
        calls.append(options)
        frame = pl.DataFrame({"sex": [1.0, 2.0]})
        meta = SimpleNamespace(column_names=["sex"], number_rows=2, variable_value_labels={"sex": {1.0: "m", 2.0: "f"}})
        return (frame.clear() if options.get("metadataonly") else frame), meta

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read_sas7bdat)
    assert read_file(path)["sex"].to_list() == ["m", "f"]
    assert all(call["catalog_file"].endswith("s.sas7bcat") for call in calls)


def refused(error, match, path, **options):
    with pytest.raises(error, match=match) as caught:
        read_file(path, **options)
    assert MARK not in str(caught.value)
    assert str(path.parent) not in str(caught.value)


def test_pyreadstat_absent(sav, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    refused(FileFormatError, r'pip install "sdckit\[files\]"', sav)


def test_absent_column(sav):
    refused(ColumnError, r"no column 'Sex' \(did you mean 'sex'\?\)", sav, columns=["Sex"])


def test_no_records(tmp_path):
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(survey().head(0), str(path))
    refused(DataError, "no records", path)


@pytest.mark.parametrize("keep", [0.2, 0.9])
def test_truncated(sav, keep):
    whole = sav.read_bytes()
    sav.write_bytes(whole[: int(len(whole) * keep)])
    refused(FileFormatError, "cannot be read as SPSS: it is truncated", sav)


def test_truncated_sas_transport(tmp_path):
    path = tmp_path / "s.xpt"
    pyreadstat.write_xport(survey(), str(path))
    path.write_bytes(path.read_bytes()[:-100])
    refused(FileFormatError, "is a truncated SAS transport file", path)


@pytest.mark.parametrize("name", ["s.dta", "s.por", "s.xpt", "s.sas7bdat"])
def test_not_of_that_format(tmp_path, name):
    path = tmp_path / name
    path.write_text(f"a,b\n{MARK},2\n")
    refused(FileFormatError, "cannot be read as|is not SAS", path)


def test_unknown_encoding(sav):
    refused(FileFormatError, "cannot be read as SPSS", sav, encoding="klingon")


# What a file says of its columns: read without its records, taken by the writer.


def test_spss_of_read_labels(tmp_path):
    path = tmp_path / "a.sav"
    frame = pl.DataFrame({"sex": [1, 2, 9], "w": [1.5, 2.5, 3.0], "t": ["x", "y", "z"]})
    pyreadstat.write_sav(
        frame, path, column_labels={"sex": " Sex "}, variable_value_labels={"sex": {1: "m", 2: "f", 9: "refused"}},
        missing_ranges={"sex": [9], "t": ["z"], "w": [{"lo": -9, "hi": -1}]},
        variable_measure={"sex": "nominal"}, variable_format={"w": "F6.1"},
    )  # fmt: skip
    found = sdc.read_labels(path)
    assert found.get("sex") == ColumnLabels("Sex", {"m": 1, "f": 2, "refused": 9}, ((9, 9),), "nominal", "F8.2")
    assert found.get("w").missing == ((-9, -1),)
    assert found.get("w").display == "F6.1"
    assert found.get("t").missing == (("z", "z"),)
    assert [found.get("sex").is_missing(code) for code in (1, 9, "9")] == [False, True, False]


def test_stata_of_read_labels(tmp_path):
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


# Parquet and Arrow (formats alike are tested in test_readers).


RARE = {
    "wide": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal(3)], pa.decimal256(50, 2)),
    "long": pa.array([decimal.Decimal(10**60), None, decimal.Decimal(3)], pa.decimal256(70, 2)),
    "span": pa.array([(1, 2, 3_000_000), None, (0, 0, 0)], pa.month_day_nano_interval()),
    "runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["a", None]),
}


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "arrow") for name in RARE), *((name, "parquet") for name in RARE if name != "runs")]
)
def test_columns_of_rare_types_are_read_as_they_are_taken_from_memory(tmp_path, name, kind):
    """Polars has no type for them and ends: a good file was called damaged, also where others were asked for."""
    path, table = tmp_path / f"a.{kind}", pa.table({"k": ["x", "y", "z"], name: RARE[name]})
    if kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    elif name == "span":
        values = "('x', INTERVAL '1 month 2 days 3 milliseconds'), ('y', NULL), ('z', INTERVAL 0 day)"
        duckdb.sql(f"COPY (SELECT * FROM (VALUES {values}) t(k, span)) TO '{path}' (FORMAT parquet)")
    else:
        pq.write_table(table, path)
    in_memory = pl.from_arrow(with_usual_types(nw.from_native(table)).to_native())
    assert_frame_equal(read_file(path), in_memory, check_dtypes=False)
    assert_frame_equal(read_file(path, columns=["k"]), in_memory.select("k"))
    assert read_file(path, columns=[name, "k"], rows=1).rows() == in_memory.select(name, "k").head(1).rows()
    assert scan_header(path).n_rows == 3


FRAME = pl.DataFrame(
    {
        "c": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        "e": pl.Series(["x", "y", None], dtype=pl.Enum(["y", "x"])),
        "d": [date(2020, 1, 1), None, date(2021, 1, 1)],
        "b": [True, None, False],
        "f": [1.5, None, float("nan")],
    }
)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_types_stay(tmp_path, kind):
    path = tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    write = {"parquet": FRAME.write_parquet, "arrow": FRAME.write_ipc, "stream": FRAME.write_ipc_stream}[kind]
    write(path)
    assert read_file(path).equals(FRAME)
    assert scan_header(path).n_rows == 3


def test_pattern_characters_and_folder_names(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    for name, write in (("w[1].parquet", FRAME.write_parquet), ("w[1].arrow", FRAME.write_ipc)):
        write(folder / name)
        assert read_file(folder / name).columns == FRAME.columns


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_categories_of_another_writer_keep_their_order(tmp_path, kind):
    order = ["never", "unasked", "seldom", "often"]
    held = pa.DictionaryArray.from_arrays(pa.array([3, None, 2, 0, 3], pa.int8()), pa.array(order))
    table, path = pa.table({"x": held}), tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        opening = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with opening(str(path), table.schema) as sink:
            sink.write_table(table)
    found = read_file(path)["x"]
    assert found.dtype == pl.Enum(order)
    assert found.to_list() == ["often", None, "seldom", "never", "often"]


@pytest.mark.parametrize("stream", [False, True])
def test_categories_of_pandas_one_of_them_missing(tmp_path, stream):
    path = tmp_path / "x.feather"
    file = pd.DataFrame({"sex": pd.Categorical(["m", "f", None, "m"], ["m", "f"]), "age": [1, 2, 3, 4]})
    if stream:
        table = pa.Table.from_pandas(file)
        with pa.ipc.new_stream(path, table.schema) as out:
            out.write_table(table)
    else:
        file.to_feather(path)
    found = read_file(path)
    assert found["sex"].dtype == pl.Enum(["m", "f"])
    assert found.rows() == [("m", 1), ("f", 2), (None, 3), ("m", 4)]
    assert read_file(path, columns=["sex"]).columns == ["sex"]


def test_row_groups_with_categories_of_their_own(tmp_path):
    path = tmp_path / "x.parquet"
    parts = [pa.table({"x": pa.array(one).dictionary_encode()}) for one in (["b", "a"], ["c", "b"])]
    with pq.ParquetWriter(path, parts[0].schema) as sink:
        for part in parts:
            sink.write_table(part)
    found = read_file(path)["x"]
    assert found.to_list() == ["b", "a", "c", "b"]
    assert found.dtype.categories.to_list() == ["b", "a", "c"]


@pytest.mark.parametrize("write", ["open_stream", "new_file"])
def test_codes_without_a_category_and_names_that_are_no_text_are_refused(tmp_path, write):
    table = pa.table({
        "name": pa.array(["x", "y", "z"]),
        "code": pa.DictionaryArray.from_arrays(pa.array([0, 1, 4_000_000], pa.int32()), ["a", "b"], safe=False),
    })  # fmt: skip
    path = tmp_path / "a.arrow"
    with {"open_stream": pa.ipc.new_stream, "new_file": pa.ipc.new_file}[write](path, table.schema) as writer:
        writer.write_table(table)
    assert read_file(path, columns=["name"]).height == 3
    with pytest.raises(FileFormatError, match="cannot be read as Arrow"):
        read_file(path)
    path.write_bytes(path.read_bytes().replace(b"name", b"n\xb1me"))
    with pytest.raises(FileFormatError, match="cannot be read as Arrow"):
        read_file(path)
