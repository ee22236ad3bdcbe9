"""The demo's survey: all of it, in bands, and a scenario that fits it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from statsmodels.datasets import fair

from sdckit.demo import KEYS, SAMPLING_FRACTION, demo_scenario, load_demo
from sdckit.errors import FileFormatError


def test_it_is_the_whole_survey_without_gaps() -> None:
    survey = load_demo()
    assert survey.shape == (6366, 7)
    assert survey.columns == [*KEYS, "affairs"]
    assert sum(survey.null_count().row(0)) == 0


def test_the_bands_agree_with_the_source() -> None:
    data = fair.load_pandas().data["affairs"]
    counts = dict(load_demo()["affairs"].value_counts().iter_rows())
    assert counts == {
        "none": int((data == 0).sum()),
        "up to 1": int(((data > 0) & (data <= 1)).sum()),
        "over 1 to 3": int(((data > 1) & (data <= 3)).sum()),
        "over 3": int((data > 3).sum()),
    }


def test_the_scenario_fits_the_survey() -> None:
    scenario = demo_scenario()
    scenario.check_columns(load_demo().columns)
    assert scenario.sampling_fraction == SAMPLING_FRACTION
    assert set(scenario.thresholds.declared) == {"k", "risk", "l"}


def test_statsmodels_is_not_imported() -> None:
    code = "import sys, sdckit; sdckit.load_demo(); sys.exit('statsmodels' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_statsmodels_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(FileFormatError, match="pip install statsmodels"):
        load_demo()
