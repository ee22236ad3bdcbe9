"""One rule for all keys or a rule per key, in words."""

from __future__ import annotations

import pytest

from sdckit.data.missing_values.missing import RULES, describe_rule, missing_rule
from sdckit.errors import ColumnError, ScenarioError

KEYS = ["sex", "job", "age"]


@pytest.mark.parametrize("rule", RULES)
def test_one_rule_for_all(rule):
    assert missing_rule(KEYS, rule, default="error") == (rule,) * 3


def test_a_rule_per_key():
    assert missing_rule(KEYS, {"job": "category"}, default="wildcard") == ("wildcard", "category", "wildcard")
    assert missing_rule(KEYS, {}, default="category") == ("category",) * 3


def test_an_unknown_rule():
    for missing in ("wild", {"job": "wild"}):
        with pytest.raises(ScenarioError, match="'wild' is no rule; use one of wildcard, category, error"):
            missing_rule(KEYS, missing, default="wildcard")


def test_a_rule_for_what_is_no_key():
    with pytest.raises(ColumnError, match=r"missing: 'jbo' is not one of the keys; .*'job'"):
        missing_rule(KEYS, {"jbo": "category"}, default="wildcard")
    found = missing_rule(KEYS, {"income": "category"}, default="wildcard", strict=False)
    assert found == ("wildcard",) * 3


@pytest.mark.parametrize(
    ("rules", "alpha", "words"),
    [
        (("category",) * 3, 1.0, "a missing key value is a category of its own"),
        (("category", "error", "category"), 0.5, "a missing key value is a category of its own"),
        (("wildcard",) * 3, 1.0, "a missing key value may stand for any value"),
        (
            ("wildcard",) * 3,
            0.5,
            "a missing key value may stand for any value; a match through another record's missing value counts 0.5",
        ),
        (
            ("wildcard", "category", "wildcard"),
            1.0,
            "a missing value of sex, age may stand for any value; of the other keys it is a category",
        ),
    ],
)
def test_in_words(rules, alpha, words):
    assert describe_rule(KEYS, rules, alpha) == words
