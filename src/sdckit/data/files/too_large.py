"""Whether a file is for an engine: too large to be read whole, or no single file of this machine."""

from __future__ import annotations

from pathlib import Path

from sdckit.data.files.file_checks import file_format
from sdckit.data.files.scan_file import is_address
from sdckit.data.memory import bytes_of_file, bytes_of_records, free_bytes
from sdckit.errors import FileFormatError

SHARE = 2  # records may take one part in so many of the free memory


def is_for_an_engine(path: Path, columns: int) -> bool:
    """Whether a path is a folder, an address, or a Parquet or CSV file of which so many columns do not fit here.

    Of Parquet the records are counted by what the file says, of CSV its size counts. A file in another format is for
    no engine.
    """
    if is_address(path) or path.is_dir():
        return True
    free = free_bytes()
    return free is not None and _needed(path, columns) > free // SHARE


def _needed(path: Path, columns: int) -> int:
    """Bytes of a Parquet or CSV file; none of others, and of damaged ones: whoever reads them says why."""
    try:
        found = file_format(path)
        if found != "Parquet":
            return bytes_of_file(path) if found == "CSV" else 0
        import pyarrow as pa
        import pyarrow.parquet as pq
    except FileFormatError:
        return 0
    try:
        return bytes_of_records(pq.ParquetFile(path).metadata.num_rows, columns)
    except (OSError, pa.ArrowException):
        return 0
