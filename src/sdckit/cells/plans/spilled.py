"""Arrays and tables put aside in files and mapped back: the system keeps of them in memory what it has room for."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sdckit.data.files.whole_files import reason_of, spill_folder
from sdckit.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


Of = TypeVar("Of")


class Spilled:
    """A folder of files, for the owner alone, that is removed with this object, at the latest when the process ends."""

    def __init__(self) -> None:
        kept = ExitStack()
        self._folder = _written(lambda: kept.enter_context(spill_folder()))
        self._number = itertools.count()
        weakref.finalize(self, kept.close)

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        """An array with the same values, mapped from a file."""
        if len(values) == 0:
            return values  # nothing cannot be mapped
        place = self._folder / f"{next(self._number)}.npy"
        _written(lambda: np.save(place, values))
        # A private map may be written to as memory may, so that kernels take it for no other type.
        return np.asarray(np.load(place, mmap_mode="c"))

    def columns(
        self, columns: Mapping[str, NDArray[Any]], known: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """The same columns, of which those that are not among the known ones are put aside."""
        there = {id(one) for one in known.values()}
        return {name: one if id(one) in there else self.array(one) for name, one in columns.items()}

    def table(self, table: pa.Table) -> pa.Table:
        """A table with the same values, mapped from a file."""
        import pyarrow as pa

        place = self._folder / f"{next(self._number)}.arrow"

        def write() -> None:
            with pa.OSFile(str(place), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)

        _written(write)
        return pa.ipc.open_file(pa.memory_map(str(place))).read_all()


def _written(write: Callable[[], Of]) -> Of:
    try:
        return write()
    except OSError as error:
        reason = reason_of(error)
    raise DataError(
        f"the cells do not fit into memory, and could not be put aside in files: {reason} (TMPDIR names another folder)"
    )
