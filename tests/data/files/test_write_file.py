"""Files out: whole or not at all, never over a source, the same values back."""

from __future__ import annotations

import datetime as dt
import errno
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import sdckit as sdc
from full_disk import DISK_FULL, fill_disk
from plans import on_engines
from sdckit.data.files.write_file import WRITTEN, check_output, write_file
from sdckit.errors import ColumnError, DataError, FileFormatError

FRAME = pl.DataFrame(
    {
        "number": [1, None, -3],
        "share": [0.5, 1.25, None],
        "text": ["a", "=HYPERLINK()", None],
        "day": [dt.date(2020, 1, 31), None, dt.date(1999, 12, 1)],
        "level": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
    }
)


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str, engine: str) -> None:
    frame = {"polars": FRAME, "pandas": FRAME.to_pandas(), "pyarrow": FRAME.to_arrow()}[engine]
    path = write_file(frame, tmp_path / f"out{ending}")
    back = sdc.read_file(path)
    assert back.columns == FRAME.columns
    assert back["text"].to_list() == FRAME["text"].to_list()
    assert back["number"].cast(pl.Float64).to_list() == [1.0, None, -3.0]
    assert back["level"].cast(pl.String).to_list() == ["lo", "hi", None]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_formulas_are_disarmed_only_where_asked(tmp_path: Path) -> None:
    frame = pl.DataFrame({"=a": ["=1", "+1", "-x", "@s", "\ty", "b", None], "n": [-1, 2, 3, 4, 5, 6, 7]})
    plain = write_file(frame, tmp_path / "plain.csv").read_text(encoding="utf-8")
    assert "'" not in plain
    safe = pl.read_csv(write_file(frame, tmp_path / "safe.csv", excel_safe=True))
    assert safe.columns == ["'=a", "n"]
    assert safe["'=a"].to_list() == ["'=1", "'+1", "'-x", "'@s", "'\ty", "b", None]
    assert safe["n"].to_list()[0] == -1
    with pytest.raises(FileFormatError, match="excel_safe is for CSV"):
        write_file(frame, tmp_path / "a.parquet", excel_safe=True)


@pytest.mark.parametrize(
    "text", ["\uff1d1", "\uff0b1", "\uff0d1", "\uff20a", "  =1", "\u3000=1", "\u200b=1", "\x00=1", "\n=1"]
)
def test_wide_and_indented_formulas_are_disarmed(text: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [text, "x = 1", " a"]})
    safe = write_file(frame, tmp_path / "safe.csv", excel_safe=True).read_text(encoding="utf-8")
    assert f"'{text}" in safe
    assert safe.count("'") == 1


def test_categories_are_disarmed_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": pl.Series(["=x", "y"], dtype=pl.Categorical)})
    path = write_file(frame, tmp_path / "a.csv", excel_safe=True)
    assert pl.read_csv(path)["a"].to_list() == ["'=x", "y"]


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    source = write_file(FRAME, tmp_path / "raw.csv")
    before = source.read_bytes()
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(source)
    os.link(source, hard)
    for path in (source, link, hard):
        with pytest.raises(FileFormatError, match="never overwritten"):
            write_file(FRAME.head(1), path, sources=[source])
    assert source.read_bytes() == before


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(FRAME, tmp_path / "out.csv")
    before = path.read_bytes()

    fill_disk(monkeypatch)
    with pytest.raises(FileFormatError, match=f"could not write out.csv: {DISK_FULL}; nothing was left behind"):
        write_file(FRAME, path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


def test_what_cannot_be_written_is_told_without_values(tmp_path: Path) -> None:
    nested = pl.DataFrame({"a": [["secret"]]})
    with pytest.raises(DataError, match="cannot be written as CSV") as caught:
        write_file(nested, tmp_path / "a.csv")
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileFormatError, match="an engine writes Parquet"):
        write_file(nested.lazy(), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"), [("out.xlsx", "ends in one of"), ("out", "ends in one of"), ("no/out.csv", "does not exist")]
)
def test_a_bad_place(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        check_output(tmp_path / name)


def test_a_folder_and_a_mode(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(FileFormatError, match="no regular file"):
        write_file(FRAME, tmp_path / "out.csv")
    path = write_file(FRAME, tmp_path / "b.csv", private=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_pandas_index_is_not_written(tmp_path: Path) -> None:
    path = write_file(pd.DataFrame({"a": [1, 2]}, index=[7, 8]), tmp_path / "a.csv")
    assert path.read_text(encoding="utf-8").split() == ["a", "1", "2"]
    assert write_file(pa.table({"a": [1]}), tmp_path / "b.tsv").exists()


# Plans are written by their engine: whole or not at all, and nothing but their records.


SURVEY = pl.DataFrame({"job": ["cook", None, "vet"], "age": [31, 40, 58]})


@on_engines
def test_a_plan_becomes_a_file(plan: Any, tmp_path: Path) -> None:
    assert sdc.write_file(plan(SURVEY), tmp_path / "out.parquet") == tmp_path / "out.parquet"
    assert pl.read_parquet(tmp_path / "out.parquet").equals(SURVEY)
    assert files_in(tmp_path) == ["out.parquet"]
    assert stat.S_IMODE((tmp_path / "out.parquet").stat().st_mode) == 0o666 & ~umask()
    sdc.write_file(plan(SURVEY), tmp_path / "mine.parquet", private=True)
    assert stat.S_IMODE((tmp_path / "mine.parquet").stat().st_mode) == 0o600


def files_in(folder: Path) -> list[str]:
    """The names of what a folder holds."""
    return [one.name for one in folder.iterdir()]


def umask() -> int:
    """The mask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_categories_that_no_record_has_stay_behind(tmp_path: Path) -> None:
    frame = SURVEY.with_columns(pl.col("job").cast(pl.Enum(["cook", "vet", "hangman"])))
    sdc.write_file(frame.lazy(), tmp_path / "out.parquet")
    assert b"hangman" not in (tmp_path / "out.parquet").read_bytes()
    assert (
        pq.read_schema(tmp_path / "out.parquet").metadata is None
        or b"hangman" not in str(pq.read_schema(tmp_path / "out.parquet").metadata).encode()
    )


@on_engines
def test_what_fails_leaves_the_older_file(plan: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"older")
    given = plan(SURVEY)
    if isinstance(given, pl.LazyFrame):
        failing = given.with_columns(pl.col("job").cast(pl.Int64))
    else:
        failing = given.query("v", "SELECT job::BIGINT AS job FROM v")
    with pytest.raises(DataError, match="cannot be carried out") as caught:
        sdc.write_file(failing, out)
    assert "cook" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert out.read_bytes() == b"older"
    assert files_in(tmp_path) == ["out.parquet"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "secret"), RuntimeError('IO Error: "secret": No space left on device')]
)
def test_a_full_disk_is_told(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", full)
    with pytest.raises(FileFormatError, match="the disk is full") as caught:
        sdc.write_file(SURVEY.lazy(), tmp_path / "out.parquet")
    assert "secret" not in str(caught.value)
    assert files_in(tmp_path) == []


@on_engines
@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("out.csv", {}, "out.csv is CSV: an engine writes Parquet"),
        ("out.parquet", {"labels": {"job": "Occupation"}}, "writes no labels"),
        ("folder.parquet", {}, "there is something that is no regular file"),
    ],
)
def test_refusals(plan: Any, name: str, options: dict[str, Any], says: str, tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileFormatError, match=says):
        sdc.write_file(plan(SURVEY), tmp_path / name, **options)
    assert files_in(tmp_path) == ["folder.parquet"]


@on_engines
def test_a_folder_that_spark_wrote_stays(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "_SUCCESS").touch()
    with pytest.raises(FileFormatError, match="there is a folder; remove it"):
        sdc.write_file(plan(SURVEY), tmp_path / "out.parquet")


# SPSS and Stata files out: read back they say the same; nothing of what was taken out is in their bytes.


MARK = "Zyxw-4711"
ENDINGS = ["sav", "zsav", "dta"]
LABELLED_FRAME = pl.DataFrame(
    {
        "sex": pl.Series(["m", "f", "refused", None], dtype=pl.Enum(["m", "f", "refused", MARK])),
        "age": pl.Series(["0-9", "10+", "10+", "0-9"], dtype=pl.Enum(["0-9", "10+"])),
        "town": ["Graz", "Öd", None, "Graz"],
        "income": [1.5, None, 2.25, float("nan")],
        "n": [1, 2, None, 3],
        "day": [dt.date(2020, 1, 31), None, dt.date(1950, 2, 1), dt.date(2000, 1, 1)],
        "at": [dt.datetime(2020, 1, 31, 12, 30), None, None, dt.datetime(1999, 1, 1)],
        "own": [True, False, None, True],
    }
)
LABELS = sdc.FileLabels(
    {
        "sex": sdc.ColumnLabels("Sex", {"m": 1, "f": 2, MARK: 3, "refused": 9}, ((9, 9),), "nominal"),
        "income": sdc.ColumnLabels("Income", measure="scale", display="F7.1"),
        "name": sdc.ColumnLabels(MARK),
    }
)


def read_plain(path, **options):
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    return read(path, output_format="polars", **options)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_what_is_written_is_read_back_of_write_labelled(tmp_path, ending, engine):
    frame = {"polars": LABELLED_FRAME, "pandas": LABELLED_FRAME.to_pandas(), "pyarrow": LABELLED_FRAME.to_arrow()}[
        engine
    ]
    path = sdc.write_file(frame, tmp_path / f"a.{ending}", labels=LABELS)
    back = sdc.read_file(path, user_missing=True)
    assert back.columns == LABELLED_FRAME.columns
    assert back["sex"].to_list() == LABELLED_FRAME["sex"].to_list()
    assert back["sex"].dtype == pl.Enum(["m", "f", "refused"])
    for name in ("age", "town", "n", "at"):
        assert back[name].to_list() == LABELLED_FRAME[name].to_list()
    assert back["day"].cast(pl.Date).to_list() == LABELLED_FRAME["day"].to_list()  # pandas has no days
    assert back["income"].to_list() == [1.5, None, 2.25, None]
    assert back["own"].cast(pl.String).to_list() == ["true", "false", None, "true"]
    assert sdc.read_file(path)["sex"].to_list() == ["m", "f", None, None]
    assert sdc.read_labels(path).variables == {"sex": "Sex", "income": "Income"}


def test_codes_labels_and_levels_of_measurement_stay(tmp_path):
    path = sdc.write_file(LABELLED_FRAME, tmp_path / "a.sav", labels=LABELS)
    values, meta = read_plain(path, user_missing=True)
    assert values["sex"].to_list() == [1, 2, 9, None]
    assert meta.variable_value_labels["sex"] == {1: "m", 2: "f", 9: "refused"}
    assert meta.variable_value_labels["age"] == {1: "0-9", 2: "10+"}
    assert meta.missing_ranges == {"sex": [{"lo": 9.0, "hi": 9.0}]}
    assert meta.variable_measure["sex"] == "nominal"
    assert meta.original_variable_types["income"] == "F7.1"
    assert meta.original_variable_types["n"] == "F1.0"
    again = sdc.write_file(sdc.read_file(path, user_missing=True), tmp_path / "b.sav", labels=sdc.read_labels(path))
    assert again.read_bytes() == path.read_bytes()


def test_stata_marks_what_is_missing_with_letters(tmp_path):
    path = sdc.write_file(LABELLED_FRAME, tmp_path / "a.dta", labels=LABELS)
    values, meta = read_plain(path, user_missing=True)
    assert list(values["sex"]) == [1, 2, "a", None]
    assert meta.variable_value_labels["sex"] == {1: "m", 2: "f", "a": "refused"}
    assert pd.read_stata(path)["sex"].tolist()[:2] == ["m", "f"]


def test_more_than_three_missing_codes_are_a_range(tmp_path):
    words = ["yes", "a", "b", "c", "d"]
    frame = pl.DataFrame({"x": words})
    codes = dict(zip(words, (1, 95, 96, 97, 99), strict=True))
    for missing in (((90, 99),), tuple((code, code) for code in (95, 96, 97, 99))):
        labels = sdc.FileLabels({"x": sdc.ColumnLabels(codes=codes, missing=missing[:1])})
        path = sdc.write_file(frame, tmp_path / "a.sav", labels=labels)
        assert sdc.read_file(path)["x"].to_list()[0] == "yes"
        assert sdc.read_file(path, user_missing=True)["x"].to_list() == words
    letters = sdc.FileLabels(
        {"x": sdc.ColumnLabels(codes={"yes": 1, **dict(zip("abcd", "abcd", strict=True))},
                               missing=tuple((one, one) for one in "abcd"))}
    )  # fmt: skip
    assert sdc.read_file(sdc.write_file(frame, tmp_path / "b.sav", labels=letters))["x"].to_list() == [
        "yes", None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_else_is_in_the_bytes(tmp_path, ending):
    cut = pl.DataFrame({"t": [MARK, "b"], "x": [4711.5, 1.0]}).slice(1)
    for frame in (LABELLED_FRAME, cut, cut.with_columns(t=pl.when(pl.col("t") != MARK).then("t").otherwise(None))):
        path = sdc.write_file(frame, tmp_path / f"a.{ending}", labels=LABELS)
        assert MARK.encode() not in path.read_bytes()
        if ending == "sav":
            assert b"4711" not in path.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_time_of_writing_is_not_told(tmp_path, ending, monkeypatch):
    first = sdc.write_file(LABELLED_FRAME, tmp_path / f"a.{ending}").read_bytes()
    meta = read_plain(tmp_path / f"a.{ending}")[1]
    assert meta.creation_time.year == 1970
    monkeypatch.setattr(time, "time", lambda: 2e9)
    time.sleep(1.1)
    assert sdc.write_file(LABELLED_FRAME, tmp_path / f"b.{ending}").read_bytes() == first


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("a b", "sav dta"), ("1a", "sav dta"), ("_a", "sav"), ("a.b", "dta"), ("a.", "sav dta"), ("x" * 65, "sav dta"),
        ("x" * 33, "dta"), ("ö" * 33, "sav dta"), ("with", "sav dta"), ("", "sav dta"), ("Age", "sav"), ("strL", "dta"),
    ],
)  # fmt: skip
def test_names_that_the_format_does_not_allow(tmp_path, name, kinds):
    frame = pl.DataFrame({"age": [1], name: [2]})
    for ending in ("sav", "dta"):
        if ending in kinds.split():
            with pytest.raises(ColumnError, match=r"rename (it|one)"):
                sdc.write_file(frame, tmp_path / f"a.{ending}")
            assert not list(tmp_path.iterdir())
        else:
            assert sdc.read_file(sdc.write_file(frame, tmp_path / f"a.{ending}")).columns == ["age", name]
            (tmp_path / f"a.{ending}").unlink()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pl.Series([2**60]), r"over 2\^53"), (pl.Series([-(2**60)]), r"over 2\^53"),
        (pl.Series([float("inf")]), "infinite"),
        (pl.Series([[MARK]]), "lists"), (pl.Series([dt.timedelta(1)]), "lists"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ENDINGS)
def test_what_the_format_cannot_hold(tmp_path, column, said, ending):
    with pytest.raises(DataError, match=said) as caught:
        sdc.write_file(pl.DataFrame({"a": column}), tmp_path / f"a.{ending}")
    assert MARK not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_kinds_and_long_texts(tmp_path, ending):
    frame = pl.DataFrame(
        {
            "none": pl.Series([None, None], dtype=pl.Null),
            "exact": pl.Series(["1.25", None]).cast(pl.Decimal(10, 2)),
            "zone": pl.Series([dt.datetime(2020, 1, 1), None]).dt.replace_time_zone("Europe/Vienna"),
            "words": ["x" * 3000, None],
            "level": pl.Series(["ü" * 100, "ü" * 99], dtype=pl.Categorical),
        }
    )
    labels = {"words": "ä" * 300}
    back = sdc.read_file(sdc.write_file(frame, tmp_path / f"a.{ending}", labels=labels))
    assert back["none"].to_list() == [None, None]
    assert back["exact"].to_list() == [1.25, None]
    assert back["zone"].to_list()[0] == dt.datetime(2020, 1, 1)
    assert back["words"].to_list() == ["x" * 3000, None]
    assert back["level"].n_unique() == 2
    longest = 80 if ending == "dta" else 128
    assert sdc.read_labels(tmp_path / f"a.{ending}").variables == {"words": "ä" * longest}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_leaves_nothing(tmp_path, ending, monkeypatch):
    fill_disk(monkeypatch)
    with pytest.raises(FileFormatError, match=DISK_FULL):
        sdc.write_file(LABELLED_FRAME, tmp_path / f"a.{ending}")
    assert not list(tmp_path.iterdir())


def test_pyreadstat_absent(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for ending in ENDINGS:
        with pytest.raises(FileFormatError, match=r'pip install "sdckit\[files\]"'):
            check_output(tmp_path / f"a.{ending}")
    assert check_output(tmp_path / "a.csv")[0] == "CSV"


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_parquet_and_arrow_take_variable_labels_where_given(tmp_path, ending):
    path = sdc.write_file(LABELLED_FRAME, tmp_path / f"a.{ending}", labels=LABELS)
    assert sdc.read_labels(path).variables == {"sex": "Sex", "income": "Income"}
    assert MARK.encode() not in path.read_bytes()
    plain = sdc.write_file(LABELLED_FRAME, tmp_path / f"b.{ending}")
    assert pl.read_parquet(path).equals(pl.read_parquet(plain)) if ending == "parquet" else path.stat().st_size
    with pytest.warns(sdc.SdcWarning, match="refused"):
        assert sdc.read_file(path).schema == sdc.read_file(plain).schema
    assert sdc.read_labels(tmp_path / f"b.{ending}").variables == {}
    with pytest.raises(DataError, match="cannot be written as") as caught:
        sdc.write_file(
            pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), tmp_path / f"c.{ending}", labels={"a": "A"}
        )
    assert "object at" not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_column_has_one_kind_of_missing_numbers(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"both": [1.5, None, float("nan")], "alone": [1.5, 2.5, float("nan")]})
    path = write_file(frame, tmp_path / f"a.{ending}")
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[ending](path)
    assert read["both"].to_list() == [1.5, None, None]
    assert read["alone"].null_count() == 0
