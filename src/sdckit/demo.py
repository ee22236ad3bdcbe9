"""The demonstration data: a real survey that ships with statsmodels, and a scenario for it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sdckit.data import pl
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import FileFormatError

KEYS = ("age", "yrs_married", "children", "religious", "educ", "occupation")
SAMPLING_FRACTION = 0.01
BANDS = {0.0: "none", 1.0: "up to 1", 3.0: "over 1 to 3"}
LAST_BAND = "over 3"

ABOUT = (
    "About the demo: 6,366 married women answered a magazine's survey in 1974 (Fair 1978; the data ship with "
    "statsmodels). The sampling fraction of 0.01 is assumed for the demonstration; nobody knows the real one."
)


def load_demo() -> pl.DataFrame:
    """Load the affairs survey as a Polars frame.

    Six keys (`age`, `yrs_married`, `children`, `religious`, `educ`, `occupation`) and `affairs`, the time
    spent in affairs in four bands.

    Source: Fair, R. (1978), A Theory of Extramarital Affairs, Journal of Political Economy 86.

    Examples
    --------
    >>> load_demo().shape
    (6366, 7)
    >>> sorted(load_demo()["affairs"].unique())
    ['none', 'over 1 to 3', 'over 3', 'up to 1']
    """
    affairs = pl.col("affairs")
    banded = pl.lit(LAST_BAND)
    for upper, label in reversed(BANDS.items()):
        banded = pl.when(affairs <= upper).then(pl.lit(label)).otherwise(banded)
    return pl.read_csv(_file(), columns=[*KEYS, "affairs"]).select(*KEYS, banded.alias("affairs"))


def demo_scenario() -> Scenario:
    """Give the scenario of the demo: one acquaintance, and the limits of a cautious release.

    The sampling fraction is an assumption for the demonstration.

    Examples
    --------
    >>> demo_scenario().keys
    ('age', 'yrs_married', 'children', 'religious', 'educ', 'occupation')
    """
    return Scenario(
        title="A demonstration on the affairs survey",
        intruders={"acquaintance": KEYS},
        sampling_fraction=SAMPLING_FRACTION,
        sensitive=["affairs"],
        magnitudes=[],
        household="none",
        thresholds={"k": 3, "risk": 0.01, "l": 2},
        release="public-use",
    )


def _file() -> Path:
    """Find the survey in statsmodels' wheel without importing statsmodels, which takes a second."""
    spec = importlib.util.find_spec("statsmodels")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "datasets" / "fair" / "fair.csv"
        if path.is_file():
            return path
    raise FileFormatError("the demo's survey ships with statsmodels, which is not installed: pip install statsmodels")
