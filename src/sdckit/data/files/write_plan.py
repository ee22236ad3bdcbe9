"""Plans out: their engine writes them as Parquet, whole or not at all; nothing of them comes into memory."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sdckit.data.files.whole_files import number_of, replacing, replacing_folder
from sdckit.data.frames import carried_out, on_spark, open_frame
from sdckit.data.outgoing.plan_records import plan_records
from sdckit.errors import FileFormatError

FULL = re.compile(r"No space left on device|disk quota|not enough space", re.IGNORECASE)


@contextmanager
def writing_plan(plan: Any, target: Path, kind: str, *, private: bool = False) -> Iterator[None]:
    """Write a plan beside its place, and move it there when the block has ended well; Spark makes a folder of files.

    Raises
    ------
    FileFormatError
        Another format than Parquet, a folder for one's own eyes, or it cannot be written.
    DataError
        The plan cannot be carried out.
    """
    if kind != "Parquet":
        raise FileFormatError(
            f"{target.name} is {kind}: an engine writes Parquet; let the name end in .parquet"
        )
    frame: Any = open_frame(plan_records(plan))
    native = frame.to_native()
    if on_spark(frame):
        if private:
            raise FileFormatError(
                f"{target.name}: Spark writes a folder, which others may read; leave private= out"
            )
        with replacing_folder(target, what=target.name) as part:
            _run(lambda: native.write.parquet(part.resolve().as_uri()))
            yield
        return
    if target.is_dir():
        raise FileFormatError(
            f"cannot write {target.name}: there is a folder; remove it, or give another name"
        )
    with replacing(target, what=target.name, private=private) as part:
        if frame.implementation.is_polars():
            _run(lambda: native.sink_parquet(part))
        else:
            _run(lambda: native.write_parquet(str(part), use_tmp_file=False))
        yield


def _run(write: Any) -> None:
    """Let an engine write; a full disk is told as such, all else without its words."""
    full = False

    def told() -> None:
        nonlocal full
        try:
            write()
        except Exception as error:
            full = number_of(error) in {errno.ENOSPC, errno.EDQUOT} or FULL.search(str(error)) is not None
            raise

    try:
        carried_out(told)
    except Exception:
        if full:
            raise OSError(errno.ENOSPC, "") from None
        raise
