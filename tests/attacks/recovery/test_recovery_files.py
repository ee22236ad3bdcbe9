"""The files: everything is checked before any work, and rows are brought together."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from attacks.recovery.made import blanked, opened as guesses_opened
from sdckit.attacks.recovery.derived_columns import Household, column_predictors
from sdckit.attacks.recovery.recovery_files import Guessed, _of_a_mate, beyond, guess_values, recovery_files
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import ColumnError, DataError, ScenarioError

N = 60
WHOLE = pl.DataFrame({"id": np.arange(N), "x": np.arange(N) % 7, "t": list("abc") * 20, "w": np.arange(N) + 0.5})
HIDDEN = WHOLE.with_columns(x=pl.when(pl.int_range(N) < 5).then(None).otherwise("x"))


def roles(**given):
    return Roles((), given.get("weight"), None, given.get("household"), None, (), (), 1.0, given.get("id"))


def opened(released=HIDDEN, original=WHOLE, *, aligned=True, id=None, log=None, columns=None, named=None, **given):
    files, _ = recovery_files(
        released, original, roles=roles(id=id, **given), columns=columns, log=log, id=id, aligned=aligned,
        named=named or {},
    )  # fmt: skip
    return files


def test_row_by_row():
    (file,) = opened()
    assert list(file.touched) == ["x"]
    assert file.truth is not None
    assert file.truth["x"].numbers.tolist() == (np.arange(N) % 7).tolist()


def test_an_id_brings_rows_together():
    order = np.random.default_rng(1).permutation(N)
    (file,) = opened(HIDDEN[order], id="id")
    assert np.flatnonzero(file.touched["x"].touched).tolist() == np.flatnonzero(order < 5).tolist()
    assert file.truth is not None
    assert file.truth["x"].numbers.tolist() == (order % 7).tolist()


def test_rows_that_do_not_belong_together_are_not_compared():
    (file,) = opened(HIDDEN.sample(fraction=1, shuffle=True, seed=1), aligned=False)
    assert file.truth is None
    assert file.touched["x"].kinds[0] == "suppressed"


def test_what_is_looked_at():
    both = HIDDEN.with_columns(w=pl.when(pl.int_range(N) < 9).then(None).otherwise("w"))
    assert set(opened(both)[0].touched) == {"x", "w"}
    assert set(opened(both, weight="w")[0].touched) == {"x"}
    assert set(opened(both, weight="w", columns=["w"])[0].touched) == {"w"}


def test_several_releases():
    files = opened([HIDDEN, WHOLE])
    assert [list(file.touched) for file in files] == [["x"], []]


@pytest.mark.parametrize(
    ("kind", "words", "given"),
    [
        (ColumnError, "columns: no column 'tt'", {"columns": ["tt"]}),
        (ColumnError, "household: no column 'h'", {"named": {"household": "h"}}),
        (DataError, "log: it is of a file of 3 records", {"log": SimpleNamespace(n=3, steps=())}),
        (ScenarioError, r"log= is a RecipeLog; read the file with sdckit.RecipeLog\.read", {"log": "log.json"}),
        (DataError, "rows must belong together", {"original": WHOLE.head(9)}),
        (DataError, "no records", {"released": HIDDEN.head(0), "original": None}),
        (ColumnError, "id", {"id": "number"}),
    ],
)
def test_what_is_refused(kind, words, given):
    with pytest.raises(kind, match=words):
        opened(**given)


def test_rows_that_a_log_says_were_moved_are_compared_with_themselves():
    order = np.random.default_rng(1).permutation(N)
    log = SimpleNamespace(n=N, steps=(), rows=lambda _: order)
    mixed = HIDDEN[order.tolist()]
    (file,) = opened(mixed, log=log)
    assert file.touched["x"].touched.tolist() == mixed["x"].is_null().to_list()
    assert file.truth["x"].numbers.tolist() == WHOLE["x"][order.tolist()].to_list()
    (by_id,) = opened(mixed, log=log, id="id")
    assert by_id.touched["x"].touched.sum() == 5
    (plain,) = opened(log=SimpleNamespace(n=N, steps=(), rows=lambda _: None))
    assert plain.touched["x"].touched.sum() == 5


def test_the_truth_of_a_value_in_a_group_is_its_group():
    """Numbers became names: what is put back is a name, and right where it is that of the number's group."""
    number = np.arange(120) % 4
    home = pl.Series("home", np.arange(120) % 4 + 10 * (np.arange(120) % 3))
    whole = pl.DataFrame({"kin": number, "home": home})
    named = whole.with_columns(kin=pl.col("kin").replace_strict({0: "a", 1: "a", 2: "b", 3: "c"}))
    gone = pl.int_range(120) % 17 == 3
    blank = named.with_columns(kin=pl.when(gone).then(None).otherwise("kin"))
    found = sdc.recoverable_values(blank, whole, guess=False)
    (kin,) = (one for one in found.columns[0] if one.column == "kin")
    empty = blank["kin"].null_count()
    assert kin.restored == kin.right > 0
    by_group = sdc.recoverable_values(blank, named, guess=False)
    assert by_group.right == empty


# Guesses: what trees learn from the release, beside the most frequent value.


RNG = np.random.default_rng(1)
Y = RNG.integers(0, 8, 1500)


def guessed(x, share=0.2, **changes):
    whole = pl.DataFrame({"y": Y, "z": np.arange(1500) % 5, "x": x})
    hidden = blanked(whole, ["x"], share).with_columns(**changes)
    columns, one = guesses_opened(hidden, whole, "x")
    found = guess_values(one, list(column_predictors(columns, None)), seed=3)
    return found, one, whole["x"]


def codes(one, truth):
    place = {label: code for code, label in enumerate(one.target.column.labels(), 1)}
    return np.array([place[str(value)] for value in truth])


def test_categories_that_follow_from_others():
    found, one, truth = guessed([f"v{y // 2}" for y in Y])
    assert not found.is_number
    assert found.rows.tolist() == np.flatnonzero(one.target.touched).tolist()
    right = found.right(codes(one, truth)[found.rows])
    assert right.mean() > 0.95
    assert found.expected > 0.95
    usual = found.right(codes(one, truth)[found.rows], usual=True)
    assert usual.mean() == pytest.approx(0.25, abs=0.08)
    assert found.expected_usual == pytest.approx(np.bincount(one.known[one.known > 0]).max() / (one.known > 0).sum())


def test_numbers_are_right_when_near():
    found, _, truth = guessed(Y * 1000 + RNG.integers(0, 60, 1500))
    assert found.is_number
    assert found.right(truth.to_numpy()[found.rows]).mean() > 0.75
    assert found.right(truth.to_numpy()[found.rows], usual=True).mean() < 0.3
    near = Guessed(np.arange(3), np.array([100.0, 106.0, 0.4]), np.zeros(3), True, reach=10.0)
    assert near.right(np.array([104.9, 100.0, 0.0])).tolist() == [True, False, True]


def test_the_same_seed_gives_the_same():
    one, two = (guessed([f"v{y // 3}" for y in Y])[0] for _ in range(2))
    assert (one.model == two.model).all()


def test_too_little_to_learn_from():
    assert guessed([f"v{y}" for y in Y], share=0.99)[0] is None
    assert guessed([f"v{y}" for y in Y], share=1.1)[0] is None
    whole = pl.DataFrame({"x": ["a", "b"] * 100})
    columns, one = guesses_opened(blanked(whole, ["x"], 0.1), whole, "x")
    assert guess_values(one, list(column_predictors(columns, None)), seed=1) is None  # nothing beside it


def test_one_value_is_guessed_always():
    found, _, _ = guessed(["a"] * 1500)
    assert len(set(found.model.tolist())) == 1
    assert (found.model == found.usual).all()


def test_infinite_numbers_are_not_learnt_from():
    x = np.where(np.arange(1500) % 100 == 7, np.inf, Y * 10.0 + RNG.random(1500))
    found, _, _ = guessed(x)
    assert np.isfinite(found.model).all()


def test_perturbed_values_are_guessed_for_half_of_them():
    whole = pl.DataFrame({"y": Y, "x": [f"v{y // 2}" for y in Y]})
    columns, one = guesses_opened(whole.with_columns(pl.col("x").shuffle(seed=1)), whole, "x")
    found = guess_values(one, list(column_predictors(columns, None)), seed=1)
    assert found is not None
    assert len(found.rows) == one.target.touched.sum() // 2


def test_what_a_mate_has():
    home = np.array([0, 0, 1, 1, 1, 2, -1])
    whole = pl.DataFrame({"home": home, "x": ["a", "b", "c", "c", "d", "e", "f"]})
    _, one = guesses_opened(whole.with_columns(x=pl.when(pl.int_range(7) == 1).then(None).otherwise("x")), whole, "x")
    mates = Household("home", home.astype(np.int32), np.array([2, 3, 1]))
    found = _of_a_mate(one, mates)
    assert found[1] == one.known[0]
    assert found[0] == 0  # the only mate shows nothing
    assert found[2] in (one.known[3], one.known[4])
    assert found[5] == found[6] == 0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_interval_holds_the_difference(answers):
    model, usual = (np.array(part) for part in zip(*answers, strict=True))
    difference, low, high = beyond(model, usual, 0.95)
    assert difference == pytest.approx(model.mean() - usual.mean())
    assert -1 <= low <= high <= 1
    wider = beyond(model, usual, 0.99)
    assert wider[1] <= low
    assert high <= wider[2]


def test_the_interval_covers_what_is_so():
    """Matched pairs drawn a thousand times: 95 of 100 intervals hold the true difference."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        draws = rng.choice(4, 60, p=[0.4, 0.25, 0.1, 0.25])
        _, low, high = beyond((draws == 0) | (draws == 1), (draws == 0) | (draws == 2), 0.95)
        held += low <= 0.15 <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.025)
    assert all(np.isnan(one) for one in beyond(np.zeros(0, bool), np.zeros(0, bool), 0.95))


@pytest.mark.parametrize("left_out", [(), ("person",)])
def test_people_are_followed_by_values_where_identifiers_changed(left_out):
    """Wages of last year, most of them exact, lead from wave to wave; a year of birth was taken out in one."""
    rng, n, waves = np.random.default_rng(4), 150, 4
    who, year = np.repeat(np.arange(n), waves), np.tile(np.arange(waves), n)
    wage = rng.permutation(n * waves) * 7 + 10_000
    last = np.where(rng.random(n * waves) < 0.4, np.round(wage, -3), wage)
    whole = pl.DataFrame({"person": who, "year": year, "wage": wage, "born": rng.integers(1930, 1990, n)[who]})
    whole = whole.with_columns(before=pl.Series(last)).with_columns(pl.col("before").shift(1).over("person"))
    whole = whole.sample(fraction=1, shuffle=True, seed=1)
    blank = pl.when(pl.col("year") != 2).then("born").alias("born")
    out = whole.with_columns(blank, person=rng.permutation(n * waves)).drop(left_out)
    scenario = sdc.Scenario(keys=["born"], person="person", time="year", missing="category")
    result = sdc.recoverable_values(out, whole, scenario=scenario, guess=False, aligned=True)
    assert result.known > 0.7 * n
    assert any("wage" in words and "person" not in words.partition(":")[0] for words in result.advice)
    bare = sdc.recoverable_values(out.drop("before"), whole, scenario=scenario, guess=False, aligned=True)
    assert bare.known == 0
