"""Files that nobody should have to read, made by code: damaged, lying about their kind, enormous, or just odd.

Every one holds `MARK` in its values, which no message may show. A kind says what must come of it: "refused" (one
error that names the file and no value) or "read" (it is a file after all), "either" where the library may decide.
"""

from __future__ import annotations

import datetime
import gzip
import io
import math
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

MARK = "ZQXMARK"
N = 60
ROWS = "".join(f"{i % 5},{MARK}{i % 3},{i % 4 + 1}.5\n" for i in range(N))
TEXT = f"age,name,w\n{ROWS}"
Maker = Callable[[Path], Path]
FILES: dict[str, tuple[str, Maker]] = {}


def _bytes(name: str, ending: str, held: bytes, becomes: str) -> None:
    def make(folder: Path) -> Path:
        (folder / f"f{ending}").write_bytes(held)
        return folder / f"f{ending}"

    FILES[name] = (becomes, make)


def _frame(name: str, columns: dict[str, Any], becomes: str, ending: str = ".parquet") -> None:
    def make(folder: Path) -> Path:
        table = pa.table(columns)
        path = folder / f"f{ending}"
        if ending == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        return path

    FILES[name] = (becomes, make)


def _parquet() -> bytes:
    held = io.BytesIO()
    pl.read_csv(TEXT.encode()).write_parquet(held)
    return held.getvalue()


def _statistics(ending: str) -> bytes:
    import tempfile

    import pyreadstat

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"f{ending}"
        write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
        write(pl.read_csv(TEXT.encode()).to_pandas(), str(path))
        return path.read_bytes()


def _zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("f.csv", TEXT + "0" * 10_000_000)
    return held.getvalue()


UTF8, WHOLE = TEXT.encode(), _parquet()
MARKS = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-32-le": b"\xff\xfe\0\0"}
for what, head in MARKS.items():
    _bytes(f"mark of {what}", ".csv", head + TEXT.encode(what), "either")
_bytes("UTF-16 without a mark", ".csv", TEXT.encode("utf-16-be"), "either")
_bytes("mixed encodings", ".csv", TEXT.replace("name", "größe").encode("latin-1") + "9,größe,1\n".encode(), "either")
_bytes("a NUL in a field", ".csv", UTF8.replace(f"{MARK}1".encode(), f"{MARK}\0".encode(), 1), "either")
_bytes("nothing but NUL", ".csv", b"\0" * 5000, "refused")
_bytes("control characters", ".csv", UTF8.replace(b"0,", b"\x1b[2J,", 3), "either")
_bytes("a row too long", ".csv", UTF8 + f"1,{MARK},1,{MARK}\n".encode(), "refused")
_bytes("a row too short", ".csv", UTF8 + f"{MARK}\n".encode(), "refused")
_bytes("a name twice", ".csv", f"age,age,w\n{ROWS}".encode(), "refused")
_bytes("a quote that never ends", ".csv", UTF8 + f'1,"{MARK},1\n'.encode(), "either")
_bytes("quotes within fields", ".csv", UTF8 + f'1,a"{MARK}"b,1\n'.encode(), "either")
_bytes("a giant field", ".csv", UTF8 + b"1," + MARK.encode() * 300_000 + b",1\n", "either")
_bytes("10,000 columns", ".csv", (",".join(f"c{i}" for i in range(10_000)) + "\n"
       + (",".join(str(i % 7) for i in range(10_000)) + "\n") * 3).encode(), "either")  # fmt: skip
_bytes("no bytes", ".csv", b"", "refused")
_bytes("line ends only", ".csv", b"\n\r\n\n", "refused")
_bytes("a header only", ".csv", b"age,name,w\n", "refused")
_bytes("one record", ".csv", f"age,name,w\n1,{MARK},2\n".encode(), "either")
_bytes("line ends of three kinds", ".csv", UTF8.replace(b"\n", b"\r\n", 9).replace(b"4.5\n", b"4.5\r", 2), "either")
_bytes("no line end at the end", ".csv", UTF8[:-1], "read")
_bytes("a zip called CSV", ".csv", _zip(), "refused")
_bytes("gzip called CSV", ".csv", gzip.compress(UTF8), "refused")
_bytes("Parquet called CSV", ".csv", WHOLE, "refused")
_bytes("CSV called Parquet", ".parquet", UTF8, "refused")
_bytes("CSV called SPSS", ".sav", UTF8, "refused")
_bytes("CSV called Stata", ".dta", UTF8, "refused")
_bytes("CSV called SAS", ".sas7bdat", UTF8, "refused")
_bytes("CSV called Arrow", ".arrow", UTF8, "refused")
_bytes("an ending nobody knows", ".xyz", UTF8, "refused")
_bytes("Excel", ".xlsx", _zip(), "refused")
_bytes("an ending in capitals", ".CSV", UTF8, "read")
for share in (0.02, 0.5, 0.98):
    _bytes(f"{share:.0%} of a Parquet file", ".parquet", WHOLE[: int(len(WHOLE) * share)], "refused")
for ending in (".sav", ".dta"):
    whole = _statistics(ending)
    for share in (0.1, 0.6):
        _bytes(f"{share:.0%} of a {ending} file", ending, whole[: int(len(whole) * share)], "refused")
for at in range(30, len(WHOLE) - 30, len(WHOLE) // 6):
    _bytes(f"Parquet, damaged at byte {at}", ".parquet", WHOLE[:at] + bytes(255 - one for one in WHOLE[at : at + 9])
           + WHOLE[at + 9 :], "either")  # fmt: skip
AGES, NAMES = [i % 5 for i in range(N)], [f"{MARK}{i % 3}" for i in range(N)]
REST: dict[str, Any] = {"name": NAMES, "w": [2.0] * N}
for what, weight in {"negative": -1.0, "none": 0.0, "not a number": math.nan, "infinite": math.inf}.items():
    _frame(f"a weight that is {what}", {"age": AGES, **REST, "w": [weight] + [2.0] * (N - 1)}, "refused")
_frame("weights of text", {"age": AGES, **REST, "w": [MARK] * N}, "refused")
_frame("weights all missing", {"age": AGES, **REST, "w": pa.nulls(N, pa.float64())}, "refused")
_frame("a key all missing", {"age": pa.nulls(N, pa.int64()), **REST}, "refused")
_frame("a key of no type", {"age": pa.nulls(N), **REST}, "refused")
NONE = [("age", pa.int64()), ("name", pa.string()), ("w", pa.float64())]
_frame("no records", {name: pa.array([], kind) for name, kind in NONE}, "refused")
_frame("lists", {"age": [[1, 2]] * N, **REST}, "refused")
_frame("structures", {"age": [{"a": MARK}] * N, **REST}, "refused")
_frame("decimals", {"age": [Decimal(f"{i % 5}.10") for i in range(N)], **REST}, "either")
_frame("bytes", {"age": [MARK.encode()] * 30 + [b"\xff"] * 30, **REST}, "either")
_frame("dates out of range", {"age": pa.array([2**62, -(2**62)] * 30, pa.timestamp("us")), **REST}, "either")
_frame("times of day", {"age": [datetime.time(i % 5) for i in range(N)], **REST}, "either")
_frame("the largest numbers", {"age": pa.array([2**64 - 1, 2**63] * 30, pa.uint64()), **REST}, "either")
_frame("numbers that are none", {"age": [math.nan, math.inf, -math.inf, 1.0] * 15, **REST}, "either")
_frame("a dictionary", {"age": pa.array(NAMES).dictionary_encode(), **REST}, "read", ".arrow")
