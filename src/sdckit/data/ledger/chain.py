"""The chain of a ledger: what happened to its releases, each link sealed with all before it, and its head."""

import contextlib
import hmac
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.data.files.whole_files import PRIVATE, reason_of, replacing
from sdckit.data.ledger.digests import WIDTH, Digester
from sdckit.errors import FileFormatError

# A link: a release that was added, went out, or was taken back before it did.


PENDING, RELEASED, WITHDRAWN = "pending", "released", "withdrawn"


@dataclass(frozen=True)
class Head:
    """The end of a chain: how many links it has, and the digest of the last."""

    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.number} {self.digest}"


@dataclass(frozen=True)
class Link:
    """What happened to a release; `fields` are those of its entry where it is a new one, else empty."""

    what: str
    name: str
    digest: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> dict[str, Any]:
        """The link as a table of a TOML file."""
        return {"what": self.what, "name": self.name, **self.fields, "digest": self.digest}


def start(about: str, digester: Digester) -> Head:
    """The head of a chain without links; `about` says which ledger it is of."""
    return Head(0, _digest(digester, about))


def following(head: Head, what: str, name: str, fields: Mapping[str, Any], digester: Digester) -> Link:
    """The link that follows a head."""
    return Link(what, name, _digest(digester, str(head), what, name, fields), fields)


def head_of(first: Head, links: Iterable[Mapping[str, Any]], digester: Digester) -> tuple[Head, tuple[Link, ...]]:
    """Read the links of a chain and give its head.

    Raises FileFormatError: a link does not follow from those before it. KeyError: it lacks an entry.
    """
    head, read = first, []
    for table in links:
        rest = {name: value for name, value in table.items() if name not in ("what", "name", "digest")}
        link = following(head, str(table["what"]), str(table["name"]), rest, digester)
        if not hmac.compare_digest(link.digest.encode(), str(table["digest"]).encode()):
            raise FileFormatError(
                f"entry {head.number + 1} of the ledger does not follow from those before it: it was changed, or one "
                f"was taken out; {RESTORE}"
            )
        read.append(link)
        head = Head(head.number + 1, link.digest)
    return head, tuple(read)


def _digest(digester: Digester, *parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hmac.digest(digester.purpose(b"chain"), text.encode(), "sha256")[:WIDTH].hex()


# The head lies beside the key, where whoever puts back an older copy of the ledger does not write.


RESTORE = "put back the newest copy of the whole folder"
SHORT = 64  # bytes of a head; what is longer is none
HEAD = re.compile(r"(\d{1,9}) ([0-9a-f]{32})")


def head_file(key: Path) -> Path:
    """Where the head of the ledger of a key lies.

    >>> head_file(Path("kept/ledger.key")).name
    'ledger.key.head'
    """
    return key.with_name(f"{key.name}.head")


def read_head(file: Path) -> Head | None:
    """Read a head; None where there is none.

    Raises FileFormatError: it cannot be read, or is none.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(SHORT + 1).decode("ascii")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise FileFormatError(f"cannot read {file.name}, the head of the ledger: {reason_of(error)}") from None
    match = HEAD.fullmatch(text.strip()) if len(text) <= SHORT else None
    if match is None:
        raise FileFormatError(
            f"{file.name} is no head of a ledger; write into it the number and the digest that 'sdckit check' printed "
            "last"
        )
    return Head(int(match[1]), match[2])


def write_head(file: Path, head: Head) -> None:
    """Write a head, whole or not at all."""
    with replacing(file, what=f"{file.name}, the head of the ledger", private=True) as part:
        part.write_text(f"{head}\n", encoding="ascii")


def check_head(name: str, known: Head | None, heads: Sequence[Head]) -> None:
    """Refuse a chain that does not reach as far as its head in the file `name`, or is another one.

    `heads` are those that it had after each link. It may be longer: the process that wrote the last link was stopped
    before it wrote the head.
    """
    if known is None:
        raise FileFormatError(
            f"there is no {name} beside the key, the head of the ledger: without it nobody knows whether this is its "
            "newest copy; move it with the key, or write into it the number and the digest that 'sdckit check' printed "
            "last"
        )
    if known.number >= len(heads):
        raise FileFormatError(
            f"the ledger ends with entry {len(heads) - 1}, and its head beside the key with {known.number}: this is an "
            f"older copy; {RESTORE}"
        )
    if not hmac.compare_digest(heads[known.number].digest, known.digest):
        raise FileFormatError(
            f"entry {known.number} of the ledger is not that of its head beside the key: one of them is of another "
            f"copy; {RESTORE}"
        )


# One process at a time writes. The system lets go of the lock of a process that ends, however it ends.


LOCK = "ledger.lock"
WAIT, AGAIN = 60.0, 0.05  # seconds


@contextlib.contextmanager
def locked(folder: Path, name: str = LOCK) -> Iterator[None]:
    """Hold the lock of the ledger in a folder, a file of a name; waits for another process that holds it.

    Raises FileFormatError: the other one takes too long, or the folder cannot be written to.
    """
    try:
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, PRIVATE)
    except OSError as error:
        raise FileFormatError(f"could not write to the ledger: {reason_of(error)}") from None
    try:
        until = time.monotonic() + WAIT
        while not operating_system.take_lock(handle):
            if time.monotonic() > until:
                raise FileFormatError("another process is writing to this ledger; let it end, and try again")
            time.sleep(AGAIN)
        yield
    finally:
        os.close(handle)
