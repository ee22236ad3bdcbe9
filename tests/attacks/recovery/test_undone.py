"""The file with values put back, and who is recognised in it."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from attacks.recovery.made import blanked, read, released, survey
from sdckit import individual_risk, k_anonymity
from sdckit.attacks.recovery.recovered import recover
from sdckit.attacks.recovery.touched_cells import by_original
from sdckit.attacks.recovery.undone import put_back, recognised
from sdckit.data.frames import open_frame
from sdckit.data.scenarios.roles import resolve_roles

DATA = survey(400)


def undone(hidden, whole, household="home"):
    columns = read(hidden)
    found = recover(columns, by_original(columns, read(whole)), household=household)
    back = put_back(open_frame(hidden), found, {name: one.restored for name, one in found.items()})
    return back.to_native(), found


def test_what_is_put_back_is_the_original_and_nothing_else_changes():
    hidden = released(DATA)
    back, found = undone(hidden, DATA)
    for name in hidden.columns:
        told = found[name].restored if name in found else None
        for i, (was, now) in enumerate(zip(hidden[name], back[name], strict=True)):
            if told is not None and told[i]:
                assert str(now) == str(DATA[name][i])
            else:
                assert was == now
    assert back.schema == hidden.schema


@pytest.mark.parametrize("kind", ["Int64", "float64", "Int8"])
def test_the_type_of_a_column_stays(kind):
    whole = pd.DataFrame(
        {"x": pd.Series(range(90)).mod(40).astype(kind), "y": [i % 40 * 2 for i in range(90)]}
    )
    hidden = whole.copy()
    hidden.loc[:5, "x"] = None
    columns = read_frame(hidden)
    found = recover(columns, by_original(columns, read_frame(whole)), household=None)
    back = put_back(
        open_frame(hidden), found, {name: one.restored for name, one in found.items()}
    ).to_native()
    assert isinstance(back, pd.DataFrame)
    pd.testing.assert_frame_equal(back, whole)


def read_frame(data):
    from sdckit.attacks.recovery.released_columns import read_columns

    frame = open_frame(data)
    return read_columns(frame, frame.columns)


def test_dates_are_left_as_they_are():
    whole = pl.DataFrame({"d": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 6, 1), eager=True)})
    whole = whole.with_columns(copy="d")
    hidden = blanked(whole, ["d"], 0.1)
    back, found = undone(hidden, whole, household=None)
    assert found["d"].restored.any()
    assert back.equals(hidden)


def test_counted_as_by_the_measures_of_one_file():
    keys = ["region", "sex", "edu"]
    roles = resolve_roles(scenario=None, keys=keys, weight=None, sampling_fraction=None, household=None, missing=None,
                          alpha=None, id=None)  # fmt: skip
    found = recognised(DATA, roles, k=[2, 3, 5], risk=0.2)
    k = k_anonymity(DATA, keys=keys, k=[2, 3, 5])
    assert found.k == k.level
    assert found.below_k == dict(k.violations)
    assert found.uniques == found.below_k[2]
    risk = individual_risk(DATA, keys=keys)
    assert found.expected == pytest.approx(risk.expected_reidentifications)
    sizes = DATA.group_by(keys).len()["len"]
    assert found.above_risk == sizes.filter(sizes < 5).sum()
    assert recognised(DATA, roles, k=[2], risk=None).above_risk is None
