"""`local_suppression`: k holds, little is taken, and nothing else is touched."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from statsmodels.datasets import fair

import brute
from draw import quiet
from homes import people
from protect.suppression_files import draw_rows, frame_of, frequencies, rows_of
from sdckit import ColumnError, DataError, Scenario, ScenarioError, k_anonymity, local_suppression
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.numerics import compiling
from sdckit.protect.suppression import local_suppression as module
from sdckit.protect.suppression.local_suppression import implied_notes, notes_of

KEYS = ["k0", "k1", "k2"]
ROWS = draw_rows(1, 60, (3, 4, 6))
FRAME = frame_of(ROWS).with_columns(income=pl.Series(np.arange(60.0)), s=pl.Series(["a", "b"] * 30))


def values(frame, name):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


ENGINES = {
    "polars": lambda: FRAME,
    "pyarrow": FRAME.to_arrow,
    "pandas": lambda: FRAME.to_pandas().set_index(np.arange(60)[::-1]),
    "pandas nullable": lambda: FRAME.to_pandas().convert_dtypes(),
    "pandas categories": lambda: FRAME.to_pandas().astype(dict.fromkeys(KEYS, "category")),
    "polars text": lambda: FRAME.with_columns(pl.col(KEYS).cast(pl.String)),
    "polars categories": lambda: FRAME.with_columns(pl.col(KEYS).cast(pl.String).cast(pl.Categorical)),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_values_go_on_every_engine(engine):
    frame = ENGINES[engine]()
    before = {name: values(frame, name) for name in [*KEYS, "income", "s"]}
    safe, change = local_suppression(frame, keys=KEYS, k=3)
    expected, other = local_suppression(FRAME, keys=KEYS, k=3)
    assert type(safe) is type(frame)
    assert change.changed == other.changed
    for name in KEYS:
        gone = [value is None for value in values(safe, name)]
        assert gone == expected[name].is_null().to_list()
        kept = [value for value, lost in zip(before[name], gone, strict=True) if not lost]
        assert [value for value in values(safe, name) if value is not None] == kept
    assert {name: values(frame, name) for name in before} == before
    assert values(safe, "income") == before["income"]
    if isinstance(frame, pd.DataFrame):
        assert safe.index.equals(frame.index)
        assert safe.columns.equals(frame.columns)
    elif isinstance(frame, pl.DataFrame):
        assert safe.schema == frame.schema
    else:
        assert safe.schema.types == frame.schema.types


def test_what_the_change_says():
    safe, change = local_suppression(FRAME, keys=KEYS, k=3, exact=False)
    assert (change.method, change.n, list(change.changed)) == ("local_suppression", 60, KEYS)
    assert change.changed == {name: safe[name].null_count() for name in KEYS}
    risky = sum(f < 3 for f in frequencies(ROWS))
    kept = sum(a == b for a, b, f in zip(ROWS, rows_of(safe, KEYS), frequencies(ROWS), strict=True) if f < 3)
    said = change.parameters
    assert (said["at_risk"], said["at_risk_unchanged"]) == (risky, kept)
    assert said["k"] == [{"keys": KEYS, "k": 3}]
    assert 1 <= said["lower_bound"] <= change.n_changed
    assert said["optimal"] == (said["lower_bound"] == change.n_changed)
    assert change.secret == {}
    assert set(change.notes) == {"check", "missing_rule", "lower_bound", "at_risk_unchanged", "n_implied"}
    assert 0 < said["n_implied"] < change.n_changed
    assert said["hide_implied"] is False
    assert change.to_dict()["parameters"]["alpha"] == 1


def test_a_file_that_holds_already():
    frame = pl.DataFrame({"a": [1, 1, 1], "b": [2, 2, 2]})
    safe, change = local_suppression(frame, keys=["a", "b"], k=3)
    assert safe.equals(frame)
    assert (change.n_changed, change.parameters["lower_bound"], change.parameters["optimal"]) == (0, 0, True)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_alpha(alpha):
    safe, change = local_suppression(FRAME, keys=KEYS, k=3, alpha=alpha)
    with quiet():
        assert k_anonymity(safe, keys=KEYS, k=3, alpha=alpha).level >= 3
    assert 1 <= change.parameters["lower_bound"] <= change.n_changed
    if alpha == 0:
        assert change.parameters["at_risk_unchanged"] == 0
        assert change.parameters["lower_bound"] == change.parameters["at_risk"]


def test_importance_decides_what_goes():
    rows = draw_rows(2, 400, (5, 5, 5))
    lost = {}
    for rank in ({"k0": 1, "k1": 2, "k2": 3}, {"k0": 3, "k1": 2, "k2": 1}):
        change = local_suppression(frame_of(rows), keys=KEYS, k=5, importance=rank).change
        order = [change.changed[name] for name in sorted(KEYS, key=lambda name: rank[name])]
        assert order == sorted(order)
        assert order[0] < order[2] / 4
        lost[rank["k0"]] = change.changed["k0"]
    assert lost[1] < lost[3]


def test_every_combination_reaches_its_k():
    change = None
    for asked in ({2: 6, 1: 12}, {("k0", "k2"): 10}, [(["k0", "k1"], 8), (["k2"], 15)]):
        safe, change = local_suppression(FRAME, keys=KEYS, k=2, combinations=asked)
        rows = rows_of(safe, KEYS)
        for one in change.parameters["k"]:
            at = [KEYS.index(name) for name in one["keys"]]
            assert min(frequencies([tuple(row[j] for j in at) for row in rows])) >= one["k"]
        assert change.parameters["lower_bound"] <= change.n_changed
    only = local_suppression(FRAME, keys=KEYS, combinations={2: 6}).change
    assert [one["keys"] for one in only.parameters["k"]] == [list(pair) for pair in combinations(KEYS, 2)]


def test_strata_stand_each_by_itself():
    safe, change = local_suppression(FRAME, keys=KEYS, k=3, strata="s")
    for part in ("a", "b"):
        rows = FRAME.filter(pl.col("s") == part)
        alone = local_suppression(rows, keys=KEYS, k=3, exact=False).data
        assert min(frequencies(rows_of(safe.filter(pl.col("s") == part), KEYS))) >= 3
        assert alone.height == 30
    assert change.parameters["strata"] == ["s"]
    assert safe["s"].equals(FRAME["s"])


@pytest.mark.parametrize("exact", ["auto", True])
def test_what_takes_out_no_more_than_it_must_needs_no_programme(exact, monkeypatch):
    monkeypatch.setattr("sdckit.protect.suppression.local_suppression.solve", None)
    rows = pl.DataFrame({"a": ["x"] * 5, "b": ["m", "m", "m", "n", "n"], "c": ["1", "1", "1", "1", "2"]})
    change = local_suppression(rows, keys=["a", "b", "c"], k=2, exact=exact).change
    assert (change.n_changed, change.parameters["lower_bound"]) == (1, 1)
    assert change.parameters["exact"]
    assert change.parameters["optimal"]


def test_a_small_file_is_solved_exactly():
    small = FRAME.head(10)
    greedy, exact = (local_suppression(small, keys=KEYS, k=2, exact=one).change for one in (False, True))
    assert exact.parameters["optimal"]
    assert exact.parameters["exact"]
    assert exact.parameters["lower_bound"] == exact.n_changed <= greedy.n_changed
    assert greedy.parameters["lower_bound"] <= exact.n_changed
    assert not greedy.parameters["exact"]


def test_a_record_that_lost_more_than_it_needed_alone_gets_the_bound_of_all_solutions(monkeypatch):
    usual = local_suppression(FRAME, keys=KEYS, k=3, exact=False).change
    monkeypatch.setattr(module, "_most", lambda start, needs: np.zeros(60, np.int64))
    change = local_suppression(FRAME, keys=KEYS, k=3, exact=False).change
    assert 1 <= change.parameters["lower_bound"] <= usual.parameters["lower_bound"]


def test_the_scenario_gives_what_is_not_given():
    scenario = Scenario(keys=KEYS, alpha=0.5, thresholds={"k": 4})
    safe, change = local_suppression(FRAME, scenario=scenario)
    assert change.parameters["alpha"] == 0.5
    assert change.parameters["k"] == [{"keys": KEYS, "k": 4}]
    assert safe.height == 60
    with pytest.raises(ScenarioError, match="missing keys for categories"):
        local_suppression(FRAME, scenario=Scenario(keys=KEYS, missing="category"), k=2)
    # the other rule is refused wherever people with several rows are counted: neither message leads to the other one
    with pytest.raises(ScenarioError, match=r"are not counted so: make keys coarser, or take values out by risk$"):
        local_suppression(FRAME, scenario=Scenario(keys=KEYS, person="who", missing="category"), k=2)
    gap = FRAME.with_columns(k0=pl.when(pl.col("income") == 4).then(None).otherwise("k0"))
    with pytest.raises(DataError, match=r"key 'k0' is missing in 1 record \(row 5\), and missing='error'"):
        local_suppression(gap, scenario=Scenario(keys=KEYS, missing="error"), k=2)


def test_a_result_that_does_not_hold_is_not_handed_back(monkeypatch):
    monkeypatch.setattr(module, "mend", lambda *_, **__: False)
    with pytest.raises(DataError, match="records stay below k"):
        local_suppression(FRAME, keys=KEYS, k=3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"k": 61}, DataError, "k = 61 is more than the 60 records"),
        ({"k": 1}, DataError, "2 or more"),
        ({"k": None}, DataError, "say which k"),
        ({"keys": ["k0", "kk"]}, ColumnError, "keys: no column 'kk' in the data"),
        ({"keys": None}, ScenarioError, "which variables an intruder knows"),
        ({"importance": {"income": 1}}, ColumnError, "'income' is not one of the keys"),
        ({"combinations": {("k0", "income"): 2}}, ColumnError, "'income' is not one of the keys"),
        ({"strata": "region"}, ColumnError, "strata: no column 'region'"),
        ({"strata": "k0"}, ScenarioError, "'k0' is a key"),
        ({"strata": ["s", "income"]}, DataError, r"60 of 60 have fewer than k = 3 records \(rows 1, 2, 3, 4, 5 and"),
        ({"alpha": 2}, DataError, "alpha is"),
        ({"exact": "yes"}, DataError, "exact is"),
        ({"exact": True, "alpha": 0.5}, DataError, "exact=True counts values"),
        ({"exact": True, "importance": KEYS}, DataError, "exact=True counts values"),
        ({"data": FRAME.lazy()}, DataError, "a plan"),
        ({"data": FRAME.head(0)}, DataError, "no records"),
        ({"data": FRAME.with_columns(k0=pl.lit(None, pl.Int64))}, DataError, "'k0' has no value in any record"),
    ],
)
def test_bad_input(change, error, message):
    call = {"data": FRAME, "keys": KEYS, "k": 3, **change}
    with pytest.raises(error, match=message):
        local_suppression(call.pop("data"), **call)


def test_too_large_for_what_is_asked(monkeypatch):
    wide = pl.DataFrame({f"k{j}": [1, 1] for j in range(61)})
    with pytest.raises(DataError, match="61 keys; local suppression takes at most 60"):
        local_suppression(wide, keys=wide.columns, k=2)
    monkeypatch.setattr(module, "solve", lambda *_: None)
    with pytest.raises(DataError, match="exact=True is for small files"):
        local_suppression(FRAME, keys=KEYS, k=3, exact=True)
    assert not local_suppression(FRAME.head(8), keys=KEYS, k=2).change.parameters["exact"]


def households(**more):
    data = people()
    return data, local_suppression(data, keys=["region", "size", "age", "sex"], k=5, household="home", **more)


@pytest.mark.parametrize("more", [
    {}, {"alpha": 0.0}, {"alpha": 0.5}, {"importance": ["age", "sex", "size", "region"]},
    {"combinations": {2: 6, 3: 5}}, {"strata": ["tenure"]}, {"together": [["region", "w"]]},
    {"together": [["age", "region"]]},
])  # fmt: skip
def test_mates_cannot_give_back_what_one_of_them_lost(more):
    data, (safe, change) = households(**more)
    for column in ("region", "size"):
        lost = safe.filter(safe[column].is_null() & data[column].is_not_null())["home"].unique()
        assert safe.filter(pl.col("home").is_in(lost.implode()))[column].is_null().all()
    keys, alpha = ["region", "size", "age", "sex"], more.get("alpha", 1.0)
    groups = [safe] if "strata" not in more else safe.partition_by("tenure")
    assert all(k_anonymity(part, keys=keys, k=5, alpha=alpha).violations == {5: 0} for part in groups)
    for column in change.changed:
        assert change.changed[column] == safe[column].null_count() - data[column].null_count()
    assert change.parameters["lower_bound"] <= change.n_changed
    assert {"region", "size"} <= set(change.parameters["household_variables"])


def test_households_cost_hardly_more_than_persons(monkeypatch):
    sought, usual = [], module.picking.find_choices
    monkeypatch.setattr(module.picking, "find_choices", lambda at, *rest: sought.append(at) or usual(at, *rest))
    data, (_, change) = households()
    assert [at is sought[0] for at in sought].count(True) == 1  # the bound and the solution share what they choose from
    alone = local_suppression(data, keys=["region", "size", "age", "sex"], k=5).change
    assert change.changed["region"] + change.changed["size"] > 0
    assert change.n_changed <= 1.15 * alone.n_changed
    assert change.parameters["lower_bound_alone"] == alone.parameters["lower_bound"]


def test_bounds_are_made_when_they_are_read(monkeypatch):
    """They took a quarter of a suppression by household, and a search for recipes reads none of them."""
    asked, usual = [], module.lower_bound
    monkeypatch.setattr(module, "bound_of", lambda at, *rest, **more: asked.append(at) or 7)
    monkeypatch.setattr(module, "lower_bound", lambda at, *rest: asked.append(at) or usual(at, *rest))
    for more in ({"alpha": 1.0}, {"alpha": 0.5}):
        _, (_, change) = households(**more)
        assert not asked
        assert (change.parameters["lower_bound"], change.parameters["optimal"]) == (7, False)
        assert len(asked) == 1 + ("lower_bound_alone" in change.parameters)
        asked.clear()
    plain = local_suppression(households()[0], keys=["region", "size", "age", "sex"], k=5, exact=False).change
    assert not asked
    assert 0 < plain.parameters["lower_bound"] <= plain.n_changed
    assert len(asked) == 1


def test_columns_that_tell_each_other_go_together():
    data = people().with_columns(born=2020 - 10 * pl.col("age"))
    safe, change = local_suppression(
        data, keys=["region", "age", "sex"], k=8, together=[["age", "born"], ["region", "w"]]
    )
    assert safe["age"].is_null().equals(safe["born"].is_null())
    assert change.changed["born"] == change.changed["age"] > 0
    assert safe["region"].is_null().equals(safe["w"].is_null())
    assert change.parameters["together"] == [["age", "born"], ["region", "w"]]


def test_a_size_takes_the_number_of_the_household_with_it():
    data = people()
    safe, _ = local_suppression(
        data, keys=["region", "size", "age", "sex"], k=5, household="home", together=[["size", "home"]]
    )
    assert safe["size"].null_count() > 0
    assert safe["home"].is_null().equals(safe["size"].is_null())


def test_the_household_comes_from_the_scenario_where_the_data_has_it():
    data, (safe, _) = households()
    scenario = Scenario(
        keys=["region", "size", "age", "sex"], household="home", household_variables=["region", "size", "tenure"],
        thresholds={"k": 5},
    )  # fmt: skip
    assert local_suppression(data, scenario=scenario).data.equals(safe)
    without = local_suppression(data.drop("home"), scenario=scenario).data
    assert without.equals(local_suppression(data.drop("home"), keys=list(scenario.keys), k=5).data)
    asked = local_suppression(data, scenario=scenario, household_variables=[]).data
    assert asked.drop("home").equals(without)


def test_an_exact_solution_is_not_of_households():
    with pytest.raises(DataError, match="no household"):
        households(exact=True)


@pytest.mark.parametrize("exact", [False, "auto", True])
@given(
    rows=st.lists(st.tuples(*[st.sampled_from([None, 0, 1, 2])] * 2), min_size=4, max_size=14), blank=st.integers(0, 3)
)
def test_records_that_lose_every_value_help_no_other(exact, rows, blank):
    """Two keys, so that many records have to lose both; k holds when counted anew, blank records apart."""
    rows = [(0, 0), *rows, *[(None, None)] * blank]
    frame = pl.DataFrame({f"k{j}": pl.Series([row[j] for row in rows], dtype=pl.Int64) for j in range(2)})
    with quiet():
        safe, change = local_suppression(frame, keys=["k0", "k1"], k=3, exact=exact)
    after = list(safe.iter_rows())
    assert min(brute.frequencies(after, [1.0] * len(after), [True, True], 1.0)[0]) >= 3
    assert sum(change.changed.values()) >= change.parameters["lower_bound"]


def test_what_follows_is_counted_and_hidden_on_every_engine():
    """The figures of the survey: 14 of 22 values follow at k = 5 on three keys, 5 of 354 at k = 3 on five."""
    survey = fair.load_pandas().data
    three, five = ["age", "children", "religious"], ["age", "yrs_married", "children", "religious", "educ"]
    for keys, k, lost, follow in ((three, 5, 22, 14), (five, 3, 354, 5)):
        change = local_suppression(survey, keys=keys, k=k).change
        assert (change.n_changed, change.parameters["n_implied"]) == (lost, follow)
        for frame in (survey, pl.from_pandas(survey), pa.Table.from_pandas(survey)):
            hidden = local_suppression(frame, keys=keys, k=k, hide_implied=True, seed=3)
            assert hidden.change.parameters["n_implied"] == 0
            assert lost < hidden.change.n_changed <= lost + follow
            assert k_anonymity(hidden.data, keys=keys, k=k).violations == {k: 0}


def test_where_it_is_not_counted_that_is_told(monkeypatch):
    from sdckit.protect.suppression import suppression_implied

    monkeypatch.setattr(suppression_implied, "LONGEST", 1)
    change = local_suppression(FRAME, keys=KEYS, k=3).change
    assert change.parameters["n_implied"] is None
    assert "not counted" in change.notes["n_implied"]
    hidden = local_suppression(FRAME, keys=KEYS, k=3, hide_implied=True, seed=1)
    assert hidden.change.parameters["n_implied"] is None
    with pytest.raises(DataError, match="hide_implied is True or False"):
        local_suppression(FRAME, keys=KEYS, k=3, hide_implied="yes")


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_a_small_file_loses_the_same_without_compiling(monkeypatch, alpha):
    def protected():
        found = local_suppression(FRAME, keys=KEYS, k=4, alpha=alpha, hide_implied=alpha == 1)
        return found.data.to_dicts(), {**found.change.to_dict(internal=True), "secret": None}  # which is drawn

    plain = protected()
    monkeypatch.setattr(compiling, "STEPS", -1)
    assert protected() == plain


# What else a reader must know of a local suppression.


def test_notes_say_what_holds():
    roles = resolve_roles(keys=["a", "b"])
    plain = notes_of(roles, untouched=False, bound=False)
    assert set(plain) == {"check", "missing_rule", "lower_bound"}
    assert "none more than it would need alone" in plain["lower_bound"]
    assert "at_risk_unchanged" in notes_of(roles, untouched=True, bound=False)
    assert "lower_bound_alone" in notes_of(roles, untouched=False, bound=True)["lower_bound"]


def test_what_follows_is_told_with_what_to_do_and_never_how_many():
    assert implied_notes(0, bound=False) == {}
    assert "not counted" in implied_notes(None, bound=False)["n_implied"]
    assert "hide_implied=True" in implied_notes(3, bound=False)["n_implied"]
    assert implied_notes(3, bound=True) == implied_notes(4711, bound=True)
    assert "go together" in implied_notes(0, bound=True)["n_implied"]
    hidden = implied_notes(3, bound=False, hidden=True)["n_implied"]  # nobody is told to do what was done
    assert "could not hide" in hidden
    assert "takes out more" not in hidden


def test_the_step_itself_is_not_advised_to_hide_what_it_tried_to_hide():
    rng = np.random.default_rng(13)
    data = pl.DataFrame({name: rng.integers(0, 2, 9) for name in "abcd"})
    change = local_suppression(data, keys=list("abcd"), k=3, hide_implied=True, seed=1).change
    assert change.parameters["n_implied"]
    assert "takes out more" not in change.notes["n_implied"]


def test_what_follows_is_counted_when_it_is_read(monkeypatch):
    """The count is that of the release, whatever has become of the caller's file since."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({name: rng.integers(0, 6, 300) for name in ("a", "b", "c")})
    expected = local_suppression(data.copy(), keys=["a", "b", "c"], k=3).change
    calls = []
    counted = module.implied
    monkeypatch.setattr(module, "implied", lambda *given: calls.append(1) or counted(*given))
    change = local_suppression(data, keys=["a", "b", "c"], k=3).change
    assert change.n_changed == expected.n_changed
    assert not calls
    data.loc[:, "a"] = 0
    assert change.notes == expected.notes
    assert change.parameters == expected.parameters
    assert list(change.parameters) == list(expected.parameters)
    assert calls == [1]
    assert change == expected


def test_a_change_that_waits_travels_whole():
    data = pl.DataFrame({"a": [1, 1, 1, 2, 3], "b": [1, 1, 1, 1, 1]})
    change = local_suppression(data, keys=["a", "b"], k=2).change
    assert pickle.loads(pickle.dumps(change)).parameters["n_implied"] == change.parameters["n_implied"]
    assert "n_implied" in repr(local_suppression(data, keys=["a", "b"], k=2).change)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = change.nothing
