"""What memory is free, and what records take of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

MEMORY = Path("/proc/meminfo")
# Measured with one and ten million records, seven keys, a weight and households, and with twenty columns.
PER_VALUE, PER_RECORD = 22, 120
AT_REST = 400_000_000  # the process with its libraries
TEXT, PACKED = 4, 20  # memory a file takes when it is read, in multiples of its size
TEXTS = {".csv", ".tsv", ".txt"}


def free_bytes() -> int | None:
    """Bytes that a process may have, what caches of files hold and would give back included; None where unknown."""
    try:
        match = re.search(r"^MemAvailable:\s*(\d+) kB", MEMORY.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        match = None
    if match is not None:
        return 1024 * int(match[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def bytes_of_records(records: int, columns: int) -> int:
    """What records take while they are assessed, as an order of magnitude.

    >>> bytes_of_records(1_000_000, 20)
    560000000
    """
    return records * (PER_RECORD + PER_VALUE * columns)


def bytes_of_file(path: Path) -> int:
    """What a file takes that is read whole, by its size."""
    return (TEXT if path.suffix.lower() in TEXTS else PACKED) * path.stat().st_size
