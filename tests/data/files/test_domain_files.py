"""Files read by a domain: every record by itself, and nothing of a record where only a header is asked for."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.domain import Domain, DomainColumn
from sdckit.data.files import file_limits
from sdckit.data.files.domain_files import DomainFile, draft_domain
from sdckit.errors import ColumnError, FileFormatError, ScenarioError

DOMAIN = Domain((DomainColumn("sex", levels=("f", "m")), DomainColumn("age", "integer", edges=(0, 18, 120))))
FIRST = b"f,3\n"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", []), (b"m,40", [(1, 1)]), (b"m\n", [(1, 3)]), (b"m,40,x,y\n", [(1, 1)]), (b"\xff,4\n", [(2, 0)]),
        (b"\n", []), (b" \n,\n", [(2, 3), (3, 3)]), (b'm,"4"5"\n', [(1, 2)]),
        (b"\r\n\n\r\nm,4\r\n\r\n\r", [(1, 0)]), (b'"a,""b",\n', [(2, 3)]), (b"\0,\0\n", [(2, 2)]),
    ],
)  # fmt: skip
def test_a_line_is_read_as_far_as_it_goes(tmp_path: Path, tail: bytes, expected: list[tuple[int, int]]) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfsex,age\r\n" + FIRST + tail)
    coded = DOMAIN.encode(DomainFile(tmp_path / "a.csv").read(DOMAIN))
    assert [tuple(row) for row in coded.tolist()] == [(0, 0), *expected]


def test_an_encoding_that_cannot_go_on_is_none_and_half_a_pair_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"sex,age\nf,3\nm,+2AA-\n")
    with pytest.raises(FileFormatError, match="there is no encoding 'idna'"):
        DomainFile(tmp_path / "a.csv", encoding="idna").read(DOMAIN)
    assert DOMAIN.encode(DomainFile(tmp_path / "a.csv", encoding="utf-7").read(DOMAIN)).tolist() == [[0, 0], [1, 2]]


def test_how_a_csv_is_written_is_found_in_its_first_line_or_said(tmp_path: Path) -> None:
    domain = Domain((DomainColumn("größe", "decimal", edges=(0, 1.5, 3)),))
    (tmp_path / "a.csv").write_bytes("größe;b\n1,75;a,b,c,d\n".encode("latin-1"))
    file = DomainFile(tmp_path / "a.csv", None, "latin-1", ",")
    assert domain.encode(file.read(domain)).tolist() == [[1]]
    with pytest.raises(ColumnError, match="no column 'größe' in a"):
        DomainFile(tmp_path / "a.csv", ",", "latin-1").read(domain)


def test_a_compressed_file_and_the_column_of_persons(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"who,sex,age\n1,f,3\n1,m,4\n"))
    domain = Domain(DOMAIN.columns, person="who")
    assert domain.encode(DomainFile(tmp_path / "a.csv.gz").read(domain)).tolist() == [[0, 0]]
    assert 'dataset = "a"' in draft_domain(tmp_path / "a.csv.gz")


def test_codes_of_labelled_files_are_their_labels(tmp_path: Path) -> None:
    labels = sdc.FileLabels({"sex": sdc.ColumnLabels("Sex", {"f": 1, "m": 2, "refused": 9}, ((9, 9),))})
    survey = pl.DataFrame({"sex": ["f", "m", "refused"], "age": [3, 40, None]})
    for name in ("a.sav", "a.dta"):
        file = sdc.write_file(survey, tmp_path / name, labels=labels)
        assert DOMAIN.encode(DomainFile(file).read(DOMAIN))[:2].tolist() == [[0, 0], [1, 1]]
    spss = draft_domain(tmp_path / "a.sav", from_codebook=True)
    assert '[columns.sex]\ntype = "text"\nlevels = ["f", "m"]\n' in spss
    assert 'levels = ["f' not in draft_domain(tmp_path / "a.sav")


def test_bytes_that_are_no_letter_need_an_encoding_that_has_all(tmp_path: Path) -> None:
    for name in ("a.sav", "a.dta"):
        file = sdc.write_file(pl.DataFrame({"sex": ["f", "mQQ", "m"], "age": [3, 40, 5]}), tmp_path / name)
        file.write_bytes(file.read_bytes().replace(b"mQQ", b"m\xff\xfe"))
        with pytest.raises(FileFormatError, match="cannot be read as S"):
            DomainFile(file).read(DOMAIN)
        read = DomainFile(file, encoding="latin1").read(DOMAIN)
        assert DOMAIN.encode(read).tolist() == [[0, 0], [2, 1], [1, 0]]


def test_types_are_those_that_the_format_stores(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1], "b": ["x"], "c": [1.5], "d": [True], "e": [date(2020, 1, 1)]})
    expected = {"a": "integer", "b": "text", "c": "decimal", "d": "boolean", "e": "date"}
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    for name in ("a.parquet", "a.arrow"):
        file = DomainFile(tmp_path / name)
        assert file.types == expected
        assert file.read(Domain((DomainColumn("a", "integer", levels=(1,)),))).columns == ["a"]
    assert "2020" not in draft_domain(tmp_path / "a.parquet")


def test_what_is_not_read_by_a_domain_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sex,age\nf,3\n")
    with pytest.raises(ScenarioError, match="has no value labels"):
        draft_domain(tmp_path / "a.csv", from_codebook=True)
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04" + b"\0" * 50)
    with pytest.raises(FileFormatError, match="save it as CSV"):
        DomainFile(tmp_path / "a.xlsx").read(DOMAIN)


@pytest.mark.parametrize(
    "stray", [b'"', b'm,"4\n', b'"x"y"z,3\n', b'"""\n', b'm\r"\r,4', b'"' + b"x" * 140_000, b'\0"\0\n']
)
def test_a_stray_quote_leaves_the_records_before_as_they_are(tmp_path: Path, stray: bytes) -> None:
    domain = Domain((DomainColumn("sex", levels=("f", "a,b", 'q"r', "x\ny")), DOMAIN.columns[1]))
    whole = b'sex,age\nf,3\n"a,b",40\n"q""r",5\n"x\n\ny",3\n\nf,7,8,9\nf\r\n'
    expected = [[0, 0], [1, 1], [2, 0], [3, 0], [0, 0], [0, 3]]
    for tail in (b"", stray):
        (tmp_path / "a.csv").write_bytes(whole + tail)
        assert domain.encode(DomainFile(tmp_path / "a.csv").read(domain))[:6].tolist() == expected


@pytest.mark.parametrize("end", [b"", b'"a"z,9\n', b'\r"a"z,9\r\n'])
def test_a_stray_quote_never_decides_who_is_a_person(tmp_path: Path, end: bytes) -> None:
    domain = Domain((DomainColumn("age", "integer", levels=(1, 2, 3, 4, 5)),), person="id")
    (tmp_path / "a.csv").write_bytes(b'id,age\r\na,1\r\n,2\n"",3\na\rb,4\na b,5\n' + end)
    frame = DomainFile(tmp_path / "a.csv").read(domain)
    assert frame["id"].to_list()[3:5] == ["a\rb", "a b"]
    assert domain.encode(frame)[:3, 0].tolist() == [0, 3, 4]


@pytest.mark.parametrize(
    "text", [b"age\n\n\n4\n\n", b"age\r\n\r\n\r\n4\r\n\r\n", b'age\n""\n\n4\n\n\n', b"age\r\r\r4\r\r"]
)
def test_in_one_column_a_blank_line_is_a_missing_value_wherever_it_stands(tmp_path: Path, text: bytes) -> None:
    domain = Domain(DOMAIN.columns[1:])
    for raw in (text, text.replace(b"4", b"")):  # no record decides whether those before it are some
        (tmp_path / "a.csv").write_bytes(raw)
        codes = domain.encode(DomainFile(tmp_path / "a.csv").read(domain))[:, 0].tolist()
        assert codes[:3] == [3, 3, 0 if raw is text else 3]


def test_lines_may_end_in_a_carriage_return_alone_where_the_header_does(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for tail, expected in ((b"", []), (b"f,3", [[0, 0]]), (b'f,3\r\r"a\rb",4\rm,40\r', [[0, 0], [2, 0], [1, 1]])):
        file.write_bytes(b"sex,age\r" + tail)
        assert DomainFile(file).columns == ["sex", "age"]
        assert DOMAIN.encode(DomainFile(file).read(DOMAIN)).tolist() == expected
    file.write_bytes(b"x" * 200_000 + b"\n1\n")
    with pytest.raises(FileFormatError, match=r"the first line of a\.csv is no header"):
        DomainFile(file).read(DOMAIN)


def test_a_refusal_does_not_tell_how_many_records_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"sex": ["f"] * 4321, "age": [3] * 4321}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(file_limits, "VALUES", (1, 10))
    monkeypatch.setattr(file_limits, "most", lambda *_: 10)
    with pytest.raises(FileFormatError) as caught:
        DomainFile(tmp_path / "a.parquet").read(DOMAIN)
    assert "4" not in str(caught.value)
