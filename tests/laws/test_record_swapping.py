"""E7: what swapping keeps whatever the file: areas keep their households and persons, people keep their answers."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings, strategies as st

from sdckit import swap_records

LEVELS = ["region", "town"]


@st.composite
def files(draw):
    n = draw(st.integers(1, 15))
    homes = [
        (i, draw(st.integers(0, 2)), draw(st.integers(0, 2)), draw(st.sampled_from(["own", "rent", None])))
        for i in range(n)
    ]
    rows = [(*home, draw(st.sampled_from("xyz"))) for home in homes for _ in range(draw(st.integers(1, 3)))]
    return pl.DataFrame(rows, schema=["hh", *LEVELS, "tenure", "job"], orient="row")


OPTIONS = {"k": st.integers(1, 4), "swap_rate": st.sampled_from([0, 0.1, 0.6]), "same_size": st.booleans()}


@settings(max_examples=60)
@given(files(), st.fixed_dictionaries(OPTIONS), st.booleans(), st.integers(0, 99))
def test_what_is_kept(frame, options, by_tenure, seed):
    similar = [["tenure"]] if by_tenure else []
    data, change = swap_records(
        frame, hierarchy=LEVELS, keys=["job"], household="hh", similar=similar, seed=seed, **options
    )
    assert data.schema == frame.schema
    assert data.drop(LEVELS).equals(frame.drop(LEVELS))
    before, after = (one.unique("hh", maintain_order=True) for one in (frame, data))
    by_home = ["hh", *LEVELS]
    assert data.select(by_home).unique().height == before.height  # a household moves as a whole
    assert after.select(LEVELS).sort(LEVELS).equals(before.select(LEVELS).sort(LEVELS))
    if options["same_size"]:
        assert data.select(LEVELS).sort(LEVELS).equals(frame.select(LEVELS).sort(LEVELS))
    if by_tenure:
        columns = [*LEVELS, "tenure"]
        assert after.select(columns).sort(columns).equals(before.select(columns).sort(columns))
    moved = (after.select(LEVELS).hash_rows() != before.select(LEVELS).hash_rows()).sum()
    assert moved == change.secret["swapped"]
    for name in LEVELS:
        assert change.changed[name] == (data[name] != frame[name]).sum()
    again = swap_records(frame, hierarchy=LEVELS, keys=["job"], household="hh", similar=similar, seed=seed, **options)
    assert again.data.equals(data)


@settings(max_examples=40)
@given(files(), st.integers(2, 4), st.integers(0, 99))
def test_the_rare_move_or_are_counted(frame, k, seed):
    """One level: every household with a member below k changes its region, or is among those said not to."""
    data, change = swap_records(
        frame, hierarchy=["region"], keys=["job"], household="hh", k=k, swap_rate=0, same_size=False, seed=seed
    )
    rare = frame.with_columns(n=pl.len().over("region", "job")).filter(pl.col("n") < k)["hh"].unique()
    moved = frame.filter(data["region"] != frame["region"])["hh"].unique()
    stayed = set(rare) - set(moved)
    note = change.notes.get("not swapped", "elsewhere: 0 by")
    assert int(note.split("elsewhere: ")[1].split(" ")[0]) == len(stayed)
    assert len(moved) == change.secret["swapped"]
