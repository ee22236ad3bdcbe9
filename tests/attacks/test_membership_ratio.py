"""Membership by the calibrated ratio: the curve, its interval, folds, releases, subgroups, and what is not judged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from needs import needs_reference
from sdckit import membership, synthesize
from sdckit.attacks.distances.density_ratio import FOLDS, SPREAD
from sdckit.attacks.membership import JUDGED, MOST, rate_at, roc
from sdckit.errors import DataError


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcdefgh"), n),
            "town": rng.choice(list("uvwxyz"), n),
            "kin": rng.choice(list("abcdefgh"), n),
            "home": rng.choice(list("abcdefgh"), n),
            "pay": rng.normal(size=n),
        }
    )


ORIGINAL, CONTROL = people(1_000, 1), people(1_000, 2)
COPIED = pl.concat([ORIGINAL[:300], people(700, 3)])
ALL = {"control": CONTROL, "seed": 1}


def test_equal_scores_are_one_step_of_the_curve():
    members, others = np.array([2.0, 2.0, 1.0, 0.0]), np.array([2.0, 1.0, 1.0, 0.0])
    false, true = roc(members, others)
    assert (false.tolist(), true.tolist()) == ([0, 0.25, 0.75, 1], [0, 0.5, 0.75, 1])
    assert [rate_at(members, others, fpr) for fpr in (0.125, 0.25, 0.5)] == [0.25, 0.5, 0.625]


def test_scores_that_differ_by_rounding_alone_are_equal():
    releases = [people(size, seed)[:, :2] for size, seed in ((250, 3), (310, 4))]
    scored = membership(ORIGINAL[:, :2], releases, control=CONTROL[:120, :2], score="ratio", seed=1).scored
    assert np.diff(np.unique([*scored.members, *scored.others])).min() > 1e-9


def test_a_number_as_large_as_can_be_is_no_error():
    large = [frame[:60].with_columns(pay=pl.Series([*frame["pay"][:59], 1e300])) for frame in (COPIED, ORIGINAL)]
    assert membership(large[1], large[0], control=CONTROL[:100], score="ratio", seed=1).scored.members.max() > 0


def test_a_release_that_holds_members_tells_them():
    result = membership(ORIGINAL, COPIED, **ALL)
    first, second = result.detections
    assert (first.fpr, second.fpr) == (0.01, 0.1)
    assert result.tpr == {0.01: first.tpr, 0.1: second.tpr}
    assert result.distance_tpr == {0.01: first.distance_tpr, 0.1: second.distance_tpr}
    assert result.tpr_multiple == first.tpr / JUDGED
    assert first.low <= first.excess <= first.high
    assert second.low > 0
    assert result.ratio_auc > 0.55
    assert result.strongest == ("ratio" if first.tpr > first.distance_tpr else "distance")
    assert "By the calibrated ratio" in result.verdict
    score = result.records["ratio_score"].to_numpy()
    assert score[:300].mean() > score[300:].mean() + 0.1


def test_the_cut_is_of_one_half_and_the_other_is_counted():
    result = membership(ORIGINAL, COPIED, **ALL)
    scored = result.scored
    assert scored.half.sum() == 500
    for rate in result.detections:
        assert (scored.others[scored.half] > rate.cut).mean() <= rate.fpr
        assert rate.false_alarms == (scored.others[~scored.half] > rate.cut).sum()
        assert (rate.called, rate.n_members, rate.n_others) == ((scored.members > rate.cut).sum(), 1_000, 500)


@pytest.mark.parametrize(("n", "judged"), [(1_000, [0.01, 0.1]), (998, [0.1]), (100, [0.1]), (99, [])])
def test_a_rate_is_judged_where_half_of_the_others_make_five_mistakes(n, judged):
    result = membership(ORIGINAL, COPIED, control=CONTROL[:n], seed=1)
    assert list(result.tpr) == judged
    assert np.isnan(result.tpr_multiple) == (n < 1_000)
    assert ("not judged" in result.notes.get("tpr_multiple", "")) == (n < 1_000)
    if n < 100:
        assert result.notes["ratio_auc"] == "not judged: the control file has 99 people, 100 are needed"
        assert np.isnan(result.ratio_auc)
        assert result.records["ratio_score"].is_nan().all()


def test_the_limit_has_its_rate_whether_asked_for_or_not():
    result = membership(ORIGINAL, COPIED, **ALL, fpr=[0.05])
    assert list(result.tpr) == [0.05]
    assert result.judged.fpr == JUDGED
    assert result.tpr_multiple == result.judged.tpr / JUDGED


def test_the_distance_figures_are_those_of_distance_alone():
    both, alone = (membership(ORIGINAL, COPIED, **ALL, score=score) for score in ("both", "distance"))
    assert both.per_release == alone.per_release
    assert np.isnan(alone.ratio_auc)
    assert alone.notes == {}
    assert alone.detections == ()


def test_by_the_ratio_alone():
    result = membership(ORIGINAL, COPIED, **ALL, score="ratio", n_attacks=1_000)
    assert result.auc == pytest.approx(result.ratio_auc, abs=1e-12)
    with pytest.raises(DataError, match="the ratio needs 100 people"):
        membership(ORIGINAL, COPIED, control=CONTROL[:99], score="ratio")


def test_several_releases_are_the_mean_of_their_logarithms():
    releases = [COPIED, people(800, 4)]
    together = membership(ORIGINAL, releases, **ALL)
    alone = [membership(ORIGINAL, [release, release], **ALL) for release in releases]
    scores = [result.records["ratio_score"].to_numpy() for result in (together, *alone)]
    # one factor differs: the range of a number is that of all files together
    categories = ["sex", "job", "town", "kin", "home"]
    files = [membership(ORIGINAL, some, **ALL, variables=categories) for some in (releases, *releases)]
    exact = [result.records["ratio_score"].to_numpy() for result in files]
    np.testing.assert_allclose(exact[0], (exact[1] + exact[2]) / 2, rtol=0, atol=1e-12)
    assert np.corrcoef(scores[0], (scores[1] + scores[2]) / 2)[0, 1] > 0.999


def test_subgroups_stand_at_the_cut_of_the_file():
    result = membership(ORIGINAL, COPIED, **ALL, by="sex")
    groups, scored, first = result.by_group, result.scored, result.detections[0]
    assert groups.columns[-8:-4] == ["tpr_0.01", "excess_0.01", "excess_0.01_low", "excess_0.01_high"]
    for sex, share in groups.select("sex", "tpr_0.01").iter_rows():
        own = (ORIGINAL["sex"] == sex).to_numpy()[scored.rows]
        assert share == pytest.approx((scored.members[own] > first.cut).mean())
    assert (groups["excess_0.01_low"] <= groups["excess_0.01_high"]).all()


def test_a_subgroup_without_others_has_no_excess():
    control = CONTROL.filter(pl.col("sex") == "f").head(450)
    groups = membership(ORIGINAL, COPIED, control=control, seed=1, by="sex").by_group
    (row,) = groups.filter(pl.col("sex") == "m").select("tpr_0.1", "excess_0.1").rows()
    assert row[0] >= 0
    assert np.isnan(row[1])


def test_one_variable_of_two_levels():
    """The score is known: shares of the level in the release, and in the control file without the person's fold."""
    original, released, control = (frame.select("sex") for frame in (ORIGINAL, COPIED, CONTROL))
    result = membership(original, released, control=control, seed=1)
    scores = result.records["ratio_score"].to_numpy()
    b = SPREAD
    for sex in ("f", "m"):
        q = (released["sex"] == sex).mean()
        own = np.unique(scores[(original["sex"] == sex).to_numpy()])
        assert len(own) <= FOLDS
        c = (np.exp(np.log((1 - b) * q + b * (1 - q)) - own) - b) / (1 - 2 * b)
        # the share of the level among the 800 of the other folds
        np.testing.assert_allclose(c * 800, np.round(c * 800), rtol=0, atol=1e-8)
        expected = np.log((1 - b) * q + b * (1 - q)) - np.log(
            (1 - b) * np.round(c * 800) / 800 + b * (1 - np.round(c * 800) / 800)
        )
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12)


def test_nobody_is_scored_against_a_reference_that_holds_them():
    """Every other has a name of their own: under the reference none is like them, so all have one score."""
    original, released, control = (pl.DataFrame({"name": [f"{file}{i}" for i in range(1_000)]}) for file in "orc")
    result = membership(original, released, control=control, variables=["name"], seed=1)
    np.testing.assert_allclose(result.scored.others, 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.scored.members, 0, rtol=0, atol=1e-12)


def test_no_more_people_are_scored_than_so_many():
    original, control = people(MOST + 10, 6).select("sex"), people(MOST + 20, 7).select("sex")
    result = membership(original, COPIED.select("sex"), control=control, n_attacks=10, seed=1)
    assert [rate.n_members for rate in result.detections] == [MOST, MOST]
    assert result.records["ratio_score"].is_nan().sum() == 10


@pytest.mark.parametrize("fpr", [[0], [1.0], 0.1, "0.1", [True]])
def test_rates_that_are_none(fpr):
    with pytest.raises(DataError, match="fpr"):
        membership(ORIGINAL, COPIED, **ALL, fpr=fpr)


def test_a_release_of_other_people_tells_nobody():
    """200 draws of three files: the curve is the diagonal, and the interval rarely lies above 0."""
    areas, above = [], 0
    for seed in range(200):
        original, released, control = (people(150, [seed, at]) for at in range(3))
        result = membership(original, released, control=control, seed=seed, n_attacks=1, fpr=[0.1])
        areas.append(result.ratio_auc)
        above += result.detections[0].low > 0
    assert np.mean(areas) == pytest.approx(0.5, abs=0.005)
    assert above / 200 <= 0.05


def test_the_census_teaching_file():
    """1,000 members and as many others of the file of 2011, synthesised here; means over five draws."""
    path = needs_reference() / "public" / "census2011.csv.gz"
    census = pl.read_csv(path, infer_schema=False).drop("Person ID", "Population Base")
    told = {leaf: [] for leaf in (5, 1)}
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(len(census))[:2_000].tolist()
        members, others = census[rows[:1_000]], census[rows[1_000:]]
        for leaf, rates in told.items():
            released = synthesize(members, seed=seed, min_leaf=leaf).data
            first = membership(members, released, control=others, seed=seed).detections[0]
            rates.append((first.tpr, first.distance_tpr))
    ratio, distance = np.mean(told[5], axis=0)
    assert 0.058 <= ratio <= 0.082
    assert 0.016 <= distance <= 0.026
    ratio, distance = np.mean(told[1], axis=0)
    assert 0.369 <= ratio <= 0.452
    assert 0.078 <= distance <= 0.135
