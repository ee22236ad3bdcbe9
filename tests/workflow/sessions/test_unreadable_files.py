"""What page File says of a file that cannot be read, or can be read in another way: in its words, and in German."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from app.browsing import ENGLISH
from sdckit.report.wording import say
from sdckit.workflow.sessions.answering import Desk, answer

OF_PYTHON = re.compile(r"\b[a-z_]+=|--[a-z]|\b(True|None)\b|sdckit\.")
N = 120


def people(n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame({"id": np.arange(n), "age": rng.integers(20, 70, n), "job": rng.choice(["cook", "smith"], n)})


def workbook(path: Path, *sheets: list[list[Any]]) -> None:
    with xlsxwriter.Workbook(path) as book:
        for number, rows in enumerate(sheets, 1):
            sheet = book.add_worksheet(f"Part {number}")
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)


def whole(folder: Path) -> dict[str, bytes]:
    """Whole files of the formats by their ending."""
    data = people()
    data.write_csv(folder / "a.csv")
    data.write_parquet(folder / "a.parquet")
    data.write_ipc(folder / "a.arrow")
    workbook(folder / "a.xlsx", [data.columns, *map(list, data.rows())])
    for ending, write in (("sav", "sav"), ("dta", "dta"), ("por", "por"), ("xpt", "xport")):
        getattr(pyreadstat, f"write_{write}")(data.to_pandas(), str(folder / f"a.{ending}"))
    (folder / "a.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    return {path.name.removeprefix("a"): path.read_bytes() for path in sorted(folder.glob("a.*"))}


def damaged(folder: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Name, bytes and reading of files that are wrong in some way."""
    files = whole(folder)
    for ending, data in files.items():
        yield f"b{ending}", data[: len(data) // 3], {}
        yield f"b{ending}", b"", {}
        yield f"b{ending}", data[: len(data) // 2] + b"\xff\0\x03" * 50 + data[len(data) // 2 + 150 :], {}
        yield f"b{ending}", b"PK\x03\x04" + data[4:], {}
        yield f"b{ending}", data, {"encoding": "klingon"}
        yield f"b{ending}", data, {"sheet": "Elsewhere"}
        yield f"b{ending}", data, {"header_row": 999}
        yield f"b{ending}", data, {"delimiter": "|", "decimal": ","}
        yield f"b{ending}", data, {"join": str(folder / "homes.csv"), "join_key": "home"}
        yield f"b{ending}", data, {"join": str(folder / "homes.csv"), "join_key": "id"}
    for text in (
        "a,b\n1,2,3\n",
        "a,b,c\n1,2\n",
        'a,b\n"1,2\n3,4\n',
        "\n\n",
        "a,a\n1,2\n",
        "a,b\n",
        ",b\n1,2\n",
        "1,2\n3,4\n",
        "1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n",
        "f,NA,north\nm,1,south\n",
        "NA,n/a\nm,x\n",
        "f,x\nf,x\nm,y\n",
        "a,a,b\nc,d,e\n",
        ",,\n1,2,3\n",
        'a,b\n"x",1\n"s" y,2\n5" z,3\n"q",4\n',
    ):
        yield "b.csv", text.encode(), {}
    lines = "\n".join(f"{at};1,{at % 10};Jos\xe9" for at in range(N))
    yield "b.csv", f"id;amount;name\n{lines}\n".encode("cp1252"), {}
    yield "b.csv", f"id;amount;name\n{lines}\n".encode("cp1252"), {"encoding": "utf-8"}
    yield "b.csv", f"id;amount;name\n{lines}\n".encode(), {"delimiter": ","}
    yield "b.csv", f"id;amount;name\n{lines}\n".encode(), {"decimal": "."}
    wide = "\n".join(";".join(f"{at},{column}" for column in range(9)) for at in range(N))
    yield "b.csv", f"{';'.join('abcdefghi')}\n{wide}\n".encode(), {"decimal": "."}
    yield "b.csv", f"id;amount;name\n{lines}\n".encode("utf-16-le"), {}
    yield "b.csv", files[".sav"], {}
    yield "b.pdf", b"%PDF-1.4", {}
    yield "b.zip", files[".xlsx"], {}


def said(folder: Path, path: Path, reading: dict[str, Any], language: str) -> Iterator[str]:
    """The refusal of a file, or the warnings of what was read."""
    sent: list[dict[str, Any]] = []
    given = {"path": str(path), "reading": reading, "language": language}
    answer(Desk(folder), {"task": "opening.open_file", "arguments": given, "file": {}}, sent.append)
    last = sent[-1]
    if "error" in last:
        yield last["error"]
    else:
        yield from re.findall(r'<p class="warning">(.*?)</p>', last["result"]["html"])
        yield from last["result"]["notes"]


def english(text: str) -> set[str]:
    """English words of a German text; what stands in quotes are names."""
    return set(re.findall(r"\w+", re.sub(r"'[^']*'|\S*[(=]\S*|\b\S+\.\w{2,7}\b", "", text))) & {*ENGLISH}


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said, in English and German."""
    folder = tmp_path_factory.mktemp("files")
    pl.DataFrame({"id": np.arange(N + 3), "area": ["A"] * (N + 3)}).write_csv(folder / "homes.csv")
    texts: dict[str, str] = {}
    for name, data, reading in damaged(folder):
        path = folder / "session" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        here = [list(said(folder, path, reading, language)) for language in ("en", "de")]
        texts |= {text: say(german, "de") for text, german in zip(*here, strict=True)}
    assert len(texts) > 40
    return texts


def test_no_refusal_of_a_file_speaks_python(every: dict[str, str]) -> None:
    assert [text for text in every if OF_PYTHON.search(text)] == []


def test_every_refusal_of_a_file_is_in_german(every: dict[str, str]) -> None:
    assert {text: german for text, german in every.items() if english(german)} == {}


def test_which_line_is_wrong_is_shown_with_exact_figures(tmp_path: Path, every: dict[str, str]) -> None:
    texts = [text for text in every if "lines not shown" in text and not text.startswith("Warning")]
    assert texts
    assert all("Switch to “Exact figures”" in text for text in texts)
    assert not [text for text in every if "<5 fields" in text]


def test_a_small_sheet_names_the_others(tmp_path: Path) -> None:
    """The first sheet says what the workbook is; its figures are too few to be shown, its warning is not."""
    data = people()
    path = tmp_path / "a.xlsx"
    workbook(path, [["Survey"], ["of 2024"]], [data.columns, *map(list, data.rows())])
    (text,) = [text for text in said(tmp_path, path, {}, "en") if "Part 2" in text]
    assert "name another by “Sheet of an Excel file: its name or number”" in text
    (small,) = [text for text in said(tmp_path, path, {}, "en") if "fewer than 50 records" in text]
    assert not OF_PYTHON.search(small)
