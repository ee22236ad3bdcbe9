"""CSV: what is detected, what is refused, and that no message holds a record's value."""

from __future__ import annotations

import datetime as dt
import random
import warnings

import polars as pl
import pytest

from sdckit.data.files.readers import read_file, scan_header
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
    frame = read_file(saved('a;b\n"x, y, z";1\n"p, q";2\n'))
    assert frame.rows() == [("x, y, z", 1), ("p, q", 2)]


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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_file(path, encoding="latin-1")["city"].to_list() == ["Köln"]
    refused(FileFormatError, "line 2: the bytes are not utf-8 text", path, encoding="utf-8")
    refused(FileFormatError, "no encoding of the name given", path, encoding="klingon")
    refused(FileFormatError, "name the encoding", path, encoding="hex")


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
    wanted = (
        [f"survey.csv: taken for missing: '{bare}' in a (1 record), b (1 record). To choose"] if bare else []
    )
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
    assert told.startswith(
        "survey.csv: educ holds -999 in 5 records, occ holds 'Refused' in 5 records. If that"
    )
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
    refused(
        ColumnError, "no column 'sex', 'norht'; the names there are not told", path, columns=["sex", "norht"]
    )
    assert not scan_header(path).certain
    path = saved("Sex,region\nx,south\n")
    refused(ColumnError, r"no column 'sex' \(did you mean 'Sex'\?\)", path, columns=["sex", "region"])


def test_the_delimiter_that_fits_is_named(saved):
    for text in (f"a,b,c\n{MARK},2,3\n", f"{MARK},2,3\n4,5,6\n", f'a,b,c\n"{MARK};x",2,3\n'):
        refused(
            FileFormatError, r"given \(';'\) does not fit; ',' cuts .* 3 fields", saved(text), delimiter=";"
        )
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
        (f"a,b,c\n1,2,3\n{MARK},5\n", 3, 2),
        (f"a,b,c\n1,2,3\n{MARK},5,6,7\n8,9,1\n", 3, 4),
        (f'a,b,c\n"1\n1",2,3\n\n{MARK},5\n', 5, 2),
        (f"a,b,c\n1,2,3\n{MARK},5", 3, 2),
        (f'a,b,c\n"1",5" x,3\n{MARK},5\n', 3, 2),
        ("a,b\n1,2,3\n4,5,6\n", 2, 3),
        (f"a,b\n1,2\n   {MARK}\n", 3, 1),
    ],
)
def test_ragged_lines(saved, text, line, found):
    refused(FileFormatError, f"line {line}: {found} fields where the header has", saved(text))


def test_ragged_line_far_down(saved, monkeypatch):
    monkeypatch.setattr("sdckit.data.files.csv_text._BLOCK", 1000)
    lines = [f"{i},x" for i in range(5000)]
    lines[4321] = f"{MARK}"
    refused(FileFormatError, "line 4323: 1 field", saved("a,b\n" + "\n".join(lines)))


@pytest.mark.parametrize(
    "text", [f'a,b\n"{MARK},2\n3,4\n', f'a,b\n"x",1\n"{MARK}" y,2\n5" z,{MARK}\n"q",4\n']
)
def test_unpaired_quotes(saved, text):
    refused(FileFormatError, r"line|quotes", saved(text))


def test_nul_bytes(saved):
    refused(FileFormatError, "line 3: holds a NUL byte", saved(f"a,b\n1,2\n{MARK},\0\n"))
    refused(FileFormatError, "line 2: holds a NUL byte", saved(b"a,b\n\xe9,\0\n"))


def test_neither_utf8_nor_cp1252(saved):
    refused(
        FileFormatError, "line 2: the bytes are neither", saved(b"a,b\n" + MARK.encode() + b",\x81\xff\n")
    )


@pytest.mark.parametrize(
    ("magic", "found"),
    [(b"PAR1", "Parquet"), (b"ARROW1\0\0", "Arrow"), (b"PK\x03\x04", "zip or Excel"), (b"\x1f\x8b", "gzip")],
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
