"""The texts of a language without what computes; documents are tried in test_language.py."""

from __future__ import annotations

import subprocess
import sys

from sdckit.report.saying import languages, say, wording


def test_a_text_is_said_in_every_language_there_is() -> None:
    assert languages() == ("en", "de")
    assert say("Contents") == "Contents"
    assert say("Contents", "de") == wording("de").exact["Contents"]
    assert say("nobody translated this", "de") == "nobody translated this"


def test_it_loads_nothing_that_computes() -> None:
    code = "import sys; from sdckit.report.saying import say; say('Contents', 'de'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "numba", "polars", "pydantic"} & set(loaded)
