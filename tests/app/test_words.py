"""The texts of the app, filled and translated, without loading what computes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from sdckit.app.words import say, speaker
from spoken import asked, progress, refused, texts, untold
from tree import none_offends


def test_places_are_filled_before_the_text_is_looked_up() -> None:
    assert say("Continue: {t}", "en", t="Risk") == "Continue: Risk"
    assert say("Continue: {t}", "de", t="Roles") == "Weiter: Rollen"
    assert say("{braces} stay where nothing is filled", "en") == "{braces} stay where nothing is filled"
    assert speaker("de")("Cancel") == "Abbrechen"
    assert "\u00ad" not in speaker("de")("Verdict")


def test_the_server_loads_nothing_that_computes() -> None:
    """The first page would wait for it; and what is not loaded reads no data."""
    code = "import sys, sdckit.app.frame, sdckit.app.serve, sdckit.app.__main__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "numpy", "polars", "pandas", "pyarrow", "scipy", "sklearn", "statsmodels", "altair"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("found", [texts, asked, progress, refused])
def test_every_text_is_said_in_german(found: Callable[[], Iterator[str]]) -> None:
    """Also what a form asks for, what is told while work runs, and what a page refuses."""
    there = set(found())
    assert len(there) > 10
    none_offends(untold("de", there), "a text of the app stands in the file of words")


def test_what_is_not_translated_is_found() -> None:
    assert untold("de", ["Cancel", "{n} quaint gizmos", "reading {n}"]) == ["{n} quaint gizmos"]
    assert "Cancel" in set(texts())
    assert "reading {n}" in set(progress())
    assert 'Names of the bands, from the lowest; default made from the edges, as "30-39".' in set(asked())
    assert "no file is open; open one on the first page" in set(refused())
