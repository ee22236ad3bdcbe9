"""Turn pip's resolution report into pinned requirements: names and versions, no registry, no hashes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HEAD = "# Pinned for development and tests; written by `make lock` from pyproject.toml.\n"


def main(report: str, target: str) -> None:
    """Write ``name==version`` for every package of the report but sdckit itself."""
    found = (item["metadata"] for item in json.loads(Path(report).read_text(encoding="utf-8"))["install"])
    pins = sorted((meta["name"].lower(), meta["version"].split("+")[0]) for meta in found)
    lines = [f"{name}=={version}\n" for name, version in pins if name != "sdckit"]
    Path(target).write_text(HEAD + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
