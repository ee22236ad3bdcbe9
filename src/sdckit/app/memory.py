"""Whether a task fits the memory that is free: said before it starts, not by a process that is killed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["free_bytes", "lacking", "needed_bytes"]

GIGA = 2**30
BASE = 200 * 2**20  # the process with its libraries
PER_CELL = 30  # bytes of a value while figures of it are made; a million records of 20 columns took 28
ONE_FILE, TWO_FILES = 1, 2  # how many copies a task holds beside the original
OF_TASKS = {"protecting": TWO_FILES, "releasing": TWO_FILES, "taking_away": TWO_FILES}
TEXT, PACKED = 4, 20  # memory a file takes when it is read, in multiples of its size


def free_bytes(source: Path = Path("/proc/meminfo")) -> int | None:
    """Memory that programs may still take; None where the system does not say."""
    try:
        lines = source.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return int(found) * 1024 if found else None


def needed_bytes(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> int:
    """What a task may take: from records and columns once the file was read, before from its size."""
    if facts and "records" in facts:
        copies = OF_TASKS.get(task.partition(".")[0], ONE_FILE)
        columns = facts["columns"]
        width = columns if isinstance(columns, int) else len(columns)
        return BASE + PER_CELL * copies * int(facts["records"]) * width
    path = Path(str(arguments.get("path") or ""))
    if not path.is_file():
        return 0
    text = path.suffix.lower() in {".csv", ".tsv", ".txt"}
    return BASE + (TEXT if text else PACKED) * path.stat().st_size


def lacking(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> str:
    """The message where a task would not fit; empty where it does, or nobody knows."""
    free = free_bytes()
    needed = needed_bytes(task, arguments, facts)
    if free is None or needed <= free:
        return ""
    return (
        f"this may take {needed / GIGA:.1f} GB of memory and {free / GIGA:.1f} GB are free; "
        "close other programs, leave out columns that are not needed, or use the command line on a larger machine"
    )
