"""The app on a disk that is full as long as the file ``full`` lies in its folder."""

from __future__ import annotations

import errno
import sys
from typing import Any

from sdckit.app.__main__ import main
from sdckit.app.browser_sessions import state_folder


def fill() -> None:
    """Let uploads find no place."""
    from shiny._fileupload import FileUploadOperation

    write = FileUploadOperation.write_chunk

    def filled(upload: Any, chunk: bytes) -> None:
        write(upload, chunk[: len(chunk) // 2])
        if (state_folder() / "full").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(upload, chunk[len(chunk) // 2 :])

    FileUploadOperation.write_chunk = filled  # type: ignore[method-assign]


if __name__ == "__main__":
    fill()
    sys.exit(main(["--warm", "600", *sys.argv[2:]]))
