"""E4, E6 and E7 against sdcMicro 5.8.1: exact matrices, and distributions over many seeds, on its authors' file.

Where sdckit deliberately differs, and what is compared instead:

- addNoise takes `noise` as a percentage of the standard deviation for "additive", but of the covariance for
  "correlated"; here always of the standard deviation: 50 there is the root of one half here.
- "correlated2" draws independent noise there, which shrinks covariances; here noise with those of the data. Means
  and variances are compared.
- "restr" adds no noise there; here it is refused.
- rankSwap takes P for a fraction, though it says percent (P = 15 there swaps over the whole file), and replaces 5
  percent at either end by their means even so; here a percentage, and no ends unless asked. With the window of a
  whole file and both ends the figures agree.
- The shuffle has no case there; its figures are worked out by hand.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from sdckit import add_noise, pram, rank_swap, shuffle
from sdckit.errors import DataError

NUMBERS = ["expend", "income", "savings"]


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def testdata(reference):
    return pl.read_csv(reference / "data" / "testdata.csv", infer_schema_length=None)


def near(found, expected, spread, n_theirs, n_ours):
    """Whether two means over seeds differ by chance."""
    return np.abs(np.array(found) - expected) <= 4.5 * np.array(spread) * np.sqrt(1 / n_theirs + 1 / n_ours)


def test_the_invariant_matrix(reference, testdata):
    case = load(reference, "pram_invariant_matrix")
    given, expected = case["arguments"], case["expected"]
    stay = {given["variable"]: dict(zip(given["levels"], given["pds"], strict=True))}
    change = pram(testdata, columns=["roof"], pd=stay, alpha=given["alpha"], seed=1).change
    (matrix,) = change.secret["matrix"]["roof"]
    found = np.array([[matrix[a][b] for b in given["levels"]] for a in given["levels"]])
    assert found == pytest.approx(np.array(expected["Rs"]), abs=1e-12)
    counts = np.array(expected["counts"])
    assert counts @ found == pytest.approx(counts)


def test_drawn_and_given_matrices(reference, testdata):
    case = load(reference, "pram_testdata_roof")
    given, expected = case["arguments"], case["expected"]
    levels, drawn, fixed = expected["levels"], expected["random_pd"], expected["fixed_matrix"]
    frame = testdata.select("roof")

    def count(data):
        return [(data["roof"] == int(level)).sum() for level in levels]

    runs = [pram(frame, columns=["roof"], pd=given["pd"], alpha=given["alpha"], seed=seed) for seed in range(200)]
    changed = [run.change.changed["roof"] for run in runs]
    assert near(np.mean(changed), drawn["n_changed_mean"], drawn["n_changed_sd"], 200, 200)
    assert near(
        np.mean([count(run.data) for run in runs], axis=0), drawn["mean_counts"], drawn["sd_counts"], 200, 200
    ).all()
    matrix = {a: dict(zip(levels, row, strict=True)) for a, row in zip(levels, fixed["Rs_row_major"], strict=True)}
    runs = [pram(frame, columns=["roof"], matrix={"roof": matrix}, seed=seed) for seed in range(200)]
    assert near(
        np.mean([count(run.data) for run in runs], axis=0), fixed["mean_counts"], fixed["sd_counts"], 200, 200
    ).all()
    assert np.mean([run.change.changed["roof"] for run in runs]) == pytest.approx(fixed["n_changed_mean"], abs=7)


@pytest.mark.parametrize(
    ("method", "noise", "figures"), [("additive", 50, 9), ("correlated", 100 * np.sqrt(0.5), 9), ("correlated2", 10, 6)]
)
def test_noise_over_seeds(reference, testdata, method, noise, figures):
    expected = load(reference, "addNoise_testdata_distribution")["expected"][method]
    before = testdata.select(NUMBERS).to_numpy().astype(float)
    found = []
    for seed in range(40):
        after = add_noise(testdata, columns=NUMBERS, how=method, noise=noise, seed=seed).data.select(NUMBERS).to_numpy()
        between = np.corrcoef(after.T)
        found.append([
            *(after.mean(axis=0) - before.mean(axis=0)), *(after.std(axis=0) / before.std(axis=0)),
            between[0, 1], between[0, 2], between[1, 2],
        ])  # fmt: skip
    agree = near(np.mean(found, axis=0), expected["mean"], expected["sd"], 40, 40)
    assert agree[:figures].all()
    spread = np.std(found, axis=0, ddof=1)[3:figures]
    # a deviation over 40 seeds is itself uncertain by a ninth, on either side
    assert spread == pytest.approx(np.array(expected["sd"])[3:figures], rel=0.6)


def test_no_noise_is_refused(testdata):
    with pytest.raises(DataError, match="'restr' adds no noise"):
        add_noise(testdata, columns=NUMBERS, how="restr")


def test_ranks_over_seeds(reference, testdata):
    expected = load(reference, "rankSwap_testdata_distribution")["expected"]
    columns = ["age", "income", "expend"]
    found = []
    for seed in range(25):
        data, change = rank_swap(testdata, columns=columns, p=100, top=5, bottom=5, seed=seed)
        shift = [(data[name].rank() - testdata[name].rank()).abs().max() for name in columns]
        correlation = np.corrcoef(data["age"], data["income"])[0, 1]
        found.append([correlation, *change.changed.values(), *shift])
    mean = dict(zip(expected["columns"], np.mean(found, axis=0), strict=True))
    theirs = dict(zip(expected["columns"], expected["mean"], strict=True))
    for name in ("income", "expend"):
        assert mean[f"n_changed_{name}"] == pytest.approx(theirs[f"n_changed_{name}"], abs=12)
        assert mean[f"max_rank_shift_{name}"] == pytest.approx(theirs[f"max_rank_shift_{name}"], rel=0.03)
    assert mean["n_changed_age"] == pytest.approx(theirs["n_changed_age"], rel=0.02)
    assert mean["cor_age_income_after"] == pytest.approx(theirs["cor_age_income_after"], abs=0.02)


def test_a_percentage_is_a_percentage(testdata):
    data, _ = rank_swap(testdata, columns=["income"], p=15, seed=1)
    order = np.argsort(testdata["income"].to_numpy(), kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    value = dict(zip(testdata["income"].to_list(), rank, strict=True))  # the last rank of equal values
    moved = np.array([value[one] for one in data["income"]]) - np.array([value[one] for one in testdata["income"]])
    assert 0.14 * len(order) < np.abs(moved).max() <= 0.15 * len(order) + 60  # ties share a rank


def test_shuffling_by_hand():
    """Ranks that agree wholly: the new scores are those of the given variable, and the order stays."""
    frame = pl.DataFrame({"age": [3, 1, 2, 5, 4], "pay": [300, 100, 200, 500, 400], "id": range(5)})
    data, change = shuffle(frame, columns=["pay"], given=["age"], seed=1)
    assert data.equals(frame)
    assert change.changed == {"pay": 0}
    turned = frame.with_columns(pay=-pl.col("pay"))
    assert shuffle(turned, columns=["pay"], given=["age"], seed=1).data.equals(turned)
    # Spearman 0.5 is 2 sin(pi / 12) = 0.5176 among normal scores
    x = np.random.default_rng(1).normal(size=(20_000, 2))
    pair = pl.DataFrame({"s": x[:, 0], "x": 0.5176 * x[:, 0] + np.sqrt(1 - 0.5176**2) * x[:, 1]})
    new = shuffle(pair, columns=["x"], given=["s"], seed=1).data
    assert np.corrcoef(new["s"].rank(), new["x"].rank())[0, 1] == pytest.approx(0.5, abs=0.02)
    assert abs(np.corrcoef(new["x"] - 0.5176 * new["s"], pair["x"] - 0.5176 * pair["s"])[0, 1]) < 0.03
