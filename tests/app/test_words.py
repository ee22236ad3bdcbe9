"""The texts of the app, filled and translated, without loading what computes."""

from __future__ import annotations

import subprocess
import sys

from sdckit.app.words import say, speaker
from spoken import texts, untold
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


def test_every_text_is_said_in_german() -> None:
    assert "Cancel" in set(texts())
    assert len(set(texts())) > 20
    none_offends(untold("de"), "a text of the app stands in the file of words")
