"""The files of the portable golden cases, made from surveys that statsmodels ships.

Written from the recipes in words: weights, households and missing values are functions of the row number,
so that anybody gets the same file without a random number.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from statsmodels.datasets import anes96, fair

RECIPES = {
    "fair": (
        "the affairs survey in its own order, i = row number from 0; weight = 5 + 37 i mod 91; household = i // 3; "
        "a4 = affairs in bands 0, up to 1, up to 3, above; any = affairs above 0"
    ),
    "fair_na": (
        "fair with religious missing where i mod 53 = 7 or i mod 499 = 3, educ missing where i mod 101 = 11 or "
        "i mod 499 = 3, occupation missing where i mod 499 = 3"
    ),
    "fair_na_all": "fair_na with all six keys missing in rows 1000 and 5000 (from 0)",
    **{
        f"fair_syn{s}": (
            f"fair, where in each cell of rate_marriage and children the record at place p takes religious, educ, "
            f"occupation, occupation_husb and affairs of the one at place p + {s + 1} (cyclic); then affairs times "
            f"1 + (13 * {s} i mod 7 - 3) / 50; a4 and any anew"
        )
        for s in (1, 2, 3)
    },
    "anes96": (
        "the election survey in its own order; age5 = age in bands of five years; weight as in fair; household = i // 2"
    ),
    "anes96_na": ("anes96 with educ missing where i mod 23 = 5, age5 where i mod 37 = 9, PID where i mod 111 = 9"),
}
FAIR_REPLACED = ["religious", "educ", "occupation", "occupation_husb", "affairs"]
FAIR_KEYS = ["age", "yrs_married", "children", "religious", "educ", "occupation"]


def _with_design(frame: pd.DataFrame, members: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Add the weight and a household of so many neighbouring rows."""
    i = np.arange(len(frame))
    return frame.assign(weight=5 + (37 * i) % 91, household=i // members), i


def _blank(frame: pd.DataFrame, where: dict[str, np.ndarray]) -> pd.DataFrame:
    return frame.assign(**{name: frame[name].mask(rows) for name, rows in where.items()})


def _fair() -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _with_design(fair.load_pandas().data, 3)
    return _with_affairs(frame), i


def _with_affairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the two columns made from affairs."""
    bands = np.digitize(frame["affairs"], [0.0, 1.0, 3.0], right=True)
    return frame.assign(a4=bands, any=(frame["affairs"] > 0).astype(int))


def _fair_release(shift: int) -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _fair()
    source = i.copy()
    for rows in frame.groupby(["rate_marriage", "children"]).indices.values():
        source[rows] = np.roll(rows, -(shift + 1))
    frame = frame.assign(**{name: frame[name].to_numpy()[source] for name in FAIR_REPLACED})
    return _with_affairs(frame.assign(affairs=frame["affairs"] * (1 + (13 * shift * i % 7 - 3) / 50))), i


def _fair_na() -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _fair()
    rare = i % 499 == 3
    gaps = {"religious": rare | (i % 53 == 7), "educ": rare | (i % 101 == 11), "occupation": rare}
    return _blank(frame, gaps), i


def _fair_na_all() -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _fair_na()
    return _blank(frame, dict.fromkeys(FAIR_KEYS, np.isin(i, [1000, 5000]))), i


def _anes96() -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _with_design(anes96.load_pandas().data, 2)
    return frame.assign(age5=frame["age"] // 5 * 5), i


def _anes96_na() -> tuple[pd.DataFrame, np.ndarray]:
    frame, i = _anes96()
    return _blank(frame, {"educ": i % 23 == 5, "age5": i % 37 == 9, "PID": i % 111 == 9}), i


MAKERS = {
    "fair": _fair,
    "fair_na": _fair_na,
    "fair_na_all": _fair_na_all,
    "fair_syn1": lambda: _fair_release(1),
    "fair_syn2": lambda: _fair_release(2),
    "fair_syn3": lambda: _fair_release(3),
    "anes96": _anes96,
    "anes96_na": _anes96_na,
}


def rebuild(name: str) -> pd.DataFrame:
    """One of the files."""
    return MAKERS[name]()[0]
