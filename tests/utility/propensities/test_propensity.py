"""The figures and options of the propensity; that they are right is shown in golden/ and laws/."""

from __future__ import annotations

import math
import pickle

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from designs import dense
from plans import on_frames
from releases import original, release, scenario
from sdckit import Scenario, propensity
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError
from sdckit.utility.propensities.classifiers import Atom, Stacked, stack
from sdckit.utility.propensities.propensity import (
    Null,
    Plan,
    analytic_null,
    classified,
    design_of,
    logistic,
    mean_squared_error,
    null_figures,
    permuted,
    resampled_null,
    score_figures,
)

FILES = original(), release()
VARIABLES = ["sex", "age", "region", "income", "ill"]


def measured(files=FILES, **options):
    return propensity(*files, **{"variables": VARIABLES, "numeric": ["age", "income"], **options})


def test_a_table_by_hand():
    one = pl.DataFrame({"sex": ["f"] * 30 + ["m"] * 10})
    two = pl.DataFrame({"sex": ["f"] * 8 + ["m"] * 12})
    found = propensity(one, two)
    c, p = 1 / 3, (8 / 38, 12 / 22)
    pmse = (38 * (p[0] - c) ** 2 + 22 * (p[1] - c) ** 2) / 60
    assert found.pmse == pytest.approx(pmse, rel=1e-12)
    assert found.expected_pmse == pytest.approx((1 - c) ** 2 * c / 60)
    assert found.ratio == pytest.approx(pmse / ((1 - c) ** 2 * c / 60))
    assert found.standardised == pytest.approx((found.ratio - 1) / math.sqrt(2))
    assert found.specks == pytest.approx(30 / 40 - 8 / 20)
    assert found.po50 == pytest.approx((30 + 12) / 60 - 0.5)
    assert found.u == 8 * 30 / 2 + 12 * 30 + 12 * 10 / 2
    assert found.auc == pytest.approx(found.u / 800)
    assert found.n_parameters == 2
    assert found.importance.rows() == [("sex", pytest.approx(pmse / (c * (1 - c))))]
    assert found.coefficients.rows() == [
        (1, "(intercept)", pytest.approx(math.log(8 / 30))),
        (1, "sex=m", pytest.approx(math.log(12 / 10) - math.log(8 / 30))),
    ]


def test_proper_synthesis_expects_more():
    fitted, proper = measured(), measured(null="proper")
    assert proper.ratio == pytest.approx(fitted.ratio / 2)
    assert proper.standardised != pytest.approx(fitted.standardised)
    assert (fitted.null, proper.null) == ("fitted", "proper")


def test_several_releases_of_different_size():
    parts = [FILES[1], FILES[1][:100], FILES[0]]
    found = measured((FILES[0], parts))
    assert found.m == 3
    alone = [measured((FILES[0], part)) for part in parts]
    for name in found.figures:
        values = [getattr(one, name) for one in alone]
        assert [one[name] for one in found.per_release] == pytest.approx(values, abs=1e-15), name
        assert getattr(found, name) == pytest.approx(np.mean(values), abs=1e-15)
    assert found.by_release["release"].to_list() == [1, 2, 3]
    assert found.spread["pmse"][0] == pytest.approx(0.0, abs=1e-20)
    assert found.notes["released"].startswith("1 of 3 releases")
    assert found.coefficients["release"].unique().to_list() == [1, 2, 3]


def test_notes_say_which_release():
    far = FILES[1].with_columns(income=pl.col("income") + 10.0**6)
    found = measured((FILES[0], [FILES[1], far]))
    assert found.notes["separation"].startswith("release 2: 480 records are told apart for sure")
    assert found.per_release[1]["pmse"] == pytest.approx(0.25)
    assert measured((FILES[0], [far, far])).notes["separation"].startswith("480 records")


def test_missing_on_one_side_only():
    gone = FILES[1].with_columns(
        region=pl.when(pl.col("region") == "west").then(None).otherwise(pl.col("region")),
        income=pl.when(pl.col("income") > 12_000).then(None).otherwise(pl.col("income")),
    )
    found = measured((FILES[0], gone))
    assert 0.01 < found.pmse < 0.25
    assert found.notes["separation"]
    assert set(found.importance["variable"][:2]) == {"region", "income"}
    assert "(missing)" in " ".join(found.coefficients["term"])
    assert "level of its own" in found.missing_rule


def test_interactions():
    one, two = measured(), measured(interactions=2)
    # income, age, sex, ill: 1 column each; region: 3
    assert one.n_parameters == 1 + 4 + 3
    assert two.n_parameters == 1 + 7 + 6 + 4 * 3
    assert two.pmse > one.pmse


def test_a_tree_and_another_classifier():
    tree = measured(model="cart", seed=3, resamples=4)
    assert (tree.model, tree.null) == ("cart", "permutation")
    assert tree.figures == measured().figures
    assert tree.pmse > tree.expected_pmse > 0
    assert tree.coefficients.height == 0
    assert tree.importance["importance"].sum() == pytest.approx(1.0)
    assert math.isnan(tree.n_parameters)
    again = measured(model="cart", seed=3, resamples=4)
    assert (again.pmse, again.expected_pmse) == (tree.pmse, tree.expected_pmse)
    forest = RandomForestClassifier(5, min_samples_leaf=5)
    found = [measured(model=forest, seed=seed, resamples=2).pmse for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_the_seed_fixes_the_permutations():
    found = [measured(null="permutation", resamples=3, seed=seed).expected_pmse for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("options", [{}, {"model": "cart"}, {"null": "permutation"}])
def test_the_order_of_records_does_not_matter(options):
    mixed = [frame.sample(fraction=1.0, shuffle=True, seed=1) for frame in FILES]
    one, two = (measured(files, seed=1, resamples=3, **options) for files in (FILES, mixed))
    for name in one.figures:
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-9, nan_ok=True), name


@on_frames
def test_on_every_engine(make):
    found = measured((make(FILES[0]), make(FILES[1])), interactions=2)
    expected = measured(interactions=2)
    for name in found.figures:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12), name
    names = nw.from_native(found.importance)["variable"].to_list()
    assert names == expected.importance["variable"].to_list()


def test_a_pair_and_a_scenario():
    pair = open_pair(*FILES, categories={"keys": ["sex", "region"]}, numeric={"numeric": ["income"]}, aligned=True)
    found = propensity(pair, variables=["sex", "region", "income"])
    assert found.ratio > 0
    declared = propensity(*FILES, scenario=scenario(weight="w"), id="pid")
    assert declared.variables == ("sex", "age", "region", "income", "ill")
    assert declared.notes["ratio"].startswith("rows correspond")
    assert math.isnan(declared.ratio)
    assert declared.n_parameters > 10  # age is not declared as a number
    apart = propensity(*FILES, scenario=Scenario(keys=["sex"], weight="w"), id="pid")
    assert apart.ratio > 0


def test_the_result_without_the_data():
    found = pickle.loads(pickle.dumps(measured()))
    assert found.pmse == measured().pmse
    with pytest.raises(DataError, match="let go of the data"):
        _ = found.importance


def test_the_dictionary_names_no_level():
    found = measured().to_dict()
    assert found["figures"]["pmse"] == measured().pmse
    assert "north" not in str(found)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"model": "tree"}, DataError, "model 'tree' is unknown"),
        ({"model": "cart", "null": "fitted"}, DataError, "is a formula for model='logit'"),
        ({"model": "cart", "interactions": 2}, DataError, "interactions= is for model='logit'"),
        ({"null": "posterior"}, DataError, "null 'posterior' is unknown; there are: fitted, proper"),
        ({"interactions": 0}, DataError, "interactions is .* a whole number of 1 or more"),
        ({"interactions": True}, DataError, "interactions is .* a whole number"),
        ({"resamples": 1}, DataError, "resamples counts .* a whole number of 2 or more"),
        ({"variables": ["sxe"], "numeric": None}, ColumnError, "did you mean 'sex'"),
    ],
)
def test_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        measured(**options)


# One release: what the model finds is turned into figures, importances and notes.


NAMES, NUMERIC = ["sex", "region", "income"], ["income"]
RELEASE_FILES = original(), release().with_columns(pl.col("income") * 1.1)


def stacked(*, scale, files=RELEASE_FILES, names=NAMES):
    pair = open_pair(
        *files,
        categories={"v": [name for name in names if name not in NUMERIC]},
        numeric={"n": [name for name in NUMERIC if name in names]},
    )
    return stack(pair, 0, names, [name for name in NUMERIC if name in names], scale=scale)


def plan(**options):
    given = {
        "interactions": 1, "null": "permutation", "aligned": False, "resamples": 20,
        "rng": np.random.default_rng(5),
    }  # fmt: skip
    return Plan(**{**given, **options})


def test_the_logistic_model_and_that_of_scikit_learn():
    ours = logistic(stacked(scale=True), plan(null="fitted"))
    theirs = classified(stacked(scale=True), plan(), LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000))
    for name in ("pmse", "specks", "po50", "auc"):
        assert theirs.figures[name] == pytest.approx(ours.figures[name], rel=1e-5)
    assert ours.figures["n_parameters"] == 1 + 1 + 3 + 1
    assert math.isnan(theirs.figures["n_parameters"])
    assert theirs.figures["expected_pmse"] == pytest.approx(ours.figures["expected_pmse"], rel=0.4)
    assert max(ours.importance, key=ours.importance.get) == "income"
    assert max(theirs.importance, key=theirs.importance.get) == "income"
    assert [name for name, _ in ours.coefficients][:3] == ["(intercept)", "sex=m", "region=north"]
    assert theirs.coefficients == ()


def test_permutation_and_formula_agree():
    by_formula = logistic(stacked(scale=True), plan(null="fitted")).figures
    dealt = logistic(stacked(scale=True), plan(resamples=100)).figures
    assert dealt["expected_pmse"] == pytest.approx(by_formula["expected_pmse"], rel=0.25)
    assert dealt["pmse"] == pytest.approx(by_formula["pmse"], rel=1e-12)


def test_aligned_files_have_no_ratio():
    found = logistic(stacked(scale=True), plan(null="fitted", aligned=True))
    assert math.isnan(found.figures["ratio"])
    assert math.isnan(found.figures["standardised"])
    assert found.figures["expected_pmse"] > 0
    assert found.notes["ratio"].startswith("rows correspond")
    tree = classified(stacked(scale=False), plan(aligned=True), DecisionTreeClassifier(random_state=1))
    assert math.isnan(tree.figures["expected_pmse"])
    assert tree.notes["expected_pmse"].startswith("rows correspond")


def test_records_told_apart_for_sure():
    files = (
        RELEASE_FILES[0],
        RELEASE_FILES[1].with_columns(
            region=pl.when(pl.col("region") == "west").then(pl.lit("far")).otherwise(pl.col("region"))
        ),
    )
    found = logistic(stacked(scale=True, files=files), plan(null="fitted"))
    west = sum(int((frame["region"] == name).sum()) for frame, name in zip(files, ("west", "far"), strict=True))
    assert found.notes["separation"].startswith(f"{west} records are told apart for sure")
    assert 0 < found.figures["pmse"] < 0.25
    assert max(found.importance, key=found.importance.get) == "region"
    assert all(math.isfinite(value) for value in found.importance.values())


def test_a_fit_that_does_not_end_is_said(monkeypatch):
    from sdckit.utility.propensities import logit_fit

    monkeypatch.setattr(logit_fit, "STEPS", 1)
    found = logistic(stacked(scale=True), plan(null="fitted"))
    assert found.notes["convergence"].startswith("scores still changed by ")


def test_nothing_varies():
    files = pl.DataFrame({"sex": ["f"] * 4}), pl.DataFrame({"sex": ["f"] * 2})
    for found in (
        logistic(stacked(scale=True, files=files, names=["sex"]), plan(null="fitted")),
        classified(stacked(scale=False, files=files, names=["sex"]), plan(), DecisionTreeClassifier()),
    ):
        assert (found.figures["pmse"], found.figures["auc"]) == pytest.approx((0.0, 0.5))
        assert math.isnan(found.figures["ratio"])
        assert found.notes["ratio"]
        assert found.notes["constant"] == "a single value in both files, so of no use here: sex"
        assert found.importance == {"sex": 0.0}


def test_a_model_that_does_not_say_what_it_goes_by():
    found = classified(stacked(scale=False), plan(resamples=2), KNeighborsClassifier())
    assert found.importance is None


def test_warnings_of_a_model_are_said():
    found = classified(stacked(scale=False), plan(resamples=2), LogisticRegression(max_iter=1))
    assert found.notes["model"] == "it warned while it was fitted: ConvergenceWarning (1)"


# Terms of the logistic model.


def design_stacked(levels=(3, 2), values=1, n=24):
    rng = np.random.default_rng(2)
    atoms = [Atom(f"c{j}", "level", tuple(f"={i}" for i in range(1, width)), j) for j, width in enumerate(levels)]
    atoms += [Atom(f"v{j}", "value", ("",), j) for j in range(values)]
    codes = np.array([rng.integers(0, width, n) for width in levels], np.int32).reshape(len(levels), n)
    return Stacked(tuple(atoms), codes, rng.normal(size=(values, n)), np.ones(n), np.ones(n), ())


def test_the_columns_are_products():
    rows = design_stacked()
    design, terms = design_of(rows, 3)
    found = dict(zip(terms.labels(rows), dense(design).T, strict=True))
    a1, a2, b, x = rows.codes[0] == 1, rows.codes[0] == 2, rows.codes[1] == 1, rows.values[0]
    expected = {
        "(intercept)": np.ones(24), "c0=1": a1, "c0=2": a2, "c1=1": b, "v0": x,
        "c0=1:c1=1": a1 * b, "c0=2:c1=1": a2 * b, "c0=1:v0": a1 * x, "c0=2:v0": a2 * x, "c1=1:v0": b * x,
        "c0=1:c1=1:v0": a1 * b * x, "c0=2:c1=1:v0": a2 * b * x,
    }  # fmt: skip
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name] == pytest.approx(column.astype(float))
    assert terms.n_columns == design.n_columns == 12
    assert terms.variables(rows)[7] == {"c0", "v0"}


def test_no_more_interactions_than_variables():
    rows = design_stacked(levels=(2, 2), values=0)
    assert design_of(rows, 9)[0].n_columns == 4


def test_nothing_varies_of_propensity_design():
    design, terms = design_of(design_stacked(levels=(), values=0), 2)
    assert dense(design).tolist() == [[1.0]] * 24
    assert terms.labels(design_stacked(levels=(), values=0)) == ["(intercept)"]


def test_too_many_coefficients_are_refused_before_they_are_listed():
    with pytest.raises(DataError, match=r"more than 4000: 'c0' alone has 50 levels; leave it out"):
        design_of(design_stacked(levels=(50,) * 30), 5)


# What is expected under correct synthesis; that it is right is shown by simulation in laws/.


ROWS = Stacked(
    (Atom("c", "level", ("=b", "=c"), 0),), np.array([[0, 1, 2]], np.int32), np.empty((0, 3)),
    np.array([3.0, 4.0, 1.0]), np.array([1.0, 1.0, 2.0]), (),
)  # fmt: skip


def test_the_formula():
    null = analytic_null(5, 300, 100, proper=False)
    assert null.expected == pytest.approx(4 * 0.75**2 * 0.25 / 400)
    assert null.sd == pytest.approx(math.sqrt(8) * 0.75**2 * 0.25 / 400)
    proper = analytic_null(5, 300, 100, proper=True)
    assert (proper.expected, proper.sd) == pytest.approx((null.expected / 0.75, null.sd / 0.75))


def test_no_formula_where_nothing_varies():
    null = analytic_null(1, 300, 100, proper=False)
    assert math.isnan(null.expected)
    assert null.reason.startswith("no variable varies")
    assert all(math.isnan(value) for value in null_figures(0.0, null).values())


def test_memberships_are_dealt_among_records():
    rng = np.random.default_rng(1)
    drawn = np.array([permuted(ROWS, rng) for _ in range(4000)])
    assert (drawn.sum(axis=1) == 4).all()
    assert (drawn <= ROWS.total).all()
    assert drawn.mean(axis=0) == pytest.approx(ROWS.total / 3, abs=0.05)


def test_a_permutation_is_multiplied_by_the_share_of_the_original():
    def scores(released):
        return released / ROWS.total

    null, nothing = resampled_null(ROWS, scores, 2000, np.random.default_rng(2))
    # a saturated model: the mean over all deals of the squares, from the hypergeometric variance
    n, c = 12, 1 / 3
    mean = sum(size / n * c * (1 - c) / size * (n - size) / (n - 1) for size in ROWS.total)
    assert null.expected == pytest.approx((1 - c) * mean, rel=0.05)
    assert null.sd > 0
    assert nothing == 0


def test_a_model_that_finds_nothing():
    null, nothing = resampled_null(ROWS, lambda _: np.full(3, 1 / 3), 5, np.random.default_rng(3))
    assert nothing == 5
    assert math.isnan(null.expected)
    assert null.reason == "the model finds nothing in any permutation"


def test_figures():
    assert null_figures(0.5, Null(0.25, 0.125)) == {"expected_pmse": 0.25, "ratio": 2.0, "standardised": 2.0}
    assert math.isnan(null_figures(0.5, Null(0.25, 0.0))["standardised"])


# Figures of scores, against all pairs of records.


FIGURES_ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(FIGURES_ROWS)
def test_against_pairs_of_records(rows):
    original = [score / 8 for score, n, _ in rows for _ in range(n)]
    released = [score / 8 for score, _, n in rows for _ in range(n)]
    if not original or not released:
        return
    score, n, n_released = (np.array(column, float) for column in zip(*rows, strict=True))
    found = score_figures(score / 8, n, n_released)
    both = len(original) + len(released)
    c = len(released) / both
    assert found["pmse"] == pytest.approx(sum((p - c) ** 2 for p in original + released) / both)
    pairs = [(s > o) + (s == o) / 2 for s in released for o in original]
    assert found["u"] == sum(pairs)
    assert found["auc"] == pytest.approx(np.mean(pairs))
    right = sum(p > 0.5 for p in released) + sum(p <= 0.5 for p in original)
    assert found["po50"] == pytest.approx(right / both - 0.5)
    below = lambda file, at: np.mean([p <= at for p in file])  # noqa: E731
    assert found["specks"] == pytest.approx(
        max(abs(below(original, at) - below(released, at)) for at in original + released)
    )


def test_scores_that_differ_by_rounding_are_tied():
    one, two = np.array([0.5, 0.5 + 1e-15]), np.array([1.0, 0.0])
    found = score_figures(one, two, 1 - two)
    assert (found["u"], found["specks"], found["po50"]) == (0.5, 0.0, 0.0)


def test_pmse_is_largest_where_all_are_told_apart():
    original, released = np.array([3.0, 0.0]), np.array([0.0, 1.0])
    assert mean_squared_error(np.array([0.0, 1.0]), original, released) == pytest.approx(0.25 * 0.75)
