"""The table [matching] of a scenario: what it says, what it must not say, and there and back as TOML."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from sdckit import Scenario
from sdckit.data.scenarios.matching import Matching, merged
from sdckit.errors import ScenarioError

KEYS = ["sex", "age", "income"]
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "known": st.sampled_from([["sex"], []]),
        "synthetic": st.sampled_from([["age", "income"], ["income"]]),
        "width": st.one_of(st.floats(0, 1e6), st.dictionaries(st.sampled_from(KEYS), st.floats(0, 1e6))),
        "relative": st.one_of(st.booleans(), st.dictionaries(st.sampled_from(KEYS), st.booleans())),
        "tol": st.floats(0, 1),
        "high_risk": st.floats(0, 1, exclude_max=True),
    },
)


@given(ENTRIES)
def test_there_and_back(tmp_path_factory, entries):
    scenario = Scenario(keys=KEYS, matching=entries)
    path = tmp_path_factory.mktemp("scenario") / "s.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    found = Scenario.from_toml(path)
    for name in ("known", "synthetic", "tol", "high_risk"):
        assert getattr(found.matching, name) == getattr(scenario.matching, name)
    for key in KEYS:
        assert found.matching.is_relative(key) == scenario.matching.is_relative(key)
    assert (found.matching.width or None) == (scenario.matching.width or None) or found.matching.width == 0.0


def test_what_is_written():
    text = Scenario(keys=KEYS, matching={"known": ["sex"], "width": {"age": 2}, "relative": {"age": False}}).to_toml()
    assert text.partition("[matching]")[2].splitlines() == [
        "", 'known = ["sex"]', "", "[matching.width]", "age = 2.0", "", "[matching.relative]", "age = false",
    ]  # fmt: skip
    assert "matching" not in Scenario(keys=KEYS).to_toml()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"width": -1}, "matching.width must be a number of 0 or more, or a table of them per key"),
        ({"width": True}, "matching.width must be a number"),
        ({"width": float("nan")}, "matching.width must be a number"),
        ({"width": {"age": "x"}}, "matching.width.age must be a number of 0 or more"),
        ({"width": {"aeg": 1}}, "matching.width names 'aeg', no key of an intruder; did you mean 'age'"),
        ({"relative": {"age": 1}}, "matching.relative.age must be true or false"),
        ({"relative": {"w": True}}, "matching.relative names 'w', no key"),
        ({"relative": "yes"}, "matching.relative must be true or false, or a table"),
        ({"known": ["sex"], "synthetic": ["sex"]}, "'sex' is in matching.known and in matching.synthetic"),
        ({"known": ["sex", "sex"]}, "matching.known names the key 'sex' twice"),
        ({"known": "sex"}, "matching.known must be a list"),
        ({"known": {"sex"}}, "matching.known must be a list"),
        ({"widht": 1}, "there is no entry 'matching.widht'; did you mean 'width'"),
        ({"tol": -1.0}, "matching.tol must be at least 0"),
        ({"high_risk": 1.0}, "matching.high_risk must be less than 1"),
        (3, "matching must be a table"),
    ],
)
def test_bad_entries(entries, message):
    with pytest.raises(ScenarioError, match=message):
        Scenario(keys=KEYS, matching=entries)


def test_of_several_intruders_each_has_its_own_keys():
    said = {"known": ["sex"], "width": {"age": 2, "income": 0.1}, "relative": {"age": False}}
    two = Scenario(intruders={"a": ["sex", "age"], "b": ["income"]}, matching=said)
    assert two.intruder("a").matching.declared == {"known": ("sex",), "width": {"age": 2.0}, "relative": {"age": False}}
    assert two.intruder("b").matching.declared == {"width": {"income": 0.1}}
    assert Matching(width=0.2).among([]).width == 0.2


def test_entries_given_win_over_those_declared():
    stored = Matching(width={"age": 2}, relative={"age": False}, known=["sex"])
    found = merged(stored, {"width": {"income": 0.2}, "known": ["region"]})
    assert found == {"width": {"age": 2.0, "income": 0.2}, "relative": {"age": False}, "known": ["region"]}
    assert merged(stored, {"width": 0.3})["width"] == 0.3
    assert merged(None, {"tol": 0.1}) == {"tol": 0.1}
