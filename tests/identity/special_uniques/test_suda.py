"""The figures of A4, its records and lists, plans, missing keys, and what it refuses."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import polars as pl
import pytest
from scipy.stats import gaussian_kde

from draw import quiet
from plans import on_frames
from sdckit import Scenario, as_cells, suda
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.identity.special_uniques.suda import NO_PAIRS, NO_UNIQUES, bandwidth, dis_scores, kernel_density, msu_score

FRAME = pl.DataFrame(
    {
        "n": [1, 2, 3, 4, 5],
        "sex": ["f", "f", "m", "m", "m"],
        "job": ["a", "b", "a", "b", "b"],
        "town": ["x", "x", None, "x", "x"],
    }
)
KEYS = ["sex", "job"]
ALL = ["sex", "job", "town"]


@on_frames
def test_figures_of_every_engine(make):
    result = suda(make(FRAME), keys=KEYS)
    assert (result.n, result.sample_uniques, result.pairs) == (5, 3, 2)
    assert result.msu_counts == {1: 0, 2: 3}
    assert result.dis == pytest.approx(3 * 0.01 / (3 * 0.01 + 2 * 0.99))
    assert result.contributions == {"sex": 1, "job": 1}
    assert result.unscored_uniques == 0
    assert result.level_contributions == {
        "sex": {"f": pytest.approx(2 / 3), "m": pytest.approx(1 / 3)},
        "job": {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)},
    }


def test_the_rule_says_what_suda_does_with_a_missing_value():
    result = suda(FRAME, keys=ALL)
    said = (
        "a missing key value takes part in no minimal unique; sample uniques, pairs and so DIS count it as a category"
    )
    assert result.missing_rule == result.to_dict()["missing_rule"] == said
    assert said in repr(result)
    assert pickle.loads(pickle.dumps(result)).to_dict()["missing_rule"] == said
    some = suda(FRAME, keys=ALL, missing={"town": "wildcard", "sex": "category", "job": "category"})
    assert some.missing_rule.startswith("a missing value of town takes part in no")
    assert some.missing_rule.endswith("; of the other keys it is a category")
    assert suda(FRAME, keys=ALL, missing="category").missing_rule == "a missing key value is a category of its own"
    assert suda(FRAME, keys=KEYS).missing_rule == "no key value is missing"


def test_records_and_pickling():
    result = suda(FRAME, keys=KEYS, id="n", prefix="s_", sampling_fraction=0.1)
    dis = 1 / (1 + 2 * 0.9 / 0.1 / 3)  # three equal scores
    assert result.records.to_dict(as_series=False) == {
        "n": [1, 2, 3, 4, 5],
        "s_suda_score": [1, 1, 1, 0, 0],
        "s_dis_score": [pytest.approx(dis)] * 3 + [0, 0],
        "s_n_msu": [1, 1, 1, 0, 0],
        "s_smallest_msu": [2, 2, 2, 0, 0],
    }
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert result.summary().columns == ["figure", "value"]
    with pytest.raises(DataError, match="let go of the data"):
        again.msus()


def test_a_plan_has_the_same_figures_and_no_records():
    plan = suda(FRAME.lazy(), keys=KEYS)
    assert plan.to_dict() == suda(FRAME, keys=KEYS).to_dict()
    with pytest.raises(DataError, match="its records are not; collect it first for figures per record"):
        plan.records  # noqa: B018
    with pytest.raises(DataError, match="its records are not; collect it first to list them"):
        plan.msus()


def test_lists_of_minimal_uniques():
    result = suda(FRAME, keys=ALL, missing="category")
    listed = result.msus().to_dict(as_series=False)
    assert listed == {
        "row": [3, 1, 2, 3, 1],
        "size": [1, 2, 2, 2, 2],
        "variables": ["town", "sex + job", "sex + job", "sex + job", "job + town"],
    }
    assert result.msus(limit=2).to_dict(as_series=False) == {k: v[:2] for k, v in listed.items()}
    with quiet():
        none = suda(pl.DataFrame({"a": [1, 1], "b": [2, 2]}), keys=["a", "b"])
    assert none.msus().shape == (0, 3)
    assert none.msus().columns == ["row", "size", "variables"]


def test_missing_keys_under_both_rules():
    no_item = suda(FRAME, keys=ALL)
    as_item = suda(FRAME, keys=ALL, missing="category")
    assert no_item.msu_counts == {1: 0, 2: 4, 3: 0}
    assert as_item.msu_counts == {1: 1, 2: 4, 3: 0}  # the third record is alone with its missing town
    assert (no_item.sample_uniques, no_item.pairs) == (as_item.sample_uniques, as_item.pairs)
    assert "(missing)" in as_item.level_contributions["town"]
    cells = as_cells(FRAME, keys=ALL, missing="category")
    assert suda(cells).to_dict() == as_item.to_dict()
    scenario = Scenario(keys=ALL, missing="category")
    assert suda(FRAME, scenario=scenario).to_dict() == as_item.to_dict()
    only = FRAME.with_columns(job=pl.Series([None, "a", "a", "a", "a"]), sex=pl.Series([None] + ["m"] * 4))
    with quiet():
        result = suda(only, keys=KEYS)  # the first record has only missing keys
    assert result.sample_uniques == 1
    assert sum(result.msu_counts.values()) == 0
    assert result.records["suda_score"].to_list() == [0.0] * 5


def test_scores_of_minimal_uniques():
    assert [msu_score(k, 6, 3, "elliot") for k in (1, 2, 3)] == [5 * 4 * 3, 4 * 3, 3]
    assert [msu_score(k, 1, 1, s) for k, s in ((1, "elliot"), (1, "ihsn"))] == [1, 0]
    for n_keys in (2, 5, 63):
        elliot = [msu_score(k, n_keys, n_keys, "elliot") for k in range(1, n_keys + 1)]
        assert elliot[:20] == [float(math.factorial(n_keys - k)) for k in range(1, n_keys + 1)][:20]
        ihsn = [msu_score(k, n_keys, n_keys, "ihsn") for k in range(1, n_keys + 1)]
        assert np.isfinite([*elliot, *ihsn]).all()
        assert ihsn[-1] == 0
        assert ihsn[0] == (2 ** (n_keys - 1) - 1) / n_keys


def test_dis_of_large_scores_stays_within_range():
    for n_keys in (1, 8, 40, 63):
        score = np.array([0, 1.0, 1e30, 1e85])
        found = dis_scores(score, n_keys, 10, 0.01)
        assert np.isfinite(found).all()
        assert found[0] == 0
        assert (found[1:] >= 0).all()
        assert (found <= 1).all()
    assert dis_scores(np.zeros(3), 4, 10, 0.01).tolist() == [0, 0, 0]
    assert dis_scores(np.array([0, 2.0]), 4, 10, 1.0).tolist() == [0, 1]


def test_unscored_uniques_are_counted_with_a_note():
    result = suda(FRAME, keys=KEYS, scoring="ihsn")
    assert (result.unscored_uniques, result.records["n_msu"].to_list()) == (3, [1, 1, 1, 0, 0])
    assert result.records["suda_score"].to_list() == [0.0] * 5
    assert "not safe" in result.notes["unscored_uniques"]
    assert all(math.isnan(share) for share in result.contributions.values())
    assert all(math.isnan(share) for part in result.level_contributions.values() for share in part.values())
    assert "nothing to share out" in result.notes["contributions"]
    assert result.to_dict()["figures"]["contributions"] == {"sex": None, "job": None}


def test_no_uniques_are_scores_of_zero():
    with quiet():
        same = suda(pl.DataFrame({"a": [1] * 5, "b": [2] * 5}), keys=["a", "b"])
        two = suda(pl.DataFrame({"a": [1, 1, 2, 2]}), keys=["a"])
    for result in (same, two):
        assert (result.sample_uniques, result.dis, result.notes["dis"]) == (0, 0.0, NO_UNIQUES)
        assert set(result.records["dis_score"].to_list()) == set(result.records["suda_score"].to_list()) == {0}
    assert (same.pairs, two.pairs) == (0, 4)


def test_no_pairs_and_one_record():
    with quiet():
        one = suda(pl.DataFrame({"a": [1], "b": [2]}), keys=["a", "b"])
    assert (one.dis, one.notes["dis"]) == (1.0, NO_PAIRS)
    assert one.msu_counts == {1: 2, 2: 0}
    assert one.records.row(0) == (2.0, 1.0, 2, 1)


def test_levels_far_apart_are_no_burden():
    near = FRAME.with_columns(a=pl.Series([0, 1, 2, 0, None]), b=pl.Series([1, 1, 2, 2, 2]))
    far = near.with_columns(pl.col("a") * 1_000_000_000)
    for missing in ("wildcard", "category"):
        left, right = (suda(data, keys=["a", "b"], missing=missing) for data in (near, far))
        assert left.to_dict() == right.to_dict()
        spread = {level.removesuffix("0" * 9) or "0": share for level, share in right.level_contributions["a"].items()}
        assert spread == left.level_contributions["a"]


def test_steps_are_told():
    told = []
    suda(FRAME, keys=ALL, max_size=2, step=told.append)
    assert told == ["key subsets of size 1", "key subsets of size 2"]


@pytest.mark.parametrize("max_size", [0, -1, 3, 1.0, True, "2"])
def test_max_size_out_of_range(max_size):
    with pytest.raises(DataError, match="give a whole number from 1 to 2"):
        suda(FRAME, keys=KEYS, max_size=max_size)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"keys": KEYS, "scoring": "sdc"}, DataError, "scoring 'sdc' is unknown; there are: elliot, ihsn"),
        ({"keys": KEYS, "sampling_fraction": 0}, DataError, r"a number in \(0, 1\]"),
        ({"keys": KEYS, "sampling_fraction": 1.5}, DataError, r"a number in \(0, 1\]"),
        ({"keys": KEYS, "sampling_fraction": math.nan}, DataError, r"a number in \(0, 1\]"),
        ({"keys": ["sex", "jobs"]}, ColumnError, "jobs"),
        ({}, ScenarioError, "keys"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        suda(FRAME, **arguments)


def test_a_key_of_only_missing_values():
    frame = FRAME.with_columns(none=pl.Series([None] * 5, dtype=pl.String))
    with pytest.raises(DataError, match="none"):
        suda(frame, keys=["sex", "none"])


def test_persons():
    with pytest.raises(DataError, match="one row per person first"):
        suda(FRAME, scenario=Scenario(keys=KEYS, person="n"))


def test_number_of_keys():
    rng = np.random.default_rng(64)
    wide = pl.DataFrame({f"k{j}": rng.integers(0, 2, 40) for j in range(64)})
    with pytest.raises(DataError, match="64 keys are too many: special uniques are searched in at most 63"):
        suda(wide, keys=wide.columns)
    assert suda(wide, keys=wide.columns[:63], max_size=2).msu_counts[1] == 0


def test_a_search_beyond_memory_is_refused_with_the_size_that_fits():
    rng = np.random.default_rng(5)
    wide = pl.DataFrame({f"k{j}": rng.integers(0, 9, 2000) for j in range(40)})
    with pytest.raises(DataError, match=r"up to 40 of 40 keys may need .* GB for 2000 cells; max_size=\d+ fits"):
        suda(wide, keys=wide.columns)


def test_records_by_their_dis_score():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.integers(0, 6, 300) for name in "abcd"})
    found = suda(frame, keys=list("abcd"), sampling_fraction=0.05)
    scores = found.records["dis_score"].to_numpy()
    assert found.dis_above([0.0, 0.02, 0.5]) == {one: int((scores > one).sum()) for one in (0.0, 0.02, 0.5)}
    edges = [0, 0.01, 0.03, 1]
    assert found.dis_histogram(edges) == tuple(
        int(((scores > low) & (scores <= high)).sum()) for low, high in itertools.pairwise(edges)
    )
    assert sum(found.dis_histogram()) == int((scores > 0).sum()) > 0
    for wrong in ([0.1, 1], [0, 1, 0.5], [0]):
        with pytest.raises(DataError, match="ascending"):
            found.dis_histogram(wrong)
    with pytest.raises(DataError, match="thresholds"):
        found.dis_above([2])


def test_the_density_of_dis_scores_is_over_all_records():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.integers(0, 6, 300) for name in "abcd"})
    found = suda(frame, keys=list("abcd"), sampling_fraction=0.05)
    density = found.dis_density(2000)
    at, height = density["score"].to_numpy(), density["density"].to_numpy()
    scores = found.records["dis_score"].to_numpy()
    assert np.trapezoid(height, at) == pytest.approx(1, abs=0.005)
    assert np.trapezoid(at * height, at) == pytest.approx(scores.mean(), abs=0.002)
    assert len(found.dis_density()) == 512
    with pytest.raises(DataError, match="points"):
        found.dis_density(1)
    with pytest.raises(DataError, match="every DIS score is 0"):
        suda(pl.DataFrame({"a": [1, 1, 2, 2]}), keys=["a"]).dis_density()


def test_a_density_is_drawn_inside_only():
    rng = np.random.default_rng(4)
    found = suda(pl.DataFrame({name: rng.integers(0, 6, 300) for name in "abcd"}), keys=list("abcd"))
    with pytest.raises(DataError, match="internal=True draws it"):
        found.plot(density=True)
    with pytest.raises(DataError, match="density is True or False"):
        found.plot(density=1)
    (rows,) = found.plot(density=True, internal=True).to_dict()["datasets"].values()
    assert [row["y"] for row in rows] == found.dis_density()["density"].to_list()


# A density against SciPy, and the bandwidth against R's rule.


def test_the_density_is_that_of_scipy():
    rng = np.random.default_rng(3)
    values, size = rng.normal(0, 2, 40), rng.integers(1, 5, 40)
    at, found = kernel_density(values, size, 0.7, 60)
    every = np.repeat(values, size)
    expected = gaussian_kde(every, bw_method=0.7 / every.std(ddof=1))(at)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert at[0] == pytest.approx(values.min() - 2.1)
    assert at[-1] == pytest.approx(values.max() + 2.1)


def test_the_area_is_one():
    at, found = kernel_density(np.array([0.0, 0.5]), np.array([9, 1]), 0.05, 512)
    assert np.trapezoid(found, at) == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize(
    ("values", "quartiles", "expected"),
    [
        # Silverman's rule as in the documentation of bw.nrd0:
        # 0.9 * min(sd, IQR / 1.34) * n ^ -0.2; sd where the quartiles are equal, else the first value, else 1.
        ([1.0, 2, 4, 7, 11], (2.0, 7.0), 0.9 * 5 / 1.34 * 5**-0.2),
        ([0.0, 0, 0, 0, 3], (0.0, 0.0), 0.9 * 1.8**0.5 * 5**-0.2),
        ([5.0, 5], (5.0, 5.0), 0.9 * 5 * 2**-0.2),
        ([0.0, 0], (0.0, 0.0), 0.9 * 2**-0.2),
        ([2.0], (2.0, 2.0), 0.9 * 2),
    ],
)
def test_the_bandwidth_follows_the_rule(values, quartiles, expected):
    found, size = np.unique(values, return_counts=True)
    assert bandwidth(found, size, quartiles) == pytest.approx(expected)


def test_the_histogram_of_dis_scores_is_drawn_beside_that_before():
    before = suda(FRAME, keys=ALL, sampling_fraction=0.1)
    with quiet():
        after = suda(FRAME.with_columns(job=pl.lit("a")), keys=ALL, sampling_fraction=0.1)
    chart = after.plot(dis=True, before=before, internal=True).to_dict()
    shown = rows_in(chart)
    labels = [f"{low:g} to {high:g}" for low, high in itertools.pairwise((0, 0.01, 0.05, 0.1, 0.2, 0.5, 1))]
    assert [row["label"] for row in shown] == [f"{label}, {when}" for label in labels for when in ("before", "after")]
    assert [row["text"] for row in shown[::2]] == [str(n) for n in before.dis_histogram()]
    assert [row["text"] for row in shown[1::2]] == [str(n) for n in after.dis_histogram()]
    assert sum(before.dis_histogram()) > sum(after.dis_histogram())
    alone = rows_in(after.plot(dis=True, internal=True).to_dict())
    assert [row["label"] for row in alone] == labels


def rows_in(chart):
    """The rows that a chart of bars draws."""
    (rows,) = chart["datasets"].values()
    return rows


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"dis": True}, "dis"),
        ({"dis": True, "density": True, "internal": True}, "dis"),
        ({"dis": "yes"}, "dis"),
        ({"before": "itself", "internal": True}, "before"),
        ({"before": "other", "dis": True, "internal": True}, "before"),
    ],
)
def test_pictures_that_cannot_be_drawn(options, argument):
    result = suda(FRAME, keys=ALL)
    others = {"itself": result, "other": suda(FRAME.head(4), keys=KEYS)}
    with pytest.raises(DataError) as caught:
        result.plot(
            **{name: others.get(value, value) if name == "before" else value for name, value in options.items()}
        )
    assert caught.value.argument == argument
