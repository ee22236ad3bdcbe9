"""Values that follow are hidden by company that cannot be told apart."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from protect.suppression.test_suppression_implied import by_hand
from protect.suppression_files import draw_rows, frame_of, frequencies, rows_of, working
from sdckit import local_suppression
from sdckit.protect.suppression.suppression_decoys import hide_implied
from sdckit.protect.suppression.suppression_implied import implied

# Three of one kind, one of another: who lost the first key must be the odd one.
ROWS = [(0, 0)] * 6 + [(1, 0)] + [(1, 1)] * 3 + [(0, 1)] * 3


def test_one_more_record_that_looks_the_same_and_is_another():
    frame = frame_of(ROWS)
    safe, change = local_suppression(frame, keys=["k0", "k1"], k=3, exact=False)
    assert change.n_changed == change.parameters["n_implied"] == 1
    hidden, more = local_suppression(frame, keys=["k0", "k1"], k=3, exact=False, hide_implied=True, seed=1)
    assert (more.n_changed, more.parameters["n_implied"]) == (2, 0)
    lost = [
        (row, other) for row, other in zip(ROWS, rows_of(hidden, ["k0", "k1"]), strict=True) if row != other
    ]
    assert len({other for _, other in lost}) == 1
    assert len({row for row, _ in lost}) == 2
    first = rows_of(safe, ["k0", "k1"])
    assert all(b is None or a == b for x, y in zip(rows_of(hidden, ["k0", "k1"]), first, strict=True)
               for a, b in zip(x, y, strict=True) if a is not None)  # fmt: skip


def test_the_company_is_drawn():
    frame = frame_of(ROWS)
    chosen, seeds = set(), set()
    for seed in [*range(30), None, None]:
        safe, change = local_suppression(
            frame, keys=["k0", "k1"], k=3, exact=False, hide_implied=True, seed=seed
        )
        chosen.add(tuple(i for i, row in enumerate(rows_of(safe, ["k0", "k1"])) if None in row))
        seeds.add(change.secret["seed"])
    assert len(seeds) == 32
    assert {len(one) for one in chosen} == {2}
    assert len(chosen) == 6  # any of the records that it could be
    one, two = (
        local_suppression(frame, keys=["k0", "k1"], k=3, hide_implied=True, seed=change.secret["seed"]).data
        for _ in range(2)
    )
    assert one.equals(two)


@settings(max_examples=150)
@given(
    st.integers(2, 4).flatmap(lambda p: st.lists(st.tuples(*[st.integers(0, 2)] * p), min_size=8, max_size=20)),
    st.integers(2, 4), st.sampled_from([1.0, 0.5, 0.0]), st.integers(0, 99),
)  # fmt: skip
def test_k_holds_and_what_still_follows_is_told(rows, k, alpha, seed):
    frame = frame_of(rows)
    keys = frame.columns
    plain = local_suppression(frame, keys=keys, k=k, alpha=alpha, exact=False)
    safe, change = local_suppression(
        frame, keys=keys, k=k, alpha=alpha, exact=False, hide_implied=True, seed=seed
    )
    released = rows_of(safe, keys)
    assert min(frequencies(released, alpha)) >= k - 1e-9
    assert change.n_changed >= plain.change.n_changed
    told = ((tuple(range(len(keys))), k),)
    certain, lost = by_hand(rows, released, told, alpha)
    assert (change.parameters["n_implied"], change.n_changed) == (len(certain), lost)
    if plain.change.parameters["n_implied"] == 0:
        assert safe.equals(plain.data)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_follows_in_files_of_some_size(seed):
    rows = draw_rows(seed, 400, (3, 4, 6, 5))
    frame = frame_of(rows)
    change = local_suppression(frame, keys=frame.columns, k=4, exact=False).change
    hidden = local_suppression(
        frame, keys=frame.columns, k=4, exact=False, hide_implied=True, seed=seed
    ).change
    assert hidden.parameters["n_implied"] == 0
    assert change.n_changed <= hidden.n_changed <= change.n_changed + 4 * change.parameters["n_implied"]


def test_records_of_one_household_keep_what_goes_together():
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(100), 3)
    people = pl.DataFrame(
        {
            "home": home,
            "region": rng.choice(5, 100)[home],
            "age": rng.integers(0, 6, 300),
            "job": rng.choice(4, 300),
        }
    )
    keys = ["region", "age", "job"]
    safe, change = local_suppression(people, keys=keys, k=3, household="home", hide_implied=True, seed=1)
    assert change.parameters["n_implied"] == 0
    assert "go together" in change.notes["n_implied"]
    lost = safe.group_by("home").agg(pl.col("region").is_null().mean())
    assert set(lost["region"]) <= {0.0, 1.0}


def test_what_cannot_be_hidden_is_told():
    rows = [(0,), (0,), (0,), (1,)]
    file = working(rows)
    file.gone[0, 3] = True
    requests = (((0,), 2),)
    assert implied(file, requests, [0]).sum() == 1  # ty: ignore
    found = hide_implied(file, requests, [], np.random.default_rng(1), lambda: None)
    assert found is not None
    assert found.sum() == 0  # keys that go together are not looked at
    found = hide_implied(file, requests, [0], np.random.default_rng(1), lambda: None)
    assert found is not None
    assert (found.sum(), file.gone.sum()) == (0, 2)
