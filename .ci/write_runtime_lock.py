"""Write pylock.toml (PEP 751) from a universal resolution: wheels by file name and hash, no registry named.

A wheel's path is relative to the lock file, in the folder `wheelhouse`, where `make wheelhouse` puts it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HEAD = "# Runtime dependencies with hashes (PEP 751); written by `make lock` from pyproject.toml.\n"
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
PLATFORM = re.compile(r"any|win_amd64|macosx_.*|manylinux.*_(x86_64|aarch64)")


def wanted(name: str) -> bool:
    """Whether a wheel is for a Python and a system that the project speaks of."""
    python, abi, platform = name.removesuffix(".whl").split("-")[-3:]
    fits = abi in {python, "none"} and (python in PYTHONS or python.endswith("py3"))
    return (fits or abi == "abi3") and PLATFORM.fullmatch(platform) is not None


def lines(package: dict[str, Any]) -> list[str]:
    """One package: every wheel of it that is wanted."""
    files = {wheel["url"].rsplit("/", 1)[1]: wheel for wheel in package["wheels"]}
    made = ["", "[[packages]]", f'name = "{package["name"]}"', f'version = "{package["version"]}"']
    if "marker" in package:
        made.append(f'marker = "{package["marker"]}"')
    made.append("wheels = [")
    for name in sorted(filter(wanted, files)):
        size, digest = files[name]["size"], files[name]["hashes"]["sha256"]
        made.append(f'  {{ path = "wheelhouse/{name}", size = {size}, hashes = {{ sha256 = "{digest}" }} }},')
    return [*made, "]"]


def main(resolved: str, target: str) -> None:
    """Write the lock file."""
    found = tomllib.loads(Path(resolved).read_text(encoding="utf-8"))
    text = [f'{HEAD}lock-version = "1.0"', f'requires-python = "{found["requires-python"]}"', 'created-by = "sdckit"']
    text += [line for package in found["packages"] for line in lines(package)]
    Path(target).write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
