"""SPSS, Stata and SAS files: labels, user-missing values, projection and what is refused."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from sdckit.data.files.read_labels import read_labels
from sdckit.data.files.readers import describe_file, read_file, scan_header
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
    assert read_file(transport, columns=["n", "sex"], missing=["-999"]).rows() == [
        (1, 1),
        (2, 2),
        (3, 9),
        (None, 3),
    ]
    assert scan_header(transport).columns == ("name", "sex", "job", "w", "n")
    assert scan_header(portable).format == "SPSS portable"


def test_texts_and_labels_follow_the_rule_of_every_format(tmp_path):
    path = tmp_path / "s.dta"
    frame = pd.DataFrame({"t": ["a", "NA", "", "."], "c": [1, 2, 1, 1]})
    pyreadstat.write_dta(frame, str(path), variable_value_labels={"c": {1: "yes", 2: "N/A"}})
    with pytest.warns(
        SdcWarning, match=r"'NA' in t \(1 record\); '\.' in t \(1 record\); 'N/A' in c \(1 record\)"
    ):
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
        meta = SimpleNamespace(
            column_names=["sex"], number_rows=2, variable_value_labels={"sex": {1.0: "m", 2.0: "f"}}
        )
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
