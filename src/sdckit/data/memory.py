"""Free memory, and estimates of the memory that records take."""

from __future__ import annotations

from pathlib import Path

from sdckit import operating_system

# Measured with one and ten million records, seven keys, a weight and households, and with twenty columns.
PER_VALUE, PER_RECORD = 22, 120
AT_REST = 400_000_000  # the idle process with its libraries
TEXT, PACKED = 4, 20  # memory that reading a file takes, in multiples of its size
TEXTS = {".csv", ".tsv", ".txt"}


def free_bytes() -> int | None:
    """Bytes of available memory, reclaimable file caches included; None if unknown."""
    return operating_system.free_memory()


def bytes_of_records(records: int, columns: int) -> int:
    """Memory that records take during an assessment, as an order of magnitude.

    >>> bytes_of_records(1_000_000, 20)
    560000000
    """
    return records * (PER_RECORD + PER_VALUE * columns)


def bytes_of_file(path: Path) -> int:
    """Memory that reading a whole file takes, estimated from its size."""
    return (TEXT if path.suffix.lower() in TEXTS else PACKED) * path.stat().st_size
