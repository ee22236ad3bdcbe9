"""A ledger on disk: `ledger.toml`, and one Parquet file of encrypted digests per release."""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sdckit.data import pa, pq
from sdckit.data.files.whole_files import PRIVATE, reason_of, replacing
from sdckit.data.ledger.digests import WIDTH, Digester, Part, Place, Sketch
from sdckit.data.scenarios.scenario_toml import read_toml, write_toml
from sdckit.errors import DataError, FileFormatError

# The key of a ledger: random, stored elsewhere, readable by its owner only.


BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO
LOST = (
    "the ledger answers nothing without its key, and nobody can make it again: look for a copy, or start a new ledger "
    "and add the earlier files"
)


def make_key(path: Path) -> bytes:
    """Generate a key and write it, readable by its owner only; never overwrites a file.

    Raises FileFormatError: the file exists, or cannot be written.
    """
    key = secrets.token_bytes(BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
    except FileExistsError:
        raise FileFormatError(
            f"{path.name} exists, and may be the key of another ledger; name another file for the key"
        ) from None
    except OSError as error:
        raise FileFormatError(f"could not write the key {path.name}: {reason_of(error)}") from None
    return key


def read_key(path: Path) -> bytes:
    """Read a key.

    Raises FileFormatError: absent or not a key; DataError: readable by others than its owner.
    """
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & OTHERS:
                raise DataError(
                    f"others can read the key {path.name}, and with it the ledger; take their rights away "
                    f"(chmod 600), and if they may have read it start a new ledger"
                )
            text = file.read(4 * BYTES).decode("ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise FileFormatError(f"there is no key {path.name}; {LOST}") from None
    except OSError as error:
        raise FileFormatError(f"cannot read the key {path.name}: {reason_of(error)}") from None
    except DataError:
        raise
    except ValueError:
        raise FileFormatError(f"{path.name} is no key of a ledger; {LOST}") from None
    if len(key) != BYTES:
        raise FileFormatError(f"{path.name} is no key of a ledger; {LOST}")
    return key


SCHEMA, VERSION = "sdckit/ledger", "1"
TOML, LOCK = "ledger.toml", "ledger.lock"
NUMBER = 4  # bytes of a number
ROW = WIDTH + NUMBER
DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
OTHER_KEY = "this is not the key of the ledger {0}, which answers nothing without its own; give the one made with it"


@dataclass(frozen=True)
class LedgerEntry:
    """The public entry of one release in a ledger.

    Attributes
    ----------
    name : str
        As it was added.
    date : str
        As it was given: a year, a month or a day; "" for none.
    people : str
        Label of the population: releases with the same label are taken to be about the same people.
    sets : tuple of tuple of str
        What is counted: the kind, then the columns.
    """

    name: str
    date: str
    people: str
    sets: tuple[Place, ...] = field(repr=False)
    file: str = field(repr=False)
    nonce: str = field(repr=False)
    seal: str = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose combinations are counted."""
        return tuple(dict.fromkeys(name for kind, *names in self.sets if kind == "counts" for name in names))


@dataclass(frozen=True)
class LedgerFile:
    """A ledger opened with its key."""

    folder: Path
    survey: str
    number: str
    entries: tuple[LedgerEntry, ...]
    digester: Digester = field(repr=False)

    def read(self, entry: LedgerEntry) -> Sketch:
        """Read the sketch of one release.

        Raises FileFormatError: its file is gone, damaged, or of another ledger.
        """
        file = self.folder / entry.file
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise FileFormatError(f"the sketch of {entry.name!r} cannot be read: {reason_of(error)}") from None
        if not hmac.compare_digest(_seal(self, entry, raw), entry.seal):
            raise FileFormatError(
                f"the sketch of {entry.name!r} is not what was added: {file.name} or its entry in {TOML} was changed"
            )
        return _unsealed(raw, entry, self.digester)

    def with_entry(self, name: str, sketch: Sketch, *, date: str = "", people: str = "") -> LedgerFile:
        """Add a release; it is listed in `ledger.toml` once its file is complete.

        Raises DataError: the name is taken or empty, or the date invalid; FileFormatError: it cannot be written.
        """
        _check_name(name, date)
        with _locked(self.folder):
            now = open_file(self.folder, self.digester)  # another process may have added one meanwhile
            if any(entry.name == name for entry in now.entries):
                raise DataError(
                    f"the ledger has a release {name!r} already; give another name (what went out stays in it)",
                    argument="name",
                )
            nonce = secrets.token_hex(WIDTH)
            entry = LedgerEntry(name, date, people, tuple(sketch.parts), f"{nonce}.parquet", nonce, "")
            raw = _sealed(sketch, bytes.fromhex(nonce), self.digester)
            entry = replace(entry, seal=_seal(now, entry, raw))
            with replacing(self.folder / entry.file, what="the sketch", private=True) as part:
                part.write_bytes(raw)
            ledger = replace(now, entries=(*now.entries, entry))
            _write(ledger)
        return ledger


def create_file(folder: Path, survey: str, digester: Digester) -> LedgerFile:
    """Create a ledger in a folder, which is created if absent.

    Raises FileFormatError: there is a ledger already, or it cannot be written.
    """
    if (folder / TOML).exists():
        raise FileFormatError(f"{folder.name} holds a ledger already; add to it, or name another folder")
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"could not make the folder {folder.name}: {reason_of(error)}") from None
    ledger = LedgerFile(folder, survey, secrets.token_hex(WIDTH), (), digester)
    _write(ledger)
    return ledger


def open_file(folder: Path, digester: Digester) -> LedgerFile:
    """Open a ledger.

    Raises FileFormatError: there is none; DataError: another key.
    """
    if not (folder / TOML).exists():
        raise FileFormatError(
            f"there is no ledger in {folder.name or folder} (no {TOML}); 'sdckit ledger create' starts one"
        )
    plain = read_toml(folder / TOML, what="ledger")
    if plain.get("schema") != SCHEMA or plain.get("schema_version") != VERSION:
        raise FileFormatError(f"{TOML} in {folder.name} is no ledger that this version reads")
    try:
        survey, number, check = (str(plain[name]) for name in ("survey", "number", "check"))
        entries = tuple(_entry(name, table) for name, table in plain.get("releases", {}).items())
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FileFormatError(f"{TOML} in {folder.name} is damaged: an entry is missing or of another kind") from None
    if not hmac.compare_digest(digester.check(_head(survey, number)), check):
        raise DataError(OTHER_KEY.format(folder.name or folder), argument="key")
    return LedgerFile(folder, survey, number, entries, digester)


def _entry(name: str, plain: Mapping[str, Any]) -> LedgerEntry:
    sets = tuple(tuple(map(str, set_)) for set_ in plain["sets"])
    file, nonce = str(plain["file"]), str(plain["nonce"])
    bytes.fromhex(nonce)
    if file != Path(file).name or any(len(set_) < 2 for set_ in sets):
        raise ValueError
    return LedgerEntry(name, str(plain["date"]), str(plain["people"]), sets, file, nonce, str(plain["seal"]))


def _write(ledger: LedgerFile) -> None:
    head = {
        "schema": SCHEMA, "schema_version": VERSION, "survey": ledger.survey, "number": ledger.number,
        "check": ledger.digester.check(_head(ledger.survey, ledger.number)),
    }  # fmt: skip
    tables = [
        (("releases", entry.name), {
            "date": entry.date, "people": entry.people, "file": entry.file, "nonce": entry.nonce, "seal": entry.seal,
            "sets": entry.sets,
        })
        for entry in ledger.entries
    ]  # fmt: skip
    with replacing(ledger.folder / TOML, what="the ledger", private=True) as part:
        part.write_text(write_toml(head, tables), encoding="utf-8")


def _head(survey: str, number: str) -> str:
    return f"{number}\0{survey}"


def _seal(ledger: LedgerFile, entry: LedgerEntry, raw: bytes) -> str:
    """Authentication tag of the file and its entry in the ledger."""
    about = repr((ledger.number, entry.name, entry.date, entry.people, entry.nonce, entry.sets)).encode()
    return hmac.digest(ledger.digester.purpose(b"seal"), len(about).to_bytes(8) + about + raw, "sha256").hex()


def _sealed(sketch: Sketch, nonce: bytes, digester: Digester) -> bytes:
    """Serialise a sketch to Parquet: the part of each row, and the row encrypted with the keystream."""
    sizes = [len(part.numbers) for part in sketch.parts.values()]
    rows = np.empty((sum(sizes), ROW), np.uint8)
    at = 0
    for part in sketch.parts.values():
        rows[at : at + len(part.numbers), :WIDTH] = part.digests
        numbers = part.numbers.astype("<u4").view(np.uint8).reshape(-1, NUMBER)
        rows[at : at + len(part.numbers), WIDTH:] = numbers
        at += len(part.numbers)
    rows ^= digester.stream(nonce, rows.size).reshape(rows.shape)
    table = pa.table({
        "set": pa.array(np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)),
        "sealed": pa.FixedSizeBinaryArray.from_buffers(pa.binary(ROW), len(rows), [None, pa.py_buffer(rows.tobytes())]),
    })  # fmt: skip
    out = BytesIO()
    pq.write_table(table, out, compression={"set": "zstd", "sealed": "none"}, use_dictionary=["set"])
    return out.getvalue()


def _unsealed(raw: bytes, entry: LedgerEntry, digester: Digester) -> Sketch:
    table = pq.read_table(pa.BufferReader(raw)).combine_chunks()
    sealed, n = table["sealed"].chunk(0) if table.num_rows else None, table.num_rows
    packed = b"" if sealed is None else sealed.buffers()[1].to_pybytes()[: n * ROW]
    rows = np.frombuffer(packed, np.uint8).reshape(n, ROW)
    rows = rows ^ digester.stream(bytes.fromhex(entry.nonce), rows.size).reshape(rows.shape)
    sizes = np.bincount(table["set"].to_numpy(), minlength=len(entry.sets))
    ends = np.cumsum(sizes)
    parts = {}
    for place, end, size in zip(entry.sets, ends, sizes, strict=True):
        own = rows[end - size : end]
        numbers = np.ascontiguousarray(own[:, WIDTH:]).view("<u4").reshape(-1).astype(np.uint32)
        parts[place] = Part(np.ascontiguousarray(own[:, :WIDTH]), numbers)
    return Sketch(parts)


def _check_name(name: str, date: str) -> None:
    if not name.strip():
        raise DataError("name is empty; say what the release is called", argument="name")
    if date and not DAY.fullmatch(date):
        raise DataError("date is a year, a month or a day, as in 2024 or 2024-05-31", argument="date")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the ledger, so that one process at a time adds a release."""
    lock = folder / LOCK
    try:
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
    except FileExistsError:
        raise FileFormatError(
            f"somebody is adding to this ledger; if nobody is, one was stopped: remove {LOCK} and add again"
        ) from None
    except OSError as error:
        raise FileFormatError(f"could not write to the ledger: {reason_of(error)}") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
