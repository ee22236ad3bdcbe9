"""`Spilled`: arrays and tables written to files and memory-mapped, so that the system keeps in memory what fits."""

from __future__ import annotations

import itertools
import os
import pickle
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np

from sdckit.data import pa
from sdckit.data.files.whole_files import reason_of, spill_folder
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Ints, Values

Of = TypeVar("Of")
BLOCK = 1_000_000  # rows that pass by at a time
MOST_WORDS = 2**62  # combinations of codes that whole numbers tell apart
FEW = 2**15  # parts that are numbered in 16 bits, by which rows are put in order fastest
SPREAD = 0x9E3779B97F4A7C15  # odd, with bits that look random: codes times this are dealt out evenly


def dealt(codes: Sequence[AnyInts], n: int, n_parts: int) -> tuple[Ints, Ints]:
    """An order of rows by the part that their codes are dealt to, and where each part begins in it, with the end."""
    word = np.zeros(n, np.uint64)
    for own in codes:
        word = (word ^ own.astype(np.uint64)) * np.uint64(SPREAD)
        word ^= word >> np.uint64(29)
    part = (word % np.uint64(n_parts)).astype(np.int16 if n_parts <= FEW else np.int64)
    return np.argsort(part, kind="stable"), np.append(0, np.cumsum(np.bincount(part, minlength=n_parts)))


class Spilled:
    """A private folder of files, removed with this object, at the latest when the process ends."""

    def __init__(self) -> None:
        kept = ExitStack()
        self._folder = _done(lambda: kept.enter_context(spill_folder()))
        self._number = itertools.count()
        weakref.finalize(self, kept.close)

    def array(self, values: Values) -> Values:
        """An array with the same values, mapped from a file."""
        if len(values) == 0:
            return values  # an empty array cannot be memory-mapped
        place = self._folder / f"{next(self._number)}.npy"
        _written(place, "wb", lambda file: np.save(file, values))
        # Copy-on-write makes the array writeable, so that kernels are not compiled for another type.
        return np.asarray(np.load(place, mmap_mode="c"))

    def columns(self, columns: Mapping[str, Values], known: Mapping[str, Values]) -> dict[str, Values]:
        """The same columns, those that are not among the known ones written to files."""
        there = {id(column) for column in known.values()}
        return {name: column if id(column) in there else self.array(column) for name, column in columns.items()}

    def table(self, table: pa.Table) -> pa.Table:
        """A table with the same values, mapped from a file."""
        place = self._folder / f"{next(self._number)}.arrow"

        def write(file: IO[bytes]) -> None:
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)

        _written(place, "wb", write)
        return pa.ipc.open_file(pa.memory_map(str(place))).read_all()

    def append(self, name: str, values: Values) -> None:
        """Add values to the end of a named file of one type."""
        _written(self._folder / name, "ab", values.tofile)

    def append_parts(self, name: str, values: Values, ends: Ints) -> None:
        """Add values, in the order of parts that end there, to the file of this name of each part."""
        for number, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            if stop > start:
                self.append(f"{number}-{name}", values[start:stop])

    def appended(self, name: str, kind: Any, *, mapped: bool = False) -> Values:
        """All values of a named file, mapped from it or not; none where nothing was added."""
        place = self._folder / name
        if not place.exists() or place.stat().st_size == 0:
            return np.empty(0, kind)
        return np.memmap(place, kind, mode="c") if mapped else np.fromfile(place, kind)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return (self._folder / name).exists()

    def remove(self, name: str) -> None:
        """Remove a named file, if there is one."""
        (self._folder / name).unlink(missing_ok=True)

    def once(self, name: str, make: Callable[[], Of]) -> Of:
        """What was made under this name before, read from its file; else it is made and written."""
        place = self._folder / name
        if place.exists():
            return cast(Of, pickle.loads(place.read_bytes()))
        value = make()
        _written(place, "wb", lambda file: file.write(pickle.dumps(value, protocol=5)))
        return value


def _written(place: Path, mode: str, write: Callable[[IO[bytes]], object]) -> None:
    """Write to a file that its owner alone can read."""

    def done() -> None:
        with open(place, mode, opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            write(file)

    _done(done)


def _done(write: Callable[[], Of]) -> Of:
    try:
        return write()
    except OSError as error:
        reason = reason_of(error)
    raise DataError(
        f"the cells do not fit into memory, and could not be put aside in files: {reason} (TMPDIR names another folder)"
    )
