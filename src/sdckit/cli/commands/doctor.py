"""``sdckit doctor``: what this installation has and lacks, and what to send with a bug report."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from sdckit import __version__, operating_system
from sdckit.cli.errors import debugging, tell
from sdckit.display import counted

LIBRARIES = ("numpy", "numba", "polars", "pyarrow", "narwhals", "scipy", "pydantic")
EXTRAS = {
    "app": "the web app (sdckit app)",
    "docx": "reports for Word",
    "dp": "synthesis under a differential-privacy promise",
    "duckdb": "DuckDB, for files larger than memory",
    "files": "Excel, SPSS, Stata and SAS files",
    "linkage": "linkage of large files",
    "spark": "Spark, for files on a cluster",
}
NEEDED = re.compile(r"(?P<name>[\w.-]+).*;.*extra == ['\"](?P<extra>[\w-]+)['\"]")
JAVA = re.compile(r'version "(\d+(?:\.\d+)*)')
SECONDS = 20
GIGABYTE = 1e9
SEND = (
    "With a bug report send these lines, the command without names of files and columns, and the line of the error. "
    "They hold no path, no name of a user or machine, and no value. Send no data, no log of a recipe, and nothing "
    "that SDCKIT_DEBUG=1 printed."
)


def doctor() -> None:
    """Say what this installation has and lacks: versions, engines, browser, memory, cache, extras.

    Nothing of it names a file, a folder, a user or a machine: it can be sent with a bug report.
    """
    for name, state in (*_versions(), *_machine(), *_programs(), *_extras()):
        tell(f"{name}: {state}")
    tell(f"\n{SEND}")


def _versions() -> Iterator[tuple[str, str]]:
    yield "sdckit", __version__
    yield "Python", operating_system.interpreter()
    yield "system", operating_system.kind()
    for name in LIBRARIES:
        yield name, _version(name) or "not installed; install sdckit anew"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _machine() -> Iterator[tuple[str, str]]:
    free = operating_system.free_memory()
    yield "processors", str(operating_system.n_processors())
    yield "free memory", "this system does not say" if free is None else f"{free / GIGABYTE:.1f} GB"
    yield "free space for temporary files", f"{shutil.disk_usage(tempfile.gettempdir()).free / GIGABYTE:.1f} GB"
    yield "compiled kernels", _kernels()
    if debugging():
        yield "SDCKIT_DEBUG", "set: errors show tracebacks, which may hold data"


def _kernels() -> str:
    from sdckit.numerics.compiling import cache_folder

    folder = cache_folder()
    if folder is None:
        return "not kept: the cache cannot be written; every process compiles anew"
    sizes = [file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()]
    if not sizes:
        return "none yet: the first run compiles them; sdckit warm-up does it ahead"
    return f"{counted(len(sizes), 'file')} kept, {sum(sizes) / 1e6:.0f} MB"


def _programs() -> Iterator[tuple[str, str]]:
    from sdckit.errors import FileFormatError
    from sdckit.report.formats.html import find_browser

    try:
        find_browser()
        yield "Chromium", "there"
    except FileFormatError:
        yield "Chromium", "not there; reports as PDF need one"
    yield "Java", _java()


def _java() -> str:
    program = shutil.which("java")
    try:
        said = subprocess.run([program or "", "-version"], capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "not there; Spark needs Java 17"
    match = JAVA.search(said.stderr.decode("utf-8", "replace"))
    return match[1] if match else "there, of an unknown version"


def _extras() -> Iterator[tuple[str, str]]:
    try:
        lines = metadata.requires("sdckit") or []
    except metadata.PackageNotFoundError:  # run from its source
        lines = []
    packages: dict[str, list[str]] = {}
    for match in filter(None, map(NEEDED.match, lines)):
        packages.setdefault(match["extra"], []).append(match["name"])
    for extra, adds in EXTRAS.items():
        versions = {name: _version(name) for name in packages.get(extra, ())}
        if versions and all(versions.values()):
            yield f"extra {extra}", ", ".join(f"{name} {version}" for name, version in versions.items())
        else:
            yield f"extra {extra}", f'not installed; adds {adds}: pip install "sdckit[{extra}]"'
