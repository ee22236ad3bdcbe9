"""What a file, a folder of files or an address says of itself, before any record is read of it."""

from __future__ import annotations

from pathlib import Path

import narwhals.stable.v2 as nw

from sdckit.data.files.file_checks import FileHeader
from sdckit.data.files.readers import scan_header
from sdckit.data.files.scan_file import ScanEngine, files_of, is_address, scan_file
from sdckit.data.files.stored_csv import folder_values
from sdckit.data.frames import count_records
from sdckit.display import counted


def plan_header(
    path: Path, *, engine: ScanEngine, memory: str | None = None, delimiter: str | None = None,
    encoding: str | None = None,
) -> FileHeader:  # fmt: skip
    """Give column names, number of records and format of what an engine would read; the options are of `scan_file`.

    Of a folder every file is asked; only an address is asked by the engine. Raises what `scan_file` does.
    """
    if is_address(path):
        plan = scan_file(path, engine=engine, memory=memory, delimiter=delimiter, encoding=encoding)
        names = nw.from_native(plan).collect_schema().names()
        return FileHeader(tuple(names), count_records(plan), "Parquet")
    files = files_of(path)
    headers = [scan_header(one, delimiter=delimiter, encoding=encoding) for one in files]
    if not path.is_dir():
        return headers[0]
    counts = [one.n_rows for one in headers if one.n_rows is not None]
    folders = (name for one in files for name in folder_values(one, path))
    return FileHeader(
        tuple(dict.fromkeys([*headers[0].columns, *folders])),
        sum(counts) if len(counts) == len(headers) else None,
        f"{counted(len(files), 'file')}, {headers[0].format}",
        certain=all(one.certain for one in headers),
    )
