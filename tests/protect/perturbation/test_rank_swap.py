"""E7: values swapped with others of similar rank."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ways
from sdckit import rank_swap
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation.rank_swap import partners, ranked_rows

N = 400
RNG = np.random.default_rng(3)
SURVEY = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(N)],
        "age": RNG.integers(18, 60, N),
        "income": RNG.lognormal(8, 1, N),
        "rent": pl.Series(RNG.lognormal(6, 1, N)).set(pl.Series(np.arange(N) % 4 == 0), None),
    }
)
NUMBERS = ["age", "income", "rent"]


def test_columns_keep_their_values():
    data, change = rank_swap(SURVEY, columns=NUMBERS, seed=1)
    assert data.schema == SURVEY.schema
    assert data["name"].equals(SURVEY["name"])
    for name in NUMBERS:
        assert data[name].sort().equals(SURVEY[name].sort())
        assert change.changed[name] == (data[name] != SURVEY[name]).sum()
    assert (data["rent"].is_null() == SURVEY["rent"].is_null()).all()
    assert change.changed["income"] == N
    assert change.parameters["p"] == 5
    assert change.secret == {"seed": 1, "window": {"age": 20, "income": 20, "rent": 15}}
    assert change.notes == {}


@pytest.mark.parametrize("p", [0.25, 1, 7.5, 100])
def test_p_is_a_percentage(p):
    data, _ = rank_swap(SURVEY, columns=["income"], p=p, seed=1)
    moved = (data["income"].rank() - SURVEY["income"].rank()).abs().max()
    assert 0 < moved <= p / 100 * N
    assert moved > 0.6 * p / 100 * N


def test_a_window_by_the_correlation_it_leaves():
    for r0 in (0.5, 0.7, 0.9):
        data, change = rank_swap(SURVEY, columns=["income"], r0=r0, seed=1)
        kept = np.corrcoef(data["income"], SURVEY["income"])[0, 1]
        assert r0 <= kept < 1 - 0.4 * (1 - r0)
        assert change.parameters == {
            "columns": ["income"], "p": None, "r0": r0, "k0": None, "top": 0, "bottom": 0,
        }  # fmt: skip
    values = pl.DataFrame({"x": np.arange(2000.0)})
    data, change = rank_swap(values, columns=["x"], r0=0.95, seed=1)
    # partners lie a root mean square of 0.63 windows away, and the variance is n squared by 12
    assert change.secret["window"]["x"] == pytest.approx(2000 * np.sqrt(0.1 / 12) / 0.626, rel=0.1)


def test_a_window_by_the_change():
    data, _ = rank_swap(SURVEY, columns=["income"], k0=0.5, seed=1)
    change = np.sqrt(((data["income"] - SURVEY["income"]) ** 2).mean())
    assert 0.25 < change / SURVEY["income"].mean() <= 0.5


def test_both_ends_by_their_mean_where_asked():
    data, _ = rank_swap(SURVEY, columns=["income"], p=10, top=5, bottom=2, seed=1)
    ordered = SURVEY["income"].sort()
    rank = SURVEY["income"].rank("ordinal")
    assert data["income"].filter(rank <= 8).to_list() == pytest.approx([ordered[:8].mean()] * 8)
    assert data["income"].filter(rank > 380).to_list() == pytest.approx([ordered[380:].mean()] * 20)
    middle = (rank > 8) & (rank <= 380)
    assert data["income"].filter(middle).sort().equals(ordered[8:380])
    whole, change = rank_swap(SURVEY, columns=["age"], top=1, seed=1)
    assert whole.schema["age"] == (pl.Int64 if "type" not in change.notes else pl.Float64)


def test_the_mean_of_equal_ends_is_their_value():
    frame = pl.DataFrame({"x": [*range(10), *[29.37] * 10]}, strict=False)
    assert rank_swap(frame, columns=["x"], top=50, p=20, seed=1).data["x"][10:].to_list() == [29.37] * 10


def test_equal_values_are_told_apart_at_random():
    frame = pl.DataFrame({"x": [0] * 50 + [1] * 50, "i": range(100)})
    rows = [
        tuple(np.flatnonzero((rank_swap(frame, columns=["x"], p=2, seed=seed).data["x"] != frame["x"]).to_numpy()))
        for seed in range(20)
    ]
    assert len(set(rows)) > 10


def test_the_same_draw_on_every_engine():
    frame = SURVEY.to_pandas().set_index(pd.RangeIndex(N)[::-1])
    before = frame.copy()
    expected, change = rank_swap(SURVEY, columns=NUMBERS, seed=9)
    data, found = rank_swap(frame, columns=NUMBERS, seed=9)
    assert data.index.equals(frame.index)
    assert data.dtypes.equals(frame.dtypes)
    assert data["age"].tolist() == expected["age"].to_list()
    assert found == change
    assert rank_swap(SURVEY.to_arrow(), columns=NUMBERS, seed=9).data["rent"].to_pylist() == expected["rent"].to_list()
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"p": 0}, DataError, "p is how many ranks apart"),
        ({"p": 101}, DataError, "p is how many ranks apart"),
        ({"p": "5"}, DataError, "p is how many ranks apart"),
        ({"p": 0.1}, DataError, r"p = 0.1 % of the 400 values of 'income' is less than one rank; raise p to 0.3"),
        ({"p": 5, "r0": 0.9}, DataError, "give one of p, r0 and k0, not p and r0"),
        ({"r0": 1}, DataError, "r0 is the correlation to be left"),
        ({"k0": 0}, DataError, "k0 is a share of the mean"),
        ({"k0": 1e-9}, DataError, "no two ranks can be swapped within k0; raise k0, or"),
        ({"top": 60, "bottom": 40}, DataError, "together below 100"),
        ({"top": -1}, DataError, "top is a percentage"),
        ({"columns": ["name"]}, DataError, "not numbers"),
        ({"columns": ["one"]}, DataError, "'one' is constant, so there is nothing to swap"),
        ({"columns": ["incom"]}, ColumnError, "columns: no column 'incom'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        rank_swap(SURVEY.with_columns(one=pl.lit(1)), **{"columns": ["income"], **options})


# Ranks and their partners.


def ranked(values, seed=1):
    values = np.asarray(values, float)
    return ranked_rows(values.copy(), np.arange(len(values)), np.uint64(seed))


@pytest.mark.parametrize("scale", [1e-320, 1e-5, 1.0, 1e300])
def test_numbers_in_ascending_order(scale):
    values = np.random.default_rng(1).normal(size=5000) * scale
    values[:3] = [0.0, -1.7e308, 1.7e308]
    assert (values[ranked(values)] == np.sort(values)).all()
    whole = np.arange(-50, 50)[::-1].astype(float)
    assert ranked(whole).tolist() == list(range(99, -1, -1))


def test_equal_numbers_in_any_order():
    values = np.array([2.0, 0.0, 2.0, -0.0, 2.0, -1.0])
    seen = {tuple(ranked(values, seed).tolist()) for seed in range(200)}
    assert {order[0] for order in seen} == {5}
    assert {frozenset(order[1:3]) for order in seen} == {frozenset({1, 3})}
    assert len(seen) == 12
    counts = np.bincount([ranked(np.ones(4), seed)[0] for seed in range(2000)], minlength=4)
    assert counts.min() > 400


@pytest.mark.parametrize(
    ("n", "window"), [(1, 3), (2, 1), (3, 2), (10, 1), (11, 1), (12, 2), (101, 3), (1000, 70), (30, 500)]
)
def test_a_permutation_within_the_window(n, window):
    stayed = 0
    for seed in range(60):
        lent = partners(n, window, np.uint64(seed))
        assert sorted(lent.tolist()) == list(range(n))
        assert np.abs(lent - np.arange(n)).max() <= window
        stayed += (lent == np.arange(n)).sum()
    if window == 1:
        assert stayed == 60 * (n % 2)
    elif n > 1:
        assert stayed <= (0 if window > 10 else 20)


def test_partners_are_drawn_from_the_whole_window():
    lent = np.array([partners(40, 6, np.uint64(seed))[0] for seed in range(600)])
    assert set(lent.tolist()) == set(range(1, 7))
    assert np.bincount(lent)[1:].min() > 60
    assert (partners(500, 20, np.uint64(5)) == partners(500, 20, np.uint64(5))).all()
    assert (partners(500, 20, np.uint64(5)) != partners(500, 20, np.uint64(6))).any()


@pytest.mark.parametrize(("n", "window"), [(1, 1), (7, 2), (300, 1), (300, 40)])
def test_few_are_swapped_alike_without_compiling(monkeypatch, n, window):
    values = np.random.default_rng(n).integers(0, 9, n)
    ways.take(monkeypatch, few=True)
    plain = ranked(values), partners(n, window, np.uint64(5))
    ways.take(monkeypatch, few=False)
    assert plain[0].tolist() == ranked(values).tolist()
    assert plain[1].tolist() == partners(n, window, np.uint64(5)).tolist()
