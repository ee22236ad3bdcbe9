"""A hostile twin of every format that is read, and a process that opens them one after the other.

A twin is damaged (cut off, overwritten, with other sizes in its head), or is whole and asks for more than there is.
`python hostile_files.py FOLDER` opens what lies in a folder and prints what became of it, a line for each file: an
abort of the process ends the lines.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# What the process that opens all of them may take: addresses, of which libraries reserve many, and processor seconds.
MOST_ADDRESSES, MOST_SECONDS = 6 << 30, 300
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = f"""<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"""
RELATIONS = f"""<Relationships xmlns="{PACKAGE}/relationships">{{}}</Relationships>"""
TO = f"""<Relationship Id="{{0}}" Type="{OFFICE}/{{1}}" Target="{{2}}"/>"""
BOOK = f"""<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><sheets>{{}}</sheets></workbook>"""
NAME = """<c r="{0}" t="inlineStr"><is><t>{1}</t></is></c>"""
HEAD = f"""<row r="1">{NAME.format("A1", "sex")}{NAME.format("B1", "age")}</row>"""
BODY = """<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>34</v></c></row>"""
PART = "xl/worksheets/sheet1.xml"


def most_memory() -> int:
    """Megabytes that this process has taken at most; what `getrusage` says counts the process that started it, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)[1]) // 1024


def workbook(
    path: Path, rows: str = HEAD + BODY, *, before: str = "", strings: str = "", sheets: int = 1, times: int = 1,
    places: str = PART,
) -> None:  # fmt: skip
    """Write a workbook by hand; `before`: stands before the sheet, `times`: how often its rows are written."""
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS.format(TO.format("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": BOOK.format("".join(f'<sheet name="s{i}" sheetId="{i}" r:id="r1"/>' for i in range(sheets))),
        "xl/_rels/workbook.xml.rels": RELATIONS.format(
            TO.format("r1", "worksheet", places.removeprefix("xl/"))
            + TO.format("r2", "sharedStrings", "sharedStrings.xml")
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SPREADSHEET}">{strings}</sst>',
    }  # fmt: skip
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for name, text in parts.items():
            book.writestr(name, text)
        with book.open(places, "w") as sheet:
            sheet.write(f'{before}<worksheet xmlns="{SPREADSHEET}"><sheetData>'.encode())
            for _ in range(times):
                sheet.write(rows.encode())
            sheet.write(b"</sheetData></worksheet>")


def _lying(path: Path) -> None:
    """A workbook whose directory says that its sheet is small."""
    workbook(path, "<row>" + "<c/>" * 1000 + "</row>", times=40_000)
    with zipfile.ZipFile(path) as book:
        true = book.getinfo(PART).file_size.to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(true, (1000).to_bytes(4, "little")))


def _text(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _parquet(path: Path) -> None:
    """Some kilobytes that say many million times the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    part = pa.table({"sex": pa.repeat(pa.scalar(True), 10_000_000)})
    with pq.ParquetWriter(
        path, part.schema, compression="zstd", data_page_size=1 << 28, max_rows_per_page=10_000_000
    ) as file:
        for _ in range(8):
            file.write_table(part, row_group_size=10_000_000)


def _gzip(path: Path, size: int) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"sex,age\n")
        for _ in range(size >> 20):
            file.write(b"1,2\n" * (1 << 18))


DIGITS = "9" * 5_000
LARGE = "9" * 400
PROJECT = '{"format": "sdckit-project-1", "name": '
FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
# What must be refused, by the name of the file; those in REFUSED_BY are no data.
REFUSED: dict[str, Callable[[Path], None]] = {
    "far.xlsx": lambda path: workbook(path, HEAD + BODY + FAR),
    "far_macro.xlsm": lambda path: workbook(path, HEAD + BODY + FAR),
    "far_lowercase.xlsx": lambda path: workbook(path, HEAD + BODY + FAR.replace("XFD", "xfd").replace('"', "'")),
    "far_prefixed.xlsx": lambda path: workbook(path, HEAD + BODY + FAR.replace("<c", "<x:c").replace("</c", "</x:c")),
    "far_elsewhere.xlsx": lambda path: workbook(path, HEAD + BODY + FAR, places="xl/media/picture.png"),
    "box.xlsx": lambda path: workbook(
        path, HEAD.replace("B1", "FZ1") + BODY + '<row r="999999"><c r="A999999"/></row>'
    ),
    "without_places.xlsx": lambda path: workbook(path, "<row>" + "<c/>" * 6_000 + "</row>", times=1_000),
    "bomb.xlsx": lambda path: workbook(path, "<row>" + "<c><v>1</v></c>" * 100 + "</row>", times=100_000),
    "lying.xlsx": _lying,
    "doctype.xlsx": lambda path: workbook(path, before='<!DOCTYPE x [<!ENTITY a "b">]>'),
    "named_often.xlsx": lambda path: workbook(
        path, HEAD + '<row><c t="s"><v>0</v></c></row>' * 20_000, strings=f"<si><t>{'x' * 32_000}</t></si>"
    ),
    "strings.xlsx": lambda path: workbook(path, strings="<si/>" * 6_000_000),
    "sheets.xlsx": lambda path: workbook(path, sheets=10_000),
    "bomb.csv.gz": lambda path: _gzip(path, 300 << 20),
    "columns.csv": lambda path: _text(path, "\n".join([",".join(f"c{i}" for i in range(50_000)), "1," * 49_999 + "1"])),
    "nul.csv": lambda path: _text(path, b"sex,age\n1,\x002\n"),
    "quote.csv": lambda path: _text(path, 'sex,age\n"' + "1,2\n" * 100_000),
    "bomb.parquet": _parquet,
    "digits.toml": lambda path: _text(path, f"k = {DIGITS}"),
    "large.toml": lambda path: _text(path, f"[thresholds]\nk = {LARGE}\n"),
    "large.recipe.toml": lambda path: _text(
        path, f'[[steps]]\nmethod = "local_suppression"\nkeys = ["sex"]\nk = {LARGE}\n'
    ),
    "deep.toml": lambda path: _text(path, "k = " + "[" * 100_000),
    "deep_tables.toml": lambda path: _text(path, "[" + ".".join("a" * 5_000) + "]\nk = 1\n"),
    "inline.toml": lambda path: _text(path, "k = " + "{a = " * 900 + "1" + "}" * 900),
    "long.toml": lambda path: _text(path, "k = 1 #" + "x" * (1 << 24)),
    "deep.sdckit": lambda path: _text(path, PROJECT + "[" * 100_000),
    "digits.sdckit": lambda path: _text(path, PROJECT + DIGITS + "}"),
    "deep.log.json": lambda path: _text(path, '{"format": ' + "[" * 100_000),
    "digits.log.json": lambda path: _text(path, f'{{"format": {DIGITS}}}'),
    "deep.key.json": lambda path: _text(path, "[" * 100_000),
    "deep.runs.jsonl": lambda path: _text(path, "[" * 100_000 + "\n"),
    "deep.hierarchy.csv": lambda path: _text(path, "1;" * 100_000 + "1\n2;3\n"),
    "quote.hierarchy.csv": lambda path: _text(path, '1;"2\n' * 1000),
}


def whole_files(folder: Path) -> Iterator[Path]:
    """A small whole file of every data format."""
    import polars as pl
    import pyreadstat

    from sdckit import write_file

    frame = pl.DataFrame({"sex": ["f", "m"] * 30, "age": list(range(60)), "w": [1.5, 2.5] * 30})
    for ending in ("csv", "tsv", "parquet", "arrow", "sav", "zsav", "dta"):
        yield write_file(frame, folder / f"whole.{ending}")
    frame.write_ipc_stream(folder / "stream.arrow", compression="zstd")
    frame.write_ipc(folder / "packed.arrow", compression="lz4")
    frame.write_parquet(folder / "packed.parquet", compression="snappy")
    pyreadstat.write_por(frame, str(folder / "whole.por"))
    pyreadstat.write_xport(frame, str(folder / "whole.xpt"))
    with gzip.open(folder / "whole.csv.gz", "wb") as file:
        file.write(b"sex,age\n1,2\n")
    workbook(folder / "whole.xlsx")
    names = ("stream.arrow", "packed.arrow", "packed.parquet", "whole.por", "whole.xpt", "whole.csv.gz", "whole.xlsx")
    yield from (folder / name for name in names)


def damaged(raw: bytes, rng: random.Random, times: int) -> Iterator[bytes]:
    """Cut off, overwritten with zeros, and with the largest numbers here and there."""
    n = len(raw)
    yield from (raw[: n // 2], raw[: n * 9 // 10], raw[: n // 3] + b"\0" * (n - n // 3))
    for _ in range(times):
        at = rng.randrange(16, max(n - 16, 17))
        mark = rng.choice([b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0\0\0\x40", b"\0" * 4])
        yield raw[:at] + mark + raw[at + len(mark) :]


def write_all(folder: Path, *, seed: int = 0, times: int = 10) -> list[str]:
    """Write the twins; gives the names of those that must be refused."""
    for name, make in REFUSED.items():
        make(folder / name)
    rng, whole = random.Random(seed), folder / "whole"
    whole.mkdir()
    for file in whole_files(whole):
        for i, content in enumerate(damaged(file.read_bytes(), rng, times)):
            ending = file.name.partition(".")[2]
            _text(folder / f"damaged_{file.stem.partition('.')[0]}_{ending.replace('.', '_')}_{i}.{ending}", content)
    _text(folder / "damaged_sas.sas7bdat", b"\0" * 12 + b"\xc2\xea\x81\x60" + bytes(rng.randbytes(5_000)))
    return [*REFUSED]


def _opened(path: Path) -> Any:
    """Open a file by what its name says that it is."""
    from sdckit import Recipe, Scenario, read_file
    from sdckit.cli.attack_files import read_key
    from sdckit.data.files.readers import describe_file
    from sdckit.data.hierarchy import read_hierarchy
    from sdckit.workflow.recipes.explore import _read
    from sdckit.workflow.recipes.recipe_log import RecipeLog
    from sdckit.workflow.sessions.projects import read_project

    readers: dict[str, Callable[[Path], Any]] = {
        "bomb.parquet": read_file,
        ".recipe.toml": Recipe.from_toml, ".toml": Scenario.from_toml, ".sdckit": read_project,
        ".log.json": RecipeLog.read, ".key.json": read_key, ".runs.jsonl": _read, ".hierarchy.csv": read_hierarchy,
    }  # fmt: skip
    return next((read for ending, read in readers.items() if path.name.endswith(ending)), describe_file)(path)


def main(folder: Path) -> None:
    """Open every file, and print its name and what became of it."""
    import resource
    import time
    import warnings

    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    from sdckit import SdcError

    warnings.simplefilter("ignore")
    for path in sorted(folder.iterdir()):
        if not path.is_file():
            continue
        print(f"{path.name}\t", end="", flush=True)  # noqa: T201
        begun = time.process_time()
        try:
            _opened(path)
            outcome = "read"
        except SdcError as error:
            outcome = f"refused: {error}"
        except BaseException as error:  # noqa: BLE001 - whatever else it is, is a fault
            outcome = f"{type(error).__name__}: {error}"
        used = [round(time.process_time() - begun, 2), most_memory()]
        print(json.dumps([outcome.replace("\n", " "), *used]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
