"""Every table and listing of the practice guide that these measures can print.

Each JSON file in `guide/` holds the figures as the guide prints them, the call that gives them here, and the
tolerance: half a unit of the last printed digit.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sdckit
from draw import quiet

FOLDER = Path(__file__).parent / "guide"
CASES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "people")


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def frame_of(case):
    columns = dict(case["columns"] if "columns" in case else load(case["data"])["columns"])
    for name, records in case.get("missing", {}).items():
        columns[name] = [None if i in records else value for i, value in enumerate(columns[name], 1)]
    return pl.DataFrame(columns)


def plain(figure):
    return {str(key): value for key, value in figure.items()} if isinstance(figure, dict) else figure


@pytest.mark.parametrize("name", CASES)
def test_the_guide(name):
    case = load(name)
    for call in case["calls"]:
        with quiet():
            result = getattr(sdckit, call["call"])(frame_of(case), **call["arguments"])
            found = result.records
        within = {"rel": 0, "abs": call["absolute"]}
        for column, values in call.get("records", {}).items():
            assert found[column].to_list() == pytest.approx(values, **within), (name, column)
        for figure, value in call.get("figures", {}).items():
            assert plain(getattr(result, figure)) == pytest.approx(value, **within), (name, figure)


def test_every_case_says_where_it_comes_from():
    assert len(CASES) == 9
    assert all(load(name)["source"].startswith("Benschop, Machingauta & Welch 2019") for name in CASES)


def test_every_engine_prints_the_first_table():
    pandas, arrow = frame_of(load("tab41")).to_pandas(), frame_of(load("tab41")).to_arrow()
    expected = load("tab41")["calls"][0]
    for frame in (pandas, arrow):
        records = sdckit.key_frequencies(frame, **expected["arguments"]).records
        assert list(map(int, records["sample_frequency"].to_numpy())) == expected["records"]["sample_frequency"]
