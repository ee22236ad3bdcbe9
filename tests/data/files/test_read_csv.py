"""CSV: what is detected, what is refused, and that no message holds a record's value."""

from __future__ import annotations

import datetime as dt
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.files import read_csv
from sdckit.data.files.read_csv import CsvOptions, csv_header, sheet_as_csv, store_csv
from sdckit.data.files.readers import describe_file, read_file, scan_header
from sdckit.errors import ColumnError, DataError, FileFormatError, SdcError, SdcWarning

MARK = "Zyxw-4711"  # planted in records; may be in no message


@pytest.fixture
def saved(tmp_path):
    def save(content, name="survey.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return save


def refused(error, match, path, **options):
    with pytest.raises(error, match=match) as caught:
        read_file(path, **options)
    assert MARK not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert str(path.parent) not in str(caught.value)


# --- what is detected -------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_end(saved, mark, end):
    text = end.join(mark.join(row) for row in (["a", "b c", "d.e"], ["1", "x", "2"], ["3", "y", "4"])) + end
    frame = read_file(saved(text))
    assert frame.columns == ["a", "b c", "d.e"]
    assert frame.rows() == [(1, "x", 2), (3, "y", 4)]


def test_delimiter_given(saved):
    path = saved("a:b;c\n1:2;3\n")
    assert read_file(path, delimiter=":").rows() == [(1, "2;3")]
    assert read_file(saved("a\tb\n1\t2\n"), delimiter="tab").rows() == [(1, 2)]
    refused(FileFormatError, "delimiter must be one character", path, delimiter="::")


def test_delimiter_in_quoted_text_does_not_mislead(saved):
    assert read_file(saved('a;b\n"x, y, z";1\n"p, q";2\n')).rows() == [("x, y, z", 1), ("p, q", 2)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encoding_by_mark_or_utf8(saved, encoding):
    frame = read_file(saved("größe,naïve ñ\n1,é\n2,日\n", encoding=encoding))
    assert frame.columns == ["größe", "naïve ñ"]
    assert frame.rows() == [(1, "é"), (2, "日")]


def test_cp1252_is_read_with_a_warning_that_names_the_line(saved):
    path = saved(f"city,x\n{MARK},1\nKöln,2\n", encoding="cp1252")
    with pytest.warns(SdcWarning, match="line 3: not UTF-8; the file was read as cp1252") as caught:
        frame = read_file(path)
    assert frame["city"].to_list() == [MARK, "Köln"]
    assert MARK not in str(caught[0].message)


def test_encoding_given_is_taken_without_warning(saved):
    path = saved("city\nKöln\n", encoding="latin-1")
    with warnings.catch_warnings(action="error"):
        assert read_file(path, encoding="latin-1")["city"].to_list() == ["Köln"]
    refused(FileFormatError, "line 2: the bytes are not utf-8 text", path, encoding="utf-8")
    refused(FileFormatError, "no encoding of the name given", path, encoding="klingon")
    refused(FileFormatError, "name the encoding", path, encoding="hex")
    # one that cannot say where it failed, and what can be decoded and still is no text
    refused(FileFormatError, "no encoding of the name given", saved(b"a\n1\nxn--\xc3\n"), encoding="idna")
    refused(FileFormatError, "line 3: the bytes are not utf-7 text", saved("a\n1\n+2AA-\n"), encoding="utf-7")


def test_utf16_without_mark(saved):
    path = saved("a,b\n1,2\n", encoding="utf-16-le")
    refused(FileFormatError, "line 1: holds a NUL byte.*utf-16", path)
    assert read_file(path, encoding="utf-16-le").rows() == [(1, 2)]


def test_decimal_comma(saved):
    frame = read_file(saved("a;w\n1;1,5\n2;2\n"))
    assert frame.rows() == [(1, 1.5), (2, 2.0)]
    assert read_file(saved("a;w\n1;1.5\n2;2\n"))["w"].to_list() == [1.5, 2.0]


def test_decimal_comma_in_tab_files_unless_it_may_mean_thousands(saved):
    assert read_file(saved("a\tw\n1\t1,25\n2\t2,500\n"))["w"].to_list() == [1.25, 2.5]
    with pytest.warns(SdcWarning, match=r"decimal mark ',': 'w'.*--decimal ,"):
        assert read_file(saved("a\tw\n1\t1,250\n2\t2,500\n"))["w"].dtype == pl.String
    assert read_file(saved("a\tw\n1\t1,250\n2\t2,500\n"), decimal=",")["w"].to_list() == [1.25, 2.5]


def test_decimal_given(saved):
    path = saved('a,w\n1,"1,5"\n2,"2"\n')
    with pytest.warns(SdcWarning, match=r"^survey.csv: read as text, .* mark ',': 'w'.*--decimal ,"):
        assert read_file(path)["w"].to_list() == ["1,5", "2"]
    point = saved("a;w\n1;1.5\n2;2\n", name="point.csv")
    with pytest.warns(SdcWarning, match=r"mark '\.': 'w'.*--decimal \."):
        assert read_file(point, decimal=",")["w"].to_list() == ["1.5", "2"]
    assert read_file(path, decimal=",")["w"].to_list() == [1.5, 2.0]
    refused(FileFormatError, "decimal mark must be", path, decimal="'")


@pytest.mark.parametrize(
    "values", [("012 345", "017 111"), ("1.234", "F32.100"), ("1,23,456", "1,234"), ("12.05.2024", "1")]
)
def test_codes_have_no_thousands(saved, values):
    lines = "\n".join(f'{i};"{value}"' for i, value in enumerate(values))
    assert read_file(saved(f"a;w\n{lines}\n"), decimal=".")["w"].to_list() == [*values]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_for_excel_is_no_record(saved, end):
    path = saved(f"sep=;{end}a;b{end}x;1,5{end}y;2,5{end}")
    assert (scan_header(path).columns, scan_header(path).n_rows) == (("a", "b"), 2)
    assert read_file(path).rows() == [("x", 1.5), ("y", 2.5)]
    refused(FileFormatError, "line 4: more fields", saved(f"sep=;{end}a;b{end}1;2{end}1;2;3{end}"))
    assert read_file(saved("sep=size\nx\ny\n")).columns == ["sep=size"]


def test_mixed_decimal_marks_stay_text(saved):
    assert read_file(saved("a;w\n1;1,5\n2;2.5\n"))["w"].to_list() == ["1,5", "2.5"]


@pytest.mark.parametrize("code", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", ".", '""', '"NA"'])
def test_missing_by_default(saved, code):
    path = saved(f"a,b\n1,x\n{code},{code}\n2,None\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_file(path)
    assert frame.rows() == [(1, "x"), (None, None), (2, "None")]
    told = [str(warning.message) for warning in caught]
    bare = code.strip('"')
    wanted = [f"survey.csv: taken for missing: '{bare}' in a (1 record), b (1 record). To choose"] if bare else []
    assert [text.partition(" the codes")[0] for text in told] == wanted


def test_missing_codes_are_counted_over_the_whole_file_and_by_column(saved):
    n = 25_000
    lines = [f"{i % 7},{'NA' if i % 5 == 0 else '.' if i == n - 1 else 'x'}" for i in range(n)]
    path = saved("a,b\n" + "\n".join(lines) + "\n")
    with pytest.warns(SdcWarning, match=r"'NA' in b \(5,000 records\); '\.' in b \(1 record\)"):
        assert read_file(path)["b"].null_count() == 5_001
    assert read_file(path, missing="")["b"].null_count() == 0


def test_a_number_of_nines_is_hinted_at_with_the_codes_to_give(saved):
    path = saved("educ,occ\n" + "1,a\n2,NA\n3,b\n-999,Refused\n" * 5)
    with pytest.warns(SdcWarning) as caught:
        frame = read_file(path)
    assert frame["educ"].to_list()[:4] == [1, 2, 3, -999]
    assert len(caught) == 2
    told = str(caught[1].message)
    assert told.startswith("survey.csv: educ holds -999 in 5 records, occ holds 'Refused' in 5 records. If that")
    assert "--missing=NA --missing=-999 --missing=Refused" in told
    assert read_file(path, missing=["NA", "-999", "Refused"]).null_count().row(0) == (5, 10)


def test_missing_given_replaces_the_default(saved):
    path = saved("a,b,c\n1,NA,x\n-999,-999,-999\n-999.0,99,-999.0\n,,\n")
    frame = read_file(path, missing=["-999"])
    assert frame["a"].to_list() == [1, None, None, None]
    assert frame["b"].to_list() == ["NA", None, "99", None]
    assert frame["c"].to_list() == ["x", None, None, None]
    with pytest.warns(SdcWarning, match=r"b holds -999.*--missing=NA --missing=-999"):
        assert read_file(path, missing="NA")["b"].to_list() == [None, -999, 99, None]


def test_missing_code_by_value(saved):
    frame = read_file(saved("a;b\n1,5;3\n-999,00;-0999\n"), missing=["-999"])
    assert frame["a"].to_list() == [1.5, None]
    assert frame["b"].to_list() == ["3", "-0999"]  # a leading zero makes codes of the whole column


def test_types(saved):
    frame = read_file(
        saved(
            "i,f,zero,long,flag,date,pad,big\n"
            "1,1.5,0012,12345678901234567890,true,2020-01-31, 7,9007199254740993\n"
            "-2,2e3,9000,12345678901234567891,false,2020-02-01,12,1\n"
        )
    )
    assert frame["i"].to_list() == [1, -2]
    assert frame["f"].to_list() == [1.5, 2000.0]
    assert frame["zero"].to_list() == ["0012", "9000"]
    assert frame["long"].dtype == pl.String  # as doubles the two would be one
    assert frame["flag"].to_list() == ["true", "false"]
    assert frame["date"].to_list() == [dt.date(2020, 1, 31), dt.date(2020, 2, 1)]
    assert frame["pad"].to_list() == [7, 12]
    assert frame["big"].to_list() == [9007199254740993, 1]


def test_types_hold_over_the_whole_column(saved):
    n = 10_500
    lines = [f"{i},{i},{i},{i}" for i in range(1, n)] + [f"{n},0{n},{n}.5,x"]
    frame = read_file(saved("a,code,f,t\n" + "\n".join(lines) + "\n"))
    assert frame.height == n
    assert frame["a"].to_list() == list(range(1, n + 1))
    assert frame["code"].to_list()[0] == "1"
    assert frame["code"].to_list()[-1] == f"0{n}"
    assert frame["f"].to_list()[-1] == n + 0.5
    assert frame["t"].to_list()[-1] == "x"


def test_a_column_without_values_is_text(saved):
    assert read_file(saved("a,b\n1,\n2,NA\n"), missing="NA")["b"].dtype == pl.String


def test_quotes(saved):
    frame = read_file(saved('"a\nb",c\n"line 1\nline 2","say ""yes"""\n"x,y",z\n'))
    assert frame.columns == ["a\nb", "c"]
    assert frame.rows() == [("line 1\nline 2", 'say "yes"'), ("x,y", "z")]


def test_quotes_that_enclose_nothing_are_characters(saved):
    assert read_file(saved('size,x\n5" pipe,1\n6" pipe",2\n')).rows() == [('5" pipe', 1), ('6" pipe"', 2)]


def test_blank_lines_are_no_records(saved):
    frame = read_file(saved('\n\na,b\n\n\n1,"x\n\ny"\n\n3,z\n\n\n'))
    assert frame.rows() == [(1, "x\n\ny"), (3, "z")]
    assert read_file(saved("a,b\r\n\r\n1,2\r\n\r\n3,4\r\n\r\n")).rows() == [(1, 2), (3, 4)]


def test_in_one_column_a_blank_line_is_a_missing_value(saved):
    assert read_file(saved("a\n\n1\n\n3\n\n\n"))["a"].to_list() == [None, 1, None, 3]
    assert read_file(saved("a\r\n1\r\n\r\n3"))["a"].to_list() == [1, None, 3]


def test_column_names(saved):
    path = saved(' a b ,x.y,"q,r",,é\n1,2,3,4,5\n')
    assert scan_header(path).columns == ("a b", "x.y", "q,r", "column_4", "é")
    assert read_file(path, columns=["é", "a b"]).rows() == [(5, 1)]


def test_row_order_and_projection(saved):
    n = 30_000
    path = saved("i,secret,j\n" + "".join(f"{i},{MARK},{i % 7}\n" for i in range(n)))
    frame = read_file(path, columns=["j", "i"])
    assert frame.columns == ["j", "i"]
    assert frame["i"].to_list() == list(range(n))


def test_only_the_first_rows(saved):
    path = saved("a\n" + "\n".join(str(i) for i in range(50)) + "\n")
    assert read_file(path, rows=7)["a"].to_list() == list(range(7))
    assert read_file(path, rows=70).height == 50


def test_names_with_pattern_characters_are_plain_names(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    path = folder / "wave[1]*.csv"
    path.write_text("a,b\n1,2\n")
    assert read_file(path).rows() == [(1, 2)]
    assert scan_header(path).n_rows == 1


def test_header(saved):
    header = scan_header(saved("a;b\n1;2\n\n3;4"))
    assert (header.columns, header.n_rows, header.format) == (("a", "b"), 2, "CSV")


# --- what is refused --------------------------------------------------------------------------------


def test_empty(saved):
    refused(FileFormatError, r"is empty \(0 bytes\)", saved(""))
    refused(FileFormatError, "only blank lines", saved("\n \n\n"))


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\r\n\r\n", "a\n\n\n"])
def test_header_only(saved, text):
    refused(DataError, "holds a header but no records", saved(text))


def test_no_header(saved):
    refused(DataError, "does not look like a header", saved("1,2\n3,4\n"))
    refused(DataError, "does not look like a header", saved(f"{MARK},34\nx,51\n"), columns=["sex"])
    with pytest.raises(DataError, match="does not look like a header"):
        scan_header(saved(f"{MARK},34\nx,51\n"))


def test_a_first_line_that_may_be_a_record_is_not_told(saved):
    path = saved(f"{MARK},north\nx,south\n")  # nothing in it says which it is
    refused(ColumnError, "no column 'sex', 'norht'; the names there are not told", path, columns=["sex", "norht"])
    assert not scan_header(path).certain
    path = saved("Sex,region\nx,south\n")
    refused(ColumnError, r"no column 'sex' \(did you mean 'Sex'\?\)", path, columns=["sex", "region"])


def test_the_delimiter_that_fits_is_named(saved):
    for text in (f"a,b,c\n{MARK},2,3\n", f"{MARK},2,3\n4,5,6\n", f'a,b,c\n"{MARK};x",2,3\n'):
        refused(FileFormatError, r"given \(';'\) does not fit; ',' cuts .* as many fields", saved(text), delimiter=";")
    refused(FileFormatError, "'tab' cuts", saved(f"a\tb\n{MARK}\t2\n"), delimiter=",")
    assert read_file(saved("a\n1\n"), delimiter=";")["a"].to_list() == [1]


def test_an_identifier_is_not_read_and_one_that_is_absent_is_warned_of(saved):
    path = saved(f"name,age\n{MARK},1\n")
    assert read_file(path, identifiers=["name"]).columns == ["age"]
    with pytest.warns(SdcWarning, match=r"'nmae' \(did you mean 'name'\?\): listing it protects nothing"):
        read_file(path, columns=["age"], identifiers=["nmae"])


def test_repeated_names(saved):
    path = saved(f"a,b,a,b,a\n{MARK},1,2,3,4\n")
    refused(ColumnError, r"repeated column names.*'a' \(1, 3, 5\), 'b' \(2, 4\)", path)


def test_absent_column(saved):
    path = saved(f"Region,age\n{MARK},1\n")
    refused(ColumnError, r"no column 'region' \(did you mean 'Region'\?\)", path, columns=["region"])
    refused(ColumnError, r"no column 'regoin' \(did you mean 'Region'\?\)", path, columns=["age", "regoin"])
    refused(ColumnError, "no column of survey.csv is asked for", path, columns=[])


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (f"a,b,c\n1,2,3\n{MARK},5\n", 3, "fewer"),
        (f"a,b,c\n1,2,3\n{MARK},5,6,7\n8,9,1\n", 3, "more"),
        (f'a,b,c\n"1\n1",2,3\n\n{MARK},5\n', 5, "fewer"),
        (f"a,b,c\n1,2,3\n{MARK},5", 3, "fewer"),
        (f'a,b,c\n"1",5" x,3\n{MARK},5\n', 3, "fewer"),
        ("a,b\n1,2,3\n4,5,6\n", 2, "more"),
        (f"a,b\n1,2\n   {MARK}\n", 3, "fewer"),
    ],
)
def test_ragged_lines(saved, text, line, found):
    refused(FileFormatError, f"line {line}: {found} fields than the header has", saved(text))


def test_ragged_line_far_down(saved, monkeypatch):
    monkeypatch.setattr("sdckit.data.files.csv_shape._BLOCK", 1000)
    lines = [f"{i},x" for i in range(5000)]
    lines[4321] = f"{MARK}"
    refused(FileFormatError, "line 4323: fewer fields", saved("a,b\n" + "\n".join(lines)))


@pytest.mark.parametrize("text", [f'a,b\n"{MARK},2\n3,4\n', f'a,b\n"x",1\n"{MARK}" y,2\n5" z,{MARK}\n"q",4\n'])
def test_unpaired_quotes(saved, text):
    refused(FileFormatError, r"line|quotes", saved(text))


def test_nul_bytes(saved):
    refused(FileFormatError, "line 3: holds a NUL byte", saved(f"a,b\n1,2\n{MARK},\0\n"))
    refused(FileFormatError, "line 2: holds a NUL byte", saved(b"a,b\n\xe9,\0\n"))


def test_neither_utf8_nor_cp1252(saved):
    path = saved(b"a,b\n" + MARK.encode() + b",\x81\xff\n")
    for encoding, what in ((None, "neither"), ("cp1252", "not cp1252 text;")):
        refused(FileFormatError, f"line 2: the bytes are {what} .*--encoding cp1250", path, encoding=encoding)


@pytest.mark.parametrize(
    ("magic", "found"),
    [(b"PAR1", "Parquet"), (b"ARROW1\0\0", "Arrow"), (b"PK\x03\x04", r"zip \(Excel\)"), (b"\x1f\x8b", "gzip")],
)
def test_content_of_another_format(saved, magic, found):
    refused(FileFormatError, f"called .csv but its content is {found}", saved(magic + MARK.encode()))


def test_every_refusal_is_one_of_ours(saved):
    random.seed(5)
    pieces = ["a", ",", "\n", '"', ";", "\t", "\r", "1.5", "NA", "é", "x" * 50]
    for i in range(150):
        path = saved("".join(random.choice(pieces) for _ in range(40)), name=f"f{i}.csv")
        try:
            frame = read_file(path)
        except SdcError:
            continue
        assert frame.height == scan_header(path).n_rows


# Workbooks: what a sheet holds is read as the same CSV would be.


def write(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        for rows in sheets:
            sheet = book.add_worksheet()
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, dt.datetime):
                        sheet.write_datetime(i, j, value, days)
                    elif value == "#N/A":
                        sheet.write_formula(i, j, "=NA()", None, value)
                    elif isinstance(value, str):
                        sheet.write_string(i, j, value)
                    elif value is not None:
                        sheet.write(i, j, value)
    return path


ROWS = [
    ["sex", "age", "postcode", "share", "born", "answer"],
    ["f", 31, "0012", 1 / 3, dt.datetime(1990, 1, 2), 1.5],
    ["m", None, "9000", 0.1234567890123456, dt.datetime(1985, 3, 4), "refused"],
    ["", 40, "0101", 1e-10, None, 0.1234567890123],
    ["f", "#N/A", "0012", 2, dt.datetime(2000, 12, 31), None],
]


def test_values_as_they_are(tmp_path: Path) -> None:
    with pytest.warns(SdcWarning, match="'refused'"):
        frame = read_file(write(tmp_path / "s.xlsx", ROWS))
    assert frame.schema == {
        "sex": pl.String, "age": pl.Int64, "postcode": pl.String, "share": pl.Float64, "born": pl.Date,
        "answer": pl.String,
    }  # fmt: skip
    assert frame["sex"].to_list() == ["f", "m", None, "f"]
    assert frame["age"].to_list() == [31, None, 40, None]
    assert frame["postcode"].to_list() == ["0012", "9000", "0101", "0012"]
    assert frame["share"].to_list() == [1 / 3, 0.1234567890123456, 1e-10, 2.0]
    assert frame["born"].to_list() == [dt.date(1990, 1, 2), dt.date(1985, 3, 4), None, dt.date(2000, 12, 31)]
    assert frame["answer"].to_list() == ["1.5", "refused", "0.1234567890123", None]


def test_codes_for_missing_leave_numbers(tmp_path: Path) -> None:
    frame = read_file(write(tmp_path / "s.xlsx", ROWS), missing=["refused"])
    assert frame["answer"].to_list() == [1.5, None, 0.1234567890123, None]


def test_as_the_same_csv(tmp_path: Path) -> None:
    rows = [["sex", "n"], ['f, "x"', 1], ["two\nlines", 2], ["m", 3]]
    book = write(tmp_path / "s.xlsx", rows)
    pl.DataFrame(rows[1:], schema=rows[0], orient="row").write_csv(tmp_path / "s.csv")
    assert read_file(book).equals(read_file(tmp_path / "s.csv"))
    header = scan_header(book, delimiter=";")
    assert (header.columns, header.n_rows, header.format) == (("sex", "n"), 3, "Excel")
    assert describe_file(book, decimal=",").frame.equals(read_file(book))
    assert read_file(book, columns=["n"], rows=2)["n"].to_list() == [1, 2]


def test_other_sheets_are_told_and_can_be_chosen(tmp_path: Path) -> None:
    two = write(tmp_path / "two.xlsx", [], [["a", "b"], [1, "x"], [2, "y"]], [["secret", "c"], ["z", 1]])
    with pytest.warns(SdcWarning, match="first sheet, 'Sheet2', is read and not 'Sheet3'") as told:
        frame = read_file(two)
    assert frame.rows() == [(1, "x"), (2, "y")]
    assert "secret" not in str(told[0].message)
    for sheet in ("Sheet3", 3, "3"):
        assert read_file(two, sheet=sheet).rows() == [("z", 1)]
        assert scan_header(two, sheet=sheet).columns == ("secret", "c")
    for sheet, said in (("Sheet9", "'Sheet1', 'Sheet2', 'Sheet3'"), (4, "or give its number"), (1, "holds nothing")):
        with pytest.raises(FileFormatError, match=said) as refused:
            read_file(two, sheet=sheet)
        assert refused.value.argument == "sheet"
    for wrong in (0, 1.5):
        with pytest.raises(DataError, match="sheet"):
            read_file(two, sheet=wrong)  # type: ignore[arg-type]


def test_a_sheet_with_the_name_of_a_number_is_that_sheet(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "years.xlsx") as book:
        for name in ("2", "1"):
            sheet = book.add_worksheet(name)
            for row, cells in enumerate((["in", "n"], [name, 5])):
                sheet.write_row(row, 0, cells)
    assert read_file(tmp_path / "years.xlsx", sheet="2")["in"].to_list() == [2]
    assert read_file(tmp_path / "years.xlsx", sheet=2)["in"].to_list() == [1]


def test_a_title_is_told_and_the_row_of_names_can_be_said(tmp_path: Path) -> None:
    file = write(tmp_path / "title.xlsx", [["Survey of 2020"], [], ["a", "b"], [1.5, "x"], [2, "y"]])
    with pytest.warns(SdcWarning, match="a title or to head several columns, and the one numbered '3' to hold"):
        assert read_file(file).columns[0] == "Survey of 2020"
    assert read_file(file, header_row=3).rows() == [(1.5, "x"), (2.0, "y")]
    assert scan_header(file, header_row=3).n_rows == 2
    for row, said in ((2, "row '2' of the sheet 'Sheet1' holds nothing"), (99, "row '99'"), (0, "whole number of 1")):
        with pytest.raises((FileFormatError, DataError), match=said) as refused:
            read_file(file, header_row=row)
        assert refused.value.argument == "header_row"
    one = write(tmp_path / "one.xlsx", [["a"], [1], [2]])  # one column is no title
    assert read_file(one).rows() == [(1,), (2,)]


def test_the_row_of_names_is_told_below_headings_over_several_columns(tmp_path: Path) -> None:
    """The row of the heads would be taken for the names, and the names for a record."""
    heads, names = ["Patient", None, None, "Stay"], ["number", "born", "sex", "from", "until"]
    records = [["f17", "1950-01-01", "f", "2024-03-01", "2024-03-09"], ["f24", "1971-11-30", None, None, "2024-05-02"]]
    for above, row in (([["Discharges"], heads], 3), ([["2024 discharges"], [], heads], 4), ([heads], 2)):
        file = write(tmp_path / f"{row}.xlsx", [*above, names, *records])
        with pytest.warns(SdcWarning, match=f"head several columns, and the one numbered '{row}' to hold the names"):
            scan_header(file)
        assert list(scan_header(file, header_row=row).columns) == names
    # names of most columns, and records of texts alone
    for rows in ([names, *records], [[*names[:4], None], *records], [["a", "b"], ["x", "y"], ["v", "w"]]):
        assert scan_header(write(tmp_path / "plain.xlsx", rows)).columns[0] == rows[0][0]


def test_sheets_are_of_workbooks_and_of_the_first_file_alone(tmp_path: Path) -> None:
    text = tmp_path / "a.csv"
    text.write_text("hh,n\n1,5\n2,7\n", encoding="utf-8")
    options: list[dict[str, Any]] = [{"sheet": "1"}, {"header_row": 2}]
    for option in options:
        with pytest.raises(DataError, match="is CSV and has no sheets; leave"):
            read_file(text, **option)
    book = write(tmp_path / "b.xlsx", [["no"]], [["title"], ["hh", "x"], [1, "x"], [2, "y"]])
    read = read_file(book, sheet="Sheet2", header_row=2, join=text, join_key="hh")
    assert read.rows() == [(1, "x", 5), (2, "y", 7)]


def test_what_a_csv_is_refused_for(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="repeated"):
        read_file(write(tmp_path / "a.xlsx", [["a", "a"], [1, 2]]))
    with pytest.raises(DataError, match="no records"):
        read_file(write(tmp_path / "b.xlsx", [["a", "b"]]))
    with pytest.raises(DataError, match="does not look like a header"):
        read_file(write(tmp_path / "c.xlsx", [[1, 2], [3, 4]]))
    with pytest.raises(FileFormatError, match="no sheet of it holds"):
        read_file(write(tmp_path / "d.xlsx", []))


def test_what_is_no_workbook(tmp_path: Path) -> None:
    for name, raw in (("junk", b"PK\x03\x04 and no more"), ("locked", b"\xd0\xcf\x11\xe0" + b"\0" * 600)):
        file = tmp_path / f"{name}.xlsx"
        file.write_bytes(raw)
        with pytest.raises(FileFormatError, match="password"):
            read_file(file)
    text = tmp_path / "text.xlsx"
    text.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not Excel"):
        read_file(text)


def test_text(tmp_path: Path) -> None:
    assert sheet_as_csv(write(tmp_path / "s.xlsx", [["a", "b"], [True, 2.5], [False, 3]])) == (
        b"a,b\ntrue,2.5\nfalse,3\n"
    )


# CSV for an engine: the records and types of `read_file`, part by part.


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
    with pytest.raises(sdc.FileFormatError, match=r"c\.csv, line 3: fewer fields than the header has"):
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


def test_the_header_of_a_file_that_was_gone_through_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.csv"
    path.write_text("sex,age\nf,31\nm,40\n", encoding="utf-8")
    monkeypatch.setattr(read_csv, "_SETTLED", -1)
    header = csv_header(path)
    monkeypatch.setattr(read_csv, "open_csv", None)  # the file is not gone through again
    assert csv_header(path) == header
    assert (header.columns, header.n_rows) == (("sex", "age"), 2)
