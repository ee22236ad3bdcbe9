"""Scenarios: what is accepted, what is refused and in which words, and the way to TOML and back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from draw import CHARACTERS
from sdckit import Scenario as TablesScenario, ScenarioError as TablesScenarioError
from sdckit.data.scenarios.scenario import Scenario, read_tables
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.errors import ColumnError, FileFormatError, ScenarioError, SdcWarning


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "s.toml"
    path.write_bytes(text.encode(encoding))
    return path


FULL = """
title = "Labour force, \\"2026\\""
weight = "w"
household = "hh"
person = "pid"
sensitive = ["income"]
numeric = ["age", "income"]
identifiers = ["name"]
alpha = 0.5
release = "public-use"
missing_codes = ["NA", -999, 9.5]
aligned = true

[intruders.neighbour]
keys = ["sex", "age"]

[intruders."ex partner"]
keys = ["sex", "children"]

[missing]
age = "category"

[thresholds]
k = 3
risk = 0.1
l = 2
global_risk = 0.01
household_risk = 1
"""


def test_reads_every_entry(tmp_path):
    scenario = Scenario.from_toml(written(tmp_path, FULL))
    assert scenario.intruders == {"neighbour": ("sex", "age"), "ex partner": ("sex", "children")}
    assert (scenario.weight, scenario.household, scenario.person) == ("w", "hh", "pid")
    assert scenario.missing == {"age": "category"}
    assert scenario.missing_codes == ("NA", "-999", "9.5")
    assert scenario.aligned is True
    assert scenario.release == "public-use"
    assert scenario.thresholds.declared == {
        "k": 3, "risk": 0.1, "l": 2, "global_risk": 0.01, "household_risk": 1.0,
    }  # fmt: skip
    assert scenario.all_keys == ("sex", "age", "children")
    assert scenario.columns == ("sex", "age", "children", "w", "hh", "pid", "income")


def test_identifiers_are_never_among_the_columns_to_read():
    assert Scenario(keys=["sex"], identifiers=["name"]).columns == ("sex",)


def test_keys_is_short_for_one_intruder(tmp_path):
    scenario = Scenario(keys=["sex", "age"])
    assert scenario.intruders == {"default": ("sex", "age")}
    assert scenario.keys == ("sex", "age")
    assert scenario == Scenario(intruders={"default": ["sex", "age"]})
    assert scenario == Scenario.from_toml(written(tmp_path, 'keys = ["sex", "age"]'))


def test_defaults():
    scenario = Scenario(keys=["sex"])
    assert (scenario.missing, scenario.alpha, scenario.aligned) == ("wildcard", 1.0, False)
    assert scenario.thresholds == Thresholds()
    assert scenario.thresholds.declared == {}


def test_one_intruder_of_several(tmp_path):
    scenario = Scenario.from_toml(written(tmp_path, FULL))
    with pytest.raises(ScenarioError, match=r"several intruders \('neighbour', 'ex partner'\).*\.intruder"):
        _ = scenario.keys
    assert scenario.intruder("neighbour").keys == ("sex", "age")
    assert scenario.intruder("neighbour").missing == {"age": "category"}
    assert scenario.intruder("ex partner").missing == "wildcard"  # its only rule was for another's key
    assert scenario.intruder("ex partner").thresholds == scenario.thresholds
    with pytest.raises(ScenarioError, match="'neighbor'; did you mean 'neighbour'"):
        scenario.intruder("neighbor")


def test_the_id_of_a_ledger_that_is_kept_back_is_an_identifier():
    place = {"folder": "ledger", "key": "ledger.key", "id": "nr"}
    plain, beside = (Scenario(keys=["sex"], identifiers=["name"], ledger=ledger) for ledger in (None, place))
    assert plain.keeping_back_id() == plain
    kept = beside.keeping_back_id()
    assert kept.identifiers == ("name", "nr")
    assert kept.ledger is not None
    assert kept.ledger.id == "nr"
    assert kept.keeping_back_id() == kept


def test_is_frozen_and_travels():
    scenario = Scenario(keys=["sex"], thresholds={"k": 3}, missing={"sex": "error"})
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert copy.deepcopy(scenario) == scenario
    with pytest.raises(ValueError, match="frozen"):
        scenario.weight = "w"


def test_values_of_records_are_no_names_and_are_not_shown() -> None:
    people = pd.DataFrame({"home": ["Zq7Qx", "Zq7Qx", "b"]})
    values = people["home"], people["home"].to_numpy(), people.set_index("home").index, people["home"].array
    for column in values:
        for role in ("keys", "sensitive"):
            with pytest.raises(ScenarioError, match=f"{role} must be a list") as caught:
                Scenario(**({"keys": ["home"]} | {role: column}))
            assert "Zq7Qx" not in str(caught.value)


def test_what_columns_there_are_is_said_once() -> None:
    with pytest.raises(ColumnError) as caught:
        Scenario(keys=["job", "town"], weight="agee").check_columns(["age", "zzz"])
    text = "the file has no column 'job' (declared as a key); the file has no column 'town' (declared as a key); "
    assert str(caught.value).startswith(text)
    assert str(caught.value).count("there are: age, zzz") == 1
    assert "'agee' (declared as the weight); did you mean 'age'?" in str(caught.value)


@pytest.mark.parametrize("listed", [pd.Index, np.array, tuple, lambda names: dict.fromkeys(names).keys()])
def test_names_are_taken_of_anything_that_lists_them(listed: Callable[[list[str]], Any]) -> None:
    """Such as a part of the columns of pandas, which is an index, and an array."""
    names = {"sensitive": ["ill"], "numeric": ["pay"], "magnitudes": ["pay"], "ordered": ["age"], "identifiers": ["id"]}
    plain = Scenario(keys=["sex", "age"], **names)
    given = {role: listed(of) for role, of in names.items()}
    assert Scenario(keys=listed(["sex", "age"]), **given) == plain
    assert Scenario(intruders={"a": listed(["sex", "age"])}).keys == ("sex", "age")
    assert type(Scenario(keys=listed(["sex"])).keys[0]) is str


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "no intruder is declared"),
        ({"keys": []}, "keys is empty"),
        ({"intruders": {}}, "intruders is empty"),
        ({"intruders": {"a": []}}, r"intruders\.a\.keys is empty"),
        ({"keys": ["sex"], "intruders": {"a": ["sex"]}}, "both keys and intruders"),
        ({"keys": "sex"}, "keys must be a list of column names"),
        ({"keys": {"sex", "age"}}, "keys must be a list of column names"),
        ({"keys": {"sex": "age"}}, "keys must be a list of column names"),
        ({"keys": [1]}, "keys must hold only column names"),
        ({"keys": [""]}, "keys must hold only column names"),
        ({"keys": ["sex", "sex"]}, "keys names the column 'sex' twice"),
        ({"intruders": ["sex"]}, "intruders must be a table of names"),
        ({"intruders": {"a": {"key": ["sex"]}}}, r"no entry 'intruders\.a\.key'; did you mean 'keys'"),
        ({"intruders": {"a": {}}}, r"intruders\.a has no keys"),
        ({"intruders": {"a": {"keys": "sex"}}}, r"intruders\.a\.keys must be a list"),
        ({"wieght": "w"}, "no entry 'wieght'; did you mean 'weight'"),
        ({"zzzz": 1}, "no entry 'zzzz'; there are: keys, intruders, weight"),
        ({"weight": "w", "sampling_fraction": 0.1}, "both weight and sampling_fraction"),
        ({"weight": 3}, "weight must be text in quotes"),
        ({"weight": ""}, "weight must not be empty"),
        ({"sampling_fraction": 0.0}, "sampling_fraction must be greater than 0"),
        ({"sampling_fraction": 1.5}, "sampling_fraction must be at most 1"),
        ({"sampling_fraction": float("nan")}, "sampling_fraction must be"),
        ({"sampling_fraction": "0.1"}, "sampling_fraction must be a number"),
        ({"alpha": -0.1}, "alpha must be at least 0"),
        ({"alpha": True}, "alpha must be a number"),
        ({"aligned": 1}, "aligned must be true or false"),
        (
            {"release": "web"},
            "release must be one of 'public-use', 'teaching', 'scientific-use', 'enclave' or 'synthetic'; types of",
        ),
        ({"sensitive": "income"}, "sensitive must be a list"),
        ({"sensitive": {"income"}}, "sensitive must be a list"),
        ({"sensitive": ["income", 3]}, r"sensitive\[2\] must be text"),
        ({"numeric": ["x", "x"]}, "numeric names the column 'x' twice"),
        ({"missing": "drop"}, "missing must be 'wildcard', 'category' or 'error', or a table"),
        ({"missing": {"sex": "drop"}}, r"missing\.sex must be 'wildcard', 'category' or 'error'"),
        ({"missing": {"age": "error"}}, r"missing\.age names no key of an intruder; there are: sex"),
        ({"missing_codes": "NA"}, "missing_codes must be a list"),
        ({"missing_codes": [True]}, r"missing_codes\[1\] must be text"),
        ({"title": 5}, "title must be text"),
        ({"thresholds": 3}, "thresholds must be a table"),
        ({"thresholds": {"k": 1}}, r"thresholds\.k must be at least 2"),
        ({"thresholds": {"k": 3.0}}, r"thresholds\.k must be a whole number"),
        ({"thresholds": {"k": True}}, r"thresholds\.k must be a whole number"),
        ({"thresholds": {"risk": 2}}, r"thresholds\.risk must be at most 1"),
        ({"thresholds": {"risk": 0}}, r"thresholds\.risk must be greater than 0"),
        ({"thresholds": {"rsik": 1}}, r"no entry 'thresholds\.rsik'; did you mean 'risk'"),
        ({"thresholds": {7: 1}}, r"no entry 'thresholds\.7'; there are: k, risk"),
    ],
)
def test_refuses(entries, message):
    if not {"keys", "intruders"} & set(entries) and entries:
        entries = {"keys": ["sex"], **entries}
    with pytest.raises(ScenarioError, match=message):
        Scenario(**entries)


@pytest.mark.parametrize(
    ("entries", "first", "second"),
    [
        ({"identifiers": ["sex"]}, "a key", "an identifier"),
        ({"weight": "sex"}, "a key", "the weight"),
        ({"sensitive": ["sex"]}, "a key", "sensitive"),
        ({"household": "sex"}, "a key", "the household"),
        ({"person": "sex"}, "a key", "the person"),
        ({"weight": "w", "identifiers": ["w"]}, "the weight", "an identifier"),
        ({"numeric": ["x"], "identifiers": ["x"]}, "numeric", "an identifier"),
        ({"weight": "w", "household": "w"}, "the weight", "the household"),
        ({"person": "p", "time": "p"}, "the person", "the time"),
    ],
)
def test_refuses_two_roles_and_names_both(entries, first, second):
    with pytest.raises(ScenarioError, match=f"is declared as {first} and as {second}"):
        Scenario(keys=["sex"], **entries)


def test_a_numeric_column_may_be_key_or_sensitive():
    scenario = Scenario(keys=["age"], sensitive=["income"], numeric=["income", "age"])
    assert scenario.columns == ("age", "income")


def test_a_key_of_one_intruder_cannot_be_sensitive_for_another():
    with pytest.raises(ScenarioError, match="a key of intruder 'b' and as sensitive"):
        Scenario(intruders={"a": ["sex"], "b": ["income"]}, sensitive=["income"])


def test_several_problems_are_told_together():
    with pytest.raises(ScenarioError, match=r"alpha must be at most 1; thresholds\.k.*|thresholds\.k.*alpha"):
        Scenario(keys=["sex"], alpha=2, thresholds={"k": 0})


def test_thresholds_alone_refuse_in_the_same_words():
    with pytest.raises(ScenarioError, match=r"thresholds\.k must be at least 2"):
        Thresholds(k=1)


def test_check_columns_names_role_and_nearest():
    scenario = Scenario(keys=["Sex", "regio"], weight="w", identifiers=["gone"])
    with pytest.warns(SdcWarning, match="no identifier 'gone': listing it protects nothing"):
        scenario.check_columns(["Sex", "regio", "w"])
    with pytest.raises(ColumnError) as caught:
        scenario.check_columns(["sex", "region", "w"])
    assert "'Sex' (declared as a key); did you mean 'sex'?" in str(caught.value)
    assert "'regio' (declared as a key); did you mean 'region'?" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('keys = ["sex"]\nweight = = "w"', r"s\.toml is not valid TOML.*line 2"),
        ('keys = ["sex"]\n\nweight = "w', r"s\.toml is not valid TOML.*line 3"),
        ('keys = ["sex"]\nkeys = ["age"]', r"s\.toml is not valid TOML.*line 2"),
        ('keys = ["sex"\n', r"s\.toml is not valid TOML.*line"),
        ('keys = ["sex"]\nself = 1', r"s\.toml: there is no entry 'self'"),
        ('keys = ["sex"]\nk = 3', r"s\.toml: there is no entry 'k'; limits stand under \[thresholds\], as k = "),
        ('keys = ["sex"]\nwieght = "w"', r"s\.toml: there is no entry 'wieght'; did you mean 'weight'"),
        ("keys = " + "[" * 5000, r"s\.toml"),
        ("", "no intruder is declared"),
    ],
)
def test_bad_toml(tmp_path, text, message):
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_toml(written(tmp_path, text))


def test_toml_of_another_encoding_names_the_line(tmp_path):
    with pytest.raises(ScenarioError, match="line 2: not UTF-8"):
        Scenario.from_toml(written(tmp_path, 'title = "a"\nkeys = ["größe"]', encoding="cp1252"))


def test_toml_with_byte_order_mark(tmp_path):
    assert Scenario.from_toml(written(tmp_path, 'keys = ["a"]', encoding="utf-8-sig")).keys == ("a",)


def test_absent_file_and_directory(tmp_path):
    with pytest.raises(FileFormatError, match="no scenario file"):
        Scenario.from_toml(tmp_path / "none.toml")
    with pytest.raises(FileFormatError, match="is a directory"):
        Scenario.from_toml(tmp_path)


names = st.text(CHARACTERS, min_size=1, max_size=6)
shares = st.floats(min_value=0, max_value=1, exclude_min=True, allow_nan=False)


@st.composite
def scenarios(draw):
    pool = draw(st.lists(names, min_size=8, max_size=14, unique=True))
    keys, rest = pool[:4], pool[4:]
    one = draw(st.booleans())
    subset = st.lists(st.sampled_from(keys), min_size=1, unique=True)
    intruders = {"default": keys} if one else draw(st.dictionaries(names, subset, min_size=1, max_size=3))
    used = sorted({key for value in intruders.values() for key in value})
    rules = st.sampled_from(["wildcard", "category", "error"])
    sized = st.none() | st.integers(2, 10**20)
    weighted = draw(st.booleans())
    limits = st.fixed_dictionaries({}, optional={"k": st.just("none") | st.integers(2, 9), "risk": shares})
    return Scenario(
        intruders=intruders,
        weight=rest[0] if weighted else None,
        sampling_fraction=None if weighted else draw(st.none() | shares),
        household=draw(st.none() | st.just(rest[1])),
        person=draw(st.none() | st.just(rest[2])),
        time=draw(st.none() | st.sampled_from(used)),
        sensitive=rest[3:4],
        numeric=draw(st.lists(st.sampled_from(rest[3:4] + used), unique=True)),
        identifiers=rest[4:],
        thresholds={"k": draw(sized), "l": draw(sized), "risk": draw(st.none() | shares)},
        missing=draw(rules | st.dictionaries(st.sampled_from(used), rules)),
        alpha=draw(st.floats(0, 1)),
        release=draw(st.sampled_from([None, "public-use", "enclave"])),
        release_types=draw(st.dictionaries(names.filter(str.strip), limits, max_size=2)),
        missing_codes=draw(st.lists(st.text(CHARACTERS, max_size=5), max_size=3)),
        title=draw(st.text(CHARACTERS, max_size=20)),
        aligned=draw(st.booleans()),
    )


@settings(max_examples=200, deadline=None)
@given(scenarios())
def test_round_trip(tmp_path_factory, scenario):
    path = tmp_path_factory.getbasetemp() / "round.toml"
    path.write_bytes(scenario.to_toml().encode())
    assert Scenario.from_toml(path) == scenario


def test_the_time_of_a_row_may_be_known_and_is_read():
    panel = Scenario(keys=["job", "year"], person="p", time="year", numeric=["year"])
    assert panel.columns == ("job", "year", "p")
    assert (panel.narrowed(["job", "year"]).time, panel.narrowed(["job", "p"]).time) == ("year", None)


def test_household_variables_may_have_other_roles_and_are_kept(tmp_path):
    scenario = Scenario(
        intruders={"a": ["region", "age"], "b": ["age"]}, household="home", weight="w", sensitive=["income"],
        household_variables=["region", "income", "w", "rent"],
    )  # fmt: skip
    assert scenario.columns == ("region", "age", "w", "home", "income", "rent")
    path = tmp_path / "s.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(path) == scenario
    assert scenario.intruder("b").household_variables == scenario.household_variables
    assert scenario.narrowed(["region", "age", "home"]).household_variables == ("region",)
    without = scenario.narrowed(["region", "age", "w"])
    assert without.household is None
    assert without.household_variables == ()
    with pytest.raises(ColumnError, match="'rent' \\(declared as a household variable\\)"):
        scenario.check_columns(["region", "age", "w", "home", "income"])


@pytest.mark.parametrize(("given", "says"), [
    ({"household_variables": ["region"]}, "say which column numbers the households"),
    ({"household": "home", "household_variables": ["home"]}, "'home' is declared as the household and as a h"),
    ({"household": "home", "person": "p", "household_variables": ["p"]}, "'p' is declared"),
    ({"household": "home", "identifiers": ["n"], "household_variables": ["n"]}, "'n' is declared"),
    ({"household": "home", "household_variables": ["region", "region"]}, "twice"),
    ({"household": "home", "household_variables": "region"}, "household_variables must be a list"),
    ({"household": "home", "household_variables": {"region"}}, "household_variables must be a list"),
])  # fmt: skip
def test_household_variables_that_cannot_be_are_refused(given, says):
    with pytest.raises(ScenarioError, match=says):
        Scenario(keys=["region"], **given)


# Published tables as a scenario declares them.


def test_entries_are_plain():
    found = read_tables([{"variables": ("sex", "age"), "rounded": 5}, {"file": Path("a") / "counts.csv"}])
    assert found == ({"variables": ["sex", "age"], "rounded": 5}, {"file": "a/counts.csv"})
    assert read_tables([]) == ()


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ([{"variable": ["sex"]}], r"tables\[1\].variable.*did you mean 'variables'"),
        ([{"rounded": 3}], r"tables\[1\] has neither"),
        ([{"variables": []}], r"tables\[1\].variables"),
        ([{"variables": "sex"}], r"tables\[1\].variables must be a list"),
        ([{"variables": {"sex": 1}}], r"tables\[1\].variables must be a list"),
        ([{"variables": ["sex", ""]}], r"tables\[1\].variables must be a list"),
        ([{"variables": ["sex", 3]}], r"tables\[1\].variables must be a list"),
        ([{"variables": ["sex"], "rounding": "up"}], r"tables\[1\].rounding"),
        ([{"variables": ["sex"]}, {"file": 3}], r"tables\[2\].file"),
        ([{"variables": ["sex"], "rounded": 1}], r"tables\[1\]"),
        ({"variables": ["sex"]}, "list of tables"),
        (["sex"], "list of tables"),
    ],
)
def test_a_wrong_entry_of_a_scenario_is_named(tables, says):
    with pytest.raises(TablesScenarioError, match=says):
        TablesScenario(keys=["sex"], tables=tables)


def test_a_release_by_itself_has_the_roles_of_its_columns_and_no_ledger() -> None:
    whole = Scenario(
        intruders={"neighbour": ["sex", "age"], "colleague": ["job"]}, missing={"age": "category", "job": "wildcard"},
        household="home", household_variables=["sex"], sensitive=["ill", "pay"], numeric=["pay"], identifiers=["name"],
        insensitive=["note", "att_*"], insensitive_because="attitudes", thresholds={"k": 3, "l": 2},
        ledger={"folder": "kept", "key": "kept.key", "id": "name"},
    )  # fmt: skip
    left = whole.of_release(["age", "ill", "att_1"])
    assert left.intruders == {"neighbour": ("age",)}
    assert left.missing == {"age": "category"}
    assert (left.household, left.household_variables, left.sensitive, left.numeric) == (None, (), ("ill",), ())
    assert (left.identifiers, left.insensitive, left.ledger) == ((), ("att_*",), None)
    assert left.thresholds == whole.thresholds
    assert whole.of_release(["ill"]).all_keys == ()
    assert whole.of_release(["age"]).sensitive == ()
