"""The text of a CSV file: its encoding found and checked, before anything is parsed."""

from __future__ import annotations

import codecs
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdckit.data.files.unpacked import unpacked
from sdckit.errors import FileFormatError, SdcWarning

_BLOCK = 1 << 23
_MARKS = (  # the longer first: UTF-32's little-endian mark starts with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HOW = 'name the encoding, such as encoding="cp1252" (on the command line --encoding cp1252)'


@dataclass(frozen=True)
class CsvText:
    """UTF-8 text: the file itself where it is UTF-8 already, else `data`: unpacked, transcoded or made."""

    path: Path
    data: bytes | None = None

    @property
    def source(self) -> Path | bytes:
        """What to hand to the parser."""
        return self.path if self.data is None else self.data

    def blocks(self) -> Iterator[bytes]:
        """Give the bytes from the start, in blocks, without a byte-order mark."""
        found = _blocks(self.path, self.data)
        yield next(found, b"").removeprefix(codecs.BOM_UTF8)
        yield from found

    def lines(self) -> Iterator[str]:
        """Give the lines, ended by line feeds only, for an exact but slow reading."""
        rest = b""
        for block in self.blocks():
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield line.decode("utf-8") + "\n"
        if rest:
            yield rest.decode("utf-8")


def open_text(path: Path, encoding: str | None) -> CsvText:
    """Find the encoding (a byte-order mark, else UTF-8, else cp1252 with a warning) and check it.

    A compressed file is unpacked into memory. Raises `FileFormatError`: it cannot be; or the bytes are not text of
    that encoding, or hold NUL: the message gives the line.
    """
    raw = unpacked(path)
    codec = _codec(path, encoding) or _marked(path, raw)
    if codec == "utf-8" or (codec is None and _is_utf8(path, raw)):
        text = CsvText(path, raw)
        if codec == "utf-8" and not _is_utf8(path, raw):
            raise _undecodable(path, _whole(path, raw), "utf-8")
    else:
        text = CsvText(path, _transcoded(path, _whole(path, raw), codec))
    return _with_line_feeds(text)


def _blocks(path: Path, data: bytes | None) -> Iterator[bytes]:
    """Bytes in memory, or of a file, in blocks."""
    if data is not None:
        for start in range(0, len(data), _BLOCK):
            yield data[start : start + _BLOCK]
        return
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _whole(path: Path, data: bytes | None) -> bytes:
    return path.read_bytes() if data is None else data


def _codec(path: Path, encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # refuses codecs that are not of text
    except (LookupError, ValueError):
        raise FileFormatError(f"{path.name}: there is no encoding of the name given; {_HOW}") from None
    return "utf-8" if name == "utf-8-sig" else name


def _marked(path: Path, data: bytes | None) -> str | None:
    with io.BytesIO(data[:4]) if data is not None else path.open("rb") as file:
        head = file.read(4)
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def _is_utf8(path: Path, data: bytes | None) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(path, data):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _bad_line(raw: bytes, codec: str) -> int | None:
    """Give the first line (from 1) that is not text of the codec."""
    try:
        raw.decode(codec)
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode(codec, "ignore")
        return before.count("\n") + (before.count("\r") if "\n" not in before else 0) + 1
    return None


def _undecodable(path: Path, raw: bytes, codec: str) -> FileFormatError:
    line = _bad_line(raw, codec)
    return FileFormatError(f"{path.name}, line {line}: the bytes are not {codec} text; {_HOW}")


def _transcoded(path: Path, raw: bytes, codec: str | None) -> bytes:
    """Decode the whole text and encode it as UTF-8; without a codec, cp1252 is assumed aloud."""
    chosen = codec or "cp1252"
    if codec is None and b"\0" in raw:
        raise _nul(path, raw)
    try:
        data = raw.decode(chosen).removeprefix("\ufeff").encode("utf-8")
    except UnicodeError:
        if codec is None:
            line = _bad_line(raw, "utf-8")
            raise FileFormatError(
                f"{path.name}, line {line}: the bytes are neither UTF-8 nor cp1252 text; {_HOW}"
            ) from None
        raise _undecodable(path, raw, chosen) from None
    if codec is None:
        warnings.warn(
            f"{path.name}, line {_bad_line(raw, 'utf-8')}: not UTF-8; the file was read as cp1252 "
            "(western Windows). If letters look wrong, " + _HOW,
            SdcWarning,
            stacklevel=2,
        )
    return data


def _nul(path: Path, raw: bytes) -> FileFormatError:
    line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
    return FileFormatError(
        f"{path.name}, line {line}: holds a NUL byte, so it is not plain text; if it is UTF-16, "
        'say so: encoding="utf-16-le" (on the command line --encoding utf-16-le)'
    )


def _with_line_feeds(text: CsvText) -> CsvText:
    """Refuse NUL bytes and empty text; turn the old Macintosh line end into a line feed."""
    feed = returned = filled = False
    for block in text.blocks():
        if b"\0" in block:
            raise _nul(text.path, b"".join(text.blocks()))
        feed = feed or b"\n" in block
        returned = returned or b"\r" in block
        filled = filled or not block.isspace()
    if not filled:
        raise FileFormatError(f"{text.path.name} is empty: it holds only blank lines")
    if returned and not feed:
        return CsvText(text.path, b"".join(text.blocks()).replace(b"\r", b"\n"))
    return text
