"""What a test may need that pip does not install: a browser, Java, R, the reference figures.

A test that lacks it is skipped, and the last lines of the run say what was missing. With
``SDCKIT_REQUIRE_ALL`` set, as in CI, a skipped test is a failed test.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WITHOUT_WINDOWS = "chromium-headless-shell"
OLDEST_JAVA = 17


def require_all() -> bool:
    """Whether a missing need must fail the run."""
    return os.environ.get("SDCKIT_REQUIRE_ALL", "") not in {"", "0"}


def find_reference() -> Path | None:
    """The folder of reference cases named by ``SDCKIT_REFERENCE``, if it is there."""
    named = os.environ.get("SDCKIT_REFERENCE")
    return Path(named) if named and Path(named).is_dir() else None


def needs_reference() -> Path:
    """The folder of reference cases, or skip."""
    folder = find_reference()
    if folder is None:
        pytest.skip("missing: the reference figures (set SDCKIT_REFERENCE to their folder)")
    return folder


def needs_signals() -> None:
    """A system whose processes can be copied and killed, or skip."""
    if os.name != "posix":
        pytest.skip("missing: POSIX signals")


def needs_chromium() -> Path:
    """The browser's program, or skip."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return Path(found)
    pytest.skip("missing: Chromium")


def needs_page_viewer() -> Path:
    """The program that shows pages: Chromium's engine without windows where it is installed, else Chromium, or skip.

    It opens a page in a third of the processor time.
    """
    found = shutil.which(WITHOUT_WINDOWS)
    return Path(found) if found else needs_chromium()


def needs_app() -> None:
    """What the extra `app` brings, and what drives a browser, or skip."""
    for name in ("shiny", "uvicorn", "playwright", "axe_playwright_python"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"missing: {name}")


def needs_r() -> Path:
    """The program Rscript with jsonlite, or skip."""
    program = shutil.which("Rscript")
    asked = [program or "Rscript", "-e", "stopifnot(requireNamespace('jsonlite'))"]
    if program is None or subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip("missing: R with jsonlite")
    return Path(program)


@cache
def java_version() -> int | None:
    """The major version of the Java on the path."""
    program = shutil.which("java")
    if program is None:
        return None
    answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(found.group(1)) if found else None


def needs_java() -> int:
    """The major version of Java, or skip when there is none or it is too old for Spark."""
    version = java_version()
    if version is None or version < OLDEST_JAVA:
        pytest.skip(f"missing: Java {OLDEST_JAVA} or later")
    return version
