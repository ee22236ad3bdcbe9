"""A file beside the original is read as that is where it is written so, else by its own shape, which is said."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.files.csv_beside import options_beside
from sdckit.data.files.read_csv import CsvOptions
from sdckit.errors import FileFormatError, SdcWarning

GERMAN = CsvOptions(";", "latin-1", ",")
ROWS = "Ort;Lohn;Zweig\nKöln;1,5;47.11\nDüren;2,25;01.10\n"
HOUSE = "Ort,Lohn\nKöln,1.5\nDüren,2.25\n"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "original.csv"
    path.write_bytes(ROWS.encode("latin-1"))
    return path


def beside(original: Path, content: str | bytes, given: CsvOptions = GERMAN, name: str = "other.csv") -> CsvOptions:
    """The options for a file of this content, which must be said where they are others."""
    path = original.with_name(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings(record=True, action="always") as caught:
        own = options_beside(path, given, original=original)
    said = [str(warning.message) for warning in caught if issubclass(warning.category, SdcWarning)]
    assert bool(said) is (own != given)
    assert all(text.startswith(f"{name}: read by the ") and text.endswith("not as original.csv is") for text in said)
    return own


def test_a_file_of_the_same_origin_is_read_with_the_options_given(original: Path) -> None:
    assert beside(original, ROWS.encode("latin-1")) == GERMAN
    assert beside(original, "Ort;Lohn\nAachen;1\nBonn;2\n") == GERMAN  # reads alike in both ways
    assert beside(original, HOUSE, CsvOptions()) == CsvOptions()


def test_a_file_of_the_house_is_read_by_its_own_shape(original: Path) -> None:
    assert beside(original, HOUSE) == CsvOptions(",", None, ".")
    frame = sdc.read_file(original, delimiter=";", encoding="latin-1", decimal=",")
    sdc.write_file(frame, original.with_name("safe.csv"))
    with pytest.warns(SdcWarning, match="by the encoding, the delimiter ',' and the decimal mark '.' of its own"):
        own = options_beside(original.with_name("safe.csv"), GERMAN, original=original)
    assert sdc.read_file(original.with_name("safe.csv"), **vars(own))["Lohn"].to_list() == [1.5, 2.25]


def test_codes_with_points_are_no_decimals(original: Path) -> None:
    """A column that is text in the original for its points stays text beside it."""
    assert beside(original, "Ort,Zweig\nBonn,47.11\nAachen,01.10\n").decimal == ","
    assert beside(original, "Ort;Lohn;Zweig\nBonn;1,5;47.11\n".encode("latin-1")) == GERMAN
    # a new column with points alone leaves the commas of the others
    assert beside(original, "Ort;Lohn;Neu\nBonn;1,5;3.5\n".encode("latin-1")) == GERMAN


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encoding_of_its_own(original: Path, codec: str) -> None:
    assert beside(original, ROWS.encode(codec)) == CsvOptions(";", None, ",")


@pytest.mark.parametrize("codec", ["utf-8", "ascii", "utf-16-le", "gbk"])
def test_an_encoding_that_is_given_and_fits_holds(original: Path, codec: str) -> None:
    text = "Ort;Lohn\n女;1\n男;2\n" if codec == "gbk" else "Ort;Lohn\nBonn;1\nAachen;2\n"
    given = CsvOptions(";", codec)
    assert beside(original, text.encode(codec), given) == given


def test_an_encoding_that_does_not_fit_is_left(original: Path) -> None:
    assert beside(original, ROWS.encode("latin-1"), CsvOptions(encoding="utf-8")) == CsvOptions()


@pytest.mark.parametrize(
    ("content", "given", "named"),
    [
        ("Ort;Lohn\nä;1\n".encode(), CsvOptions(encoding="gbk"), "encoding="),  # 盲 in the other
        (b"a;b,c\n1;2,3\n4;5,6\n", CsvOptions(delimiter=";"), "delimiter="),
        (b"Ort;Lohn;Neu\nBonn;1.5;2,5\n", CsvOptions(decimal=","), "decimal="),
    ],
)
def test_two_ways_to_read_a_file_stop(original: Path, content: bytes, given: CsvOptions, named: str) -> None:
    original.write_bytes(b"Ort;Lohn;Neu\nKoeln;1,5;2,5\n")
    with pytest.raises(
        FileFormatError,
        match=f"other.csv can be read .* which gives other records, so nobody can tell whether the {named}",
    ) as no:
        beside(original, content, given)
    assert no.value.argument == named[:-1]


def test_other_formats_need_none(original: Path) -> None:
    other = original.with_name("other.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(other)
    assert options_beside(other, GERMAN, original=original) == CsvOptions()
    assert options_beside(original.with_name("absent.csv"), GERMAN, original=original) == GERMAN
    assert options_beside(Path("s3://bucket/other.csv"), GERMAN, original=original) == GERMAN


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_labelled_file_declares_its_encoding(tmp_path: Path, ending: str) -> None:
    """It is said of an original that declares none, or a wrong one; what write_file writes declares UTF-8."""
    original, older, safe = (tmp_path / f"{name}.{ending}" for name in ("original", "older", "safe"))
    sdc.write_file(pl.DataFrame({"ort": ["Köln", "Düren"]}), safe)
    for path in (original, older):  # as before UTF-8: this declares nothing that a reader could decode by
        old = safe.read_bytes().replace(b"<release>119<", b"<release>117<").replace(b"UTF-8", b"ASCII")
        path.write_bytes(old)
    given = CsvOptions(encoding="cp1252")
    if safe.read_bytes() == older.read_bytes():  # pyreadstat before 1.3.7 declares none in SPSS files
        assert options_beside(safe, given, original=original) == given
        return
    assert options_beside(older, given, original=original) == given
    with pytest.warns(SdcWarning, match=f"safe.{ending}: read by the encoding of its own, not as original.{ending} is"):
        assert options_beside(safe, given, original=original) == CsvOptions()
    assert options_beside(safe, given, original=tmp_path / "original.csv") == CsvOptions()


def test_a_folder_is_read_as_its_first_file(original: Path) -> None:
    folder = original.with_name("parts")
    folder.mkdir()
    (folder / "1.csv").write_text(HOUSE, encoding="utf-8")
    with pytest.warns(SdcWarning, match="parts: read by"):
        assert options_beside(folder, GERMAN, original=original) == CsvOptions(",", None, ".")


def test_the_second_file_of_two_has_a_shape_of_its_own(original: Path) -> None:
    other = original.with_name("other.csv")
    other.write_text("Ort,Miete\nDüren,7.5\nKöln,9.25\n", encoding="utf-8")
    how = {"delimiter": ";", "encoding": "latin-1", "decimal": ",", "join": other, "join_key": "Ort"}
    with pytest.warns(SdcWarning, match="other.csv: read by"):
        assert sdc.read_file(original, **how)["Miete"].to_list() == [9.25, 7.5]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_is_read_back_the_same(original: Path, seed: int) -> None:
    """Files of random values, written in each way: whatever was given, the numbers and texts are those written."""
    draw = random.Random(seed)
    lohn = [draw.randrange(1, 9999) / 100 for _ in range(30)]
    orte = [draw.choice(["Köln", "Düren", "Bonn"]) for _ in range(30)]
    for mark, delimiter, codec in (
        (",", ";", "latin-1"),
        (".", ",", "utf-8"),
        (".", "\t", "cp1252"),
        (",", "|", "utf-16"),
    ):
        rows = [f"{ort}{delimiter}{str(one).replace('.', mark)}" for ort, one in zip(orte, lohn, strict=True)]
        content = "\n".join([f"Ort{delimiter}Lohn", *rows]).encode(codec)
        own = beside(original, content)
        with warnings.catch_warnings(action="ignore"):
            frame = sdc.read_file(original.with_name("other.csv"), **vars(own))
        assert (frame["Ort"].to_list(), frame["Lohn"].to_list()) == (orte, lohn)
