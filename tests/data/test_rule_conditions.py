"""The grammar of edit rules, and who breaks them, beside the same written out."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.columns import Coded
from sdckit.data.frames import open_frame
from sdckit.data.rule_conditions import breaking, read_edit_rules
from sdckit.errors import DataError

labels = Coded.labels
MOMENT, LATER = (datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2))
RULE = {"when": {"age": {"below": 16}}, "value": "single"}


@pytest.mark.parametrize(
    "wrong",
    [
        "marital", 3, {"marital": "single"}, {"marital": {"when": {}, "value": 1}}, {"marital": {"value": 1}},
        {"marital": {"when": {"age": {}}, "value": 1}}, {"marital": {"when": {"age": {"under": 3}}, "value": 1}},
        {"marital": {"when": {"age": {"below": "3"}}, "value": 1}}, {"marital": {"when": {"age": None}, "value": 1}},
        {"marital": {"when": {"age": {"below": float("inf")}}, "value": 1}}, [RULE], [3],
        {"marital": {"when": {"age": []}, "value": 1}}, {"marital": {**RULE, "then": 3}}, {3: RULE},
        {"marital": {"when": {"age": {"missing": 1}}, "value": 1}},
        {"marital": {"when": {"age": Decimal(3)}, "value": 1}},
        {"marital": {"when": {"age": time(12)}, "value": 1}}, {"marital": {**RULE, "value": float("nan")}},
    ],
)  # fmt: skip
def test_another_form_is_refused(wrong) -> None:
    with pytest.raises(DataError, match="a rule"):
        read_edit_rules(wrong)


@pytest.mark.parametrize("wrong", [{"column": "marital", "when": {}, "value": 1}, {**RULE}, {**RULE, "column": 3}, 3])
def test_a_refusal_says_which_rule(wrong) -> None:
    with pytest.raises(DataError, match=r"^rule 2"):
        read_edit_rules([{"column": "marital", **RULE}, wrong])


def test_both_ways_of_writing_give_the_same() -> None:
    assert read_edit_rules({"marital": [RULE]}) == read_edit_rules([{"column": "marital", **RULE}])
    (two,) = read_edit_rules({"pay": {"when": {"age": {"at_least": 15, "below": 18}, "job": ["a", "b"]}, "value": [1]}})
    assert two.words == "where age at least 15 and age below 18 and job is a or b: pay is 1"
    assert two.columns == ("age", "job", "pay")


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.sampled_from("ab"))),
        min_size=1, max_size=12,
    )
)  # fmt: skip
def test_a_record_breaks_a_rule_where_all_conditions_hold_and_its_value_is_another(rows) -> None:
    frame = open_frame(pl.DataFrame(rows, schema={"x": pl.Int64, "t": pl.String}, orient="row"))
    held = {
        "below": ({"x": {"below": 2}}, lambda x, t: x is not None and x < 2),
        "is": ({"x": [1, 3]}, lambda x, t: x in (1, 3)),
        "missing": ({"x": {"missing": True}}, lambda x, t: x is None),
    }
    for condition, holds in held.values():
        (rule,) = read_edit_rules({"t": {"when": condition, "value": "a"}})
        assert breaking(rule, frame).tolist() == [holds(x, t) and t is not None and t != "a" for x, t in rows]
        (rule,) = read_edit_rules({"t": {"when": condition, "value": None}})
        assert breaking(rule, frame).tolist() == [holds(x, t) and t is not None for x, t in rows]
    (rule,) = read_edit_rules({"x": {"when": {"t": "a"}, "value": {"above": 1}}})
    assert breaking(rule, frame).tolist() == [t == "a" and x is not None and x <= 1 for x, t in rows]


@pytest.mark.parametrize("days", [[date(1, 1, 1), date(9999, 12, 31)], [datetime(2024, 1, 1), datetime(2024, 2, 9)]])
def test_a_date_is_compared_by_its_text_and_only_what_is_in_use_is_written_out(
    days: list[date], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two days lie millions of possible codes, between two moments billions."""
    unit = {"schema_overrides": {"day": pl.Datetime("ms")}} if isinstance(days[0], datetime) else {}
    frame = open_frame(pl.DataFrame({"day": [*days, None, days[0]], "t": ["a", "a", "a", "b"]}, **unit))
    written: list[int] = []
    monkeypatch.setattr(Coded, "labels", lambda self, codes: written.append(len(codes)) or labels(self, codes))
    (rule,) = read_edit_rules({"t": {"when": {"day": str(days[0])}, "value": "b"}})
    assert breaking(rule, frame).tolist() == [True, False, False, False]
    assert max(written) == 2


@pytest.mark.parametrize(
    ("values", "kind", "value", "hit"),
    [
        ([datetime(2024, 1, 1), datetime(2024, 1, 2)], None, date(2024, 1, 2), [False, True]),
        ([0.1, 0.2], pl.Float32, 0.2, [False, True]),
        ([0.1, 0.2], pl.Float32, {"at_most": 0.1}, [True, False]),
        ([12, 40], None, "12", None),
        ([True, False], None, 1, None),
        ([True, False], None, [False], [False, True]),
        ([2**53, 2**53 + 1], None, 2**53 + 1, [False, True]),
        ([2**53, 2**53 + 1], pl.UInt64, {"above": 2**53}, [False, True]),
        ([None, 0], None, [0, 3.0], [False, True]),
        (["1", "2"], None, 1.0, [True, False]),
        ([MOMENT, LATER], pl.Datetime("us", "UTC"), MOMENT, [True, False]),
        ([MOMENT, LATER], pl.Datetime("us", "UTC"), "2024-01-01", None),
    ],
)
def test_a_value_is_found_in_a_column_of_its_kind_and_nothing_is_said_of_another(values, kind, value, hit) -> None:
    """A rule that no value could ever meet held with 0."""
    frame = open_frame(pl.DataFrame({"x": pl.Series(values, dtype=kind), "t": ["a", "a"]}))
    (rule,) = read_edit_rules({"t": {"when": {"x": value}, "value": "b"}})
    flags = breaking(rule, frame)
    assert (flags if flags is None else flags.tolist()) == hit
