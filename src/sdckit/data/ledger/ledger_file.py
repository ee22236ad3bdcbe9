"""A ledger on disk: `ledger.toml` with its chain, and one Parquet file of encrypted digests per release."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sdckit import operating_system
from sdckit.data import pa, pq
from sdckit.data.files.whole_files import PRIVATE, reason_of, replacing
from sdckit.data.ledger import chain
from sdckit.data.ledger.digests import WIDTH, Digester, Part, Place, Sketch
from sdckit.data.memory import free_bytes
from sdckit.data.scenarios.scenario_toml import read_toml, write_toml
from sdckit.errors import DataError, FileFormatError, SdcError

# The key of a ledger: random, stored elsewhere, readable by its owner only.


BYTES = 32
LOST = (
    "the ledger answers nothing without its key, and nobody can make it again: look for a copy, or start a new ledger "
    "(sdckit ledger create) and add the earlier files"
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
        operating_system.to_disk(path)
        operating_system.names_to_disk(path.parent)
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
            if not operating_system.is_private(os.fstat(file.fileno())):
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


SCHEMA, VERSION, OLDER = "sdckit/ledger", "2", "1"
TOML = "ledger.toml"
NUMBER = 4  # bytes of a number
ROW = WIDTH + NUMBER
LARGEST, TIMES = 1 << 32, 3  # bytes of a sketch, 200 million combinations, and memory it takes in multiples of them
DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
SKETCH = re.compile(r"[0-9a-f]{32}\.parquet")
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
    released : str
        Keyed digest of the file that goes out; "" where it was not given.
    pending : bool
        Whether it has not gone out yet: written by `protect`, and not passed by `check`.
    """

    name: str
    date: str
    people: str
    sets: tuple[Place, ...] = field(repr=False)
    file: str = field(repr=False)
    nonce: str = field(repr=False)
    seal: str = field(repr=False)
    released: str = field(default="", repr=False)
    pending: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose combinations are counted."""
        return tuple(dict.fromkeys(name for kind, *names in self.sets if kind == "counts" for name in names))

    @property
    def stored(self) -> dict[str, Any]:
        """The fields that the link which adds the entry has."""
        return {own.name: getattr(self, own.name) for own in fields(self) if own.name not in ("name", "pending")}


@dataclass(frozen=True)
class LedgerFile:
    """A ledger opened with its key; its head is the end of its chain."""

    folder: Path
    survey: str
    number: str
    links: tuple[chain.Link, ...]
    head: chain.Head
    digester: Digester = field(repr=False)
    head_file: Path = field(repr=False)

    @cached_property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The releases that went out or are pending, in the order they were added."""
        entries: dict[str, LedgerEntry] = {}
        for link in self.links:
            if link.what == chain.WITHDRAWN:
                del entries[link.name]
            elif link.fields:
                entries[link.name] = _entry(link)
            else:
                entries[link.name] = replace(entries[link.name], pending=False)
        return tuple(entries.values())

    def entry(self, name: str) -> LedgerEntry:
        """An entry by name.

        Raises DataError: there is none.
        """
        entries = {entry.name: entry for entry in self.entries}
        if name not in entries:
            raise DataError(f"the ledger has no release {name!r}; 'sdckit ledger list' shows them", argument="name")
        return entries[name]

    def check_free(self, name: str, *, again: bool) -> bool:
        """Whether there is a pending entry of this name, which may be replaced `again`.

        Raises DataError: the name is taken.
        """
        known = next((entry for entry in self.entries if entry.name == name), None)
        if known is not None and not (again and known.pending):
            still = "is pending: 'sdckit ledger withdraw' removes it" if known.pending else "went out and stays in it"
            raise DataError(
                f"the ledger has a release {name!r} already, which {still}; give another name", argument="name"
            )
        return known is not None

    def read(self, entry: LedgerEntry) -> Sketch:
        """Read the sketch of one release.

        Raises FileFormatError: its file is gone, damaged, or of another ledger.
        """
        file = self.folder / entry.file
        try:
            with file.open("rb") as opened:
                size, free = os.fstat(opened.fileno()).st_size, free_bytes()
                if size > LARGEST or (free is not None and TIMES * size > free):
                    raise FileFormatError(
                        f"the sketch of {entry.name!r} is not read: {file.name} is larger than fits into memory, or "
                        "than any sketch is"
                    )
                raw = opened.read(size)
        except OSError as error:
            raise FileFormatError(f"the sketch of {entry.name!r} cannot be read: {reason_of(error)}") from None
        if not hmac.compare_digest(_seal(self.number, entry, raw, self.digester), entry.seal):
            raise FileFormatError(
                f"the sketch of {entry.name!r} is not what was added: {file.name} or its entry in {TOML} was changed"
            )
        return _unsealed(raw, entry, self.digester)

    def with_entry(
        self, name: str, sketch: Sketch, *, date: str = "", people: str = "", released: str = "",
        pending: bool = False, again: bool = False,
    ) -> LedgerFile:  # fmt: skip
        """Add a release: its sketch as a file, and its entry; `again` replaces a pending one of the same name.

        Raises DataError: the name is taken, or no name; FileFormatError: the ledger cannot be written.
        """
        _check_name(name, date)
        with chain.locked(self.folder):
            now = self._now()  # another process may have added one meanwhile
            known = now.check_free(name, again=again)
            nonce = secrets.token_hex(WIDTH)
            entry = LedgerEntry(name, date, people, tuple(sketch.parts), f"{nonce}.parquet", nonce, "", released)
            raw = _sealed(sketch, bytes.fromhex(nonce), self.digester)
            entry = replace(entry, seal=_seal(now.number, entry, raw, self.digester))
            with replacing(self.folder / entry.file, what="the sketch", private=True) as part:
                part.write_bytes(raw)
            if known:
                now = now._followed(chain.WITHDRAWN, name)
            return now._followed(chain.PENDING if pending else chain.RELEASED, name, entry.stored)._written()

    def with_released(self, name: str) -> LedgerFile:
        """Say of a pending release that it goes out; nothing is to do where it did.

        Raises DataError: there is no such entry, or the ledger has entries that this one, when it was opened, had not.
        """
        with chain.locked(self.folder):
            now = self._now()
            if not now.entry(name).pending:
                return now
            known = {entry.seal for entry in self.entries}
            if later := [entry.name for entry in now.entries if entry.seal not in known]:
                raise DataError(
                    f"the ledger got {', '.join(later)} meanwhile, which {name!r} was not held against; check again"
                )
            return now._followed(chain.RELEASED, name)._written()

    def without_pending(self, name: str) -> LedgerFile:
        """Take back a release that did not go out.

        Raises DataError: there is no such entry, or it went out.
        """
        with chain.locked(self.folder):
            now = self._now()
            if not now.entry(name).pending:
                raise DataError(f"{name!r} went out; what went out stays in the ledger", argument="name")
            return now._followed(chain.WITHDRAWN, name)._written()

    def _now(self) -> LedgerFile:
        return open_file(self.folder, self.digester, self.head_file)

    def _followed(self, what: str, name: str, entry: Mapping[str, Any] | None = None) -> LedgerFile:
        link = chain.following(self.head, what, name, entry or {}, self.digester)
        return replace(self, links=(*self.links, link), head=chain.Head(self.head.number + 1, link.digest))

    def _written(self) -> LedgerFile:
        """Write the entries, then the head; whatever ends the program between, no entry is lost, and none is half."""
        head = {
            "schema": SCHEMA, "schema_version": VERSION, "survey": self.survey, "number": self.number,
            "check": self.digester.check(_about(self.survey, self.number)),
        }  # fmt: skip
        links = "".join(f"\n[[chain]]\n{write_toml(link.plain, ())}" for link in self.links)
        with replacing(self.folder / TOML, what="the ledger", private=True) as part:
            part.write_text(write_toml(head, ()) + links, encoding="utf-8")
        chain.write_head(self.head_file, self.head)
        kept = {entry.file for entry in self.entries}
        for file in self.folder.iterdir():  # of entries that were taken back, or never came to be
            if SKETCH.fullmatch(file.name) and file.name not in kept:
                file.unlink(missing_ok=True)
        return self


def digest_of_file(file: Path, digester: Digester) -> str:
    """Keyed digest of the bytes of a file."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(
                opened, lambda: hmac.new(digester.purpose(b"file"), digestmod="sha256")
            ).hexdigest()
    except OSError as error:
        raise FileFormatError(f"cannot read {file.name}: {reason_of(error)}") from None


def create_file(folder: Path, survey: str, digester: Digester, head: Path) -> LedgerFile:
    """Create a ledger in a folder, which is created if absent; `head` is the file of its head.

    Raises FileFormatError: there is a ledger already, or it cannot be written.
    """
    if (folder / TOML).exists():
        raise FileFormatError(f"{folder.name} holds a ledger already; add to it, or name another folder")
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=True)
        operating_system.names_to_disk(folder.parent)
    except OSError as error:
        raise FileFormatError(f"could not make the folder {folder.name}: {reason_of(error)}") from None
    if any(SKETCH.fullmatch(file.name) for file in folder.iterdir()):
        raise FileFormatError(
            f"{folder.name} holds sketches of a ledger, but no {TOML}: {chain.RESTORE}, or name another"
        )
    number = secrets.token_hex(WIDTH)
    first = chain.start(_about(survey, number), digester)
    chain.write_head(head, first)
    return LedgerFile(folder, survey, number, (), first, digester, head)._written()


def open_file(folder: Path, digester: Digester, head: Path) -> LedgerFile:
    """Open a ledger, whose chain is whole and reaches its head.

    Raises FileFormatError: there is none, an older copy, or one that was changed; DataError: another key.
    """
    known = chain.read_head(head)  # first: meanwhile another process may add an entry, and move the head
    plain, survey, number = _read(folder, digester)
    if plain["schema_version"] == OLDER:
        raise FileFormatError(
            f"the ledger in {folder.name} was made before ledgers had a chain; look at it, and seal it once: "
            "'sdckit ledger upgrade'"
        )
    first = chain.start(_about(survey, number), digester)
    with _undamaged(folder):
        end, links = chain.head_of(first, plain.get("chain", ()), digester)
        chain.check_head(head.name, known, [first, *(chain.Head(i, link.digest) for i, link in enumerate(links, 1))])
        ledger = LedgerFile(folder, survey, number, links, end, digester, head)
        _ = ledger.entries
    return ledger


def upgrade_file(folder: Path, digester: Digester, head: Path) -> LedgerFile:
    """Seal the entries of a ledger made before ledgers had a chain.

    Raises FileFormatError: it has one, or its key had one before; a sketch is gone or was changed. DataError: another
    key.
    """
    _read(folder, digester)  # whether there is one: a folder that is not there has no lock
    with chain.locked(folder):
        plain, survey, number = _read(folder, digester)
        if plain["schema_version"] != OLDER:
            raise FileFormatError(f"the ledger in {folder.name} has a chain already: there is nothing to upgrade")
        ledger = LedgerFile(folder, survey, number, (), chain.start(_about(survey, number), digester), digester, head)
        with _undamaged(folder):
            for name, table in plain.get("releases", {}).items():
                entry = _entry(chain.Link(chain.RELEASED, name, "", table))
                ledger.read(entry)
                ledger = ledger._followed(chain.RELEASED, name, entry.stored)
        if chain.read_head(head) not in (None, ledger.head):
            raise FileFormatError(
                f"{head.name} beside the key is the head of other entries: this ledger was upgraded before, and "
                f"{folder.name} is an older copy; {chain.RESTORE}"
            )
        chain.write_head(head, ledger.head)  # first: killed after it, the same is done once more
        return ledger._written()


def _read(folder: Path, digester: Digester) -> tuple[dict[str, Any], str, str]:
    """The plain ledger with its survey and number, under its key."""
    if not (folder / TOML).exists():
        raise FileFormatError(
            f"there is no ledger in {folder.name or folder} (no {TOML}); 'sdckit ledger create' starts one"
        )
    plain = read_toml(folder / TOML, what="ledger")
    if plain.get("schema") != SCHEMA or plain.get("schema_version") not in (OLDER, VERSION):
        raise FileFormatError(f"{TOML} in {folder.name} is no ledger that this version reads")
    with _undamaged(folder):
        survey, number, check = (str(plain[name]) for name in ("survey", "number", "check"))
    if not hmac.compare_digest(digester.check(_about(survey, number)).encode(), check.encode()):
        raise DataError(OTHER_KEY.format(folder.name or folder), argument="key")
    return plain, survey, number


@contextlib.contextmanager
def _undamaged(folder: Path) -> Iterator[None]:
    """Refuse a ledger with an entry that is missing or of another kind."""
    try:
        yield
    except SdcError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FileFormatError(f"{TOML} in {folder.name} is damaged: an entry is missing or of another kind") from None


def _entry(link: chain.Link) -> LedgerEntry:
    entry = LedgerEntry(
        link.name, pending=link.what == chain.PENDING, **{name: _frozen(value) for name, value in link.fields.items()}
    )
    bytes.fromhex(entry.nonce)
    if entry.file != Path(entry.file).name or any(len(place) < 2 for place in entry.sets):
        raise ValueError
    return entry


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _about(survey: str, number: str) -> str:
    return f"{number}\0{survey}"


def _seal(number: str, entry: LedgerEntry, raw: bytes, digester: Digester) -> str:
    """Authentication tag of the file and its entry in the ledger of a number."""
    about = repr((number, entry.name, entry.date, entry.people, entry.nonce, entry.sets)).encode()
    return hmac.digest(digester.purpose(b"seal"), len(about).to_bytes(8) + about + raw, "sha256").hex()


def _sealed(sketch: Sketch, nonce: bytes, digester: Digester) -> bytes:
    """Serialise a sketch to Parquet: the part of each row, and the row encrypted with the keystream."""
    sizes = [len(part.numbers) for part in sketch.parts.values()]
    rows = np.empty((sum(sizes), ROW), np.uint8)
    at = 0
    for part in sketch.parts.values():
        rows[at : at + len(part.numbers), :WIDTH] = part.digests
        rows[at : at + len(part.numbers), WIDTH:] = part.numbers.astype("<u4").view(np.uint8).reshape(-1, NUMBER)
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
