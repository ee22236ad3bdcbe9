"""One rule for all keys or a rule per key, in words."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from sdckit.data.missing_values.missing import (
    DEFAULT_CODES,
    RULES,
    Found,
    MissingNotes,
    apply_codes,
    by_code,
    code_texts,
    counted,
    counted_codes,
    describe_rule,
    found_texts,
    labelled_suspects,
    missing_rule,
    suspects,
    take_defaults,
)
from sdckit.errors import ColumnError, ScenarioError, SdcWarning

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


# Codes that mean missing.


def test_none_is_an_answer():
    assert "None" not in DEFAULT_CODES


def test_a_number_has_several_spellings():
    assert code_texts(["-9"]) == ["-9", "-9.0", "-9,0"]
    assert code_texts(["9.50", "x", "1e400", "-"]) == ["9.50", "x", "1e400", "-"]
    assert code_texts(["+9"])[:2] == ["+9", "9"]


@pytest.mark.parametrize(
    ("values", "dtype", "codes", "wanted"),
    [
        ([1, -9], pl.Int8, ["-9"], [1, None]),
        ([1, 9], pl.UInt8, ["-9", "300", "1e30", "0.5"], [1, 9]),
        ([1.5, -9.0], pl.Float32, ["-9"], [1.5, None]),
        ([1.5, float("nan")], pl.Float64, ["NaN"], [1.5, None]),
        ([Decimal("1.50"), Decimal("9.00")], pl.Decimal(5, 2), ["9"], [Decimal("1.50"), None]),
        (["a", "9"], pl.Categorical, ["9"], ["a", None]),
        (["a", "9"], pl.String, ["9.0"], ["a", None]),
        ([True, None], pl.Boolean, ["1"], [True, None]),
        ([date(2020, 1, 1)], pl.Date, ["1", "NA"], [date(2020, 1, 1)]),
        ([None, None], pl.Null, ["1"], [None, None]),
        ([[9]], pl.List(pl.Int64), ["9"], [[9]]),
    ],
)
def test_every_type(values, dtype, codes, wanted):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    done = apply_codes(frame, codes)
    assert done["x"].to_list() == wanted
    assert done["x"].dtype == frame["x"].dtype


def test_no_codes_no_change():
    frame = pl.DataFrame({"x": ["NA"]})
    assert apply_codes(frame, []) is frame


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a", "NA", "", "."])])
def test_defaults_in_texts(dtype):
    frame = pl.DataFrame({"x": pl.Series(["a", "NA", "", None, "NA", "."], dtype=dtype), "n": [float("nan")] * 6})
    done, found = take_defaults(frame)
    assert done["x"].to_list() == ["a", None, None, None, None, None]
    assert done.schema == frame.schema
    assert found == (Found("x", "NA", 2), Found("x", ".", 1))


def test_texts_without_codes_stay():
    frame = pl.DataFrame({"x": ["a", "None"], "n": [1, 2]})
    assert take_defaults(frame)[0].equals(frame)
    assert found_texts(pl.DataFrame({"n": [1]}), ["1"]) == ()


def codes(values, dtype=None):
    return [(one.code, one.records) for one in suspects(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}))]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 2, 3, -9], [("-9", 1)]),
        ([0, 2, -9, -8, -8, -7], [("-9", 1), ("-8", 2), ("-7", 1)]),
        ([1.5, 2.5, -999.0, None, float("nan")], [("-999", 1)]),
        ([-20, -3, 5, 8, -999], [("-999", 1)]),
        ([*range(1, 13), 99, 99], [("99", 2)]),
        ([*range(50), 999, 999, 99, 99], [("999", 2), ("99", 2)]),
        ([*range(1, 6), -9, 99, 99], [("-9", 1), ("99", 2)]),
        ([1, 1, 99, 99], [("99", 2)]),
        ([*range(50, 3000, 50), 99999999, 99999999], [("99999999", 2)]),
        ([*range(1, 6), 997, 997, 998, 998, 999, 999], [("999", 2), ("998", 2), ("997", 2)]),
        ([*range(1, 11), 97, 97, 99, 99], [("99", 2), ("97", 2)]),
        ([*range(1, 11), 9996, 9996], [("9996", 2)]),
        ([*range(80, 97), 99, 99], [("99", 2)]),  # 96 is a value
        ([120, 300, 450, -99999, -99997], [("-99999", 1), ("-99997", 1)]),
        ([-20, -3, 5, 8, -999999], [("-999999", 1)]),
        ([*[-1.0] * 5, 0, 0, 810.5, 12000], [("-1", 5)]),
        ([*[-1] * 6, *[-3] * 5, 1, 2, 3], [("-3", 5), ("-1", 6)]),
        ([*[-9, -8, -2, -1] * 5, 0, 1], [("-9", 5), ("-8", 5), ("-2", 5), ("-1", 5)]),
    ],
)
def test_numbers(values, found):
    assert codes(values) == found


@pytest.mark.parametrize(
    "values",
    [
        list(range(1, 100)),  # 99 is one of many
        list(range(1, 1000)),
        [*range(1, 13), 99],  # a single large number may be somebody's
        [*range(-9, 10)],
        [-99, -98, -50, -3],
        [-9, -9],
        [-1] * 9,
        [*[-1] * 5, 0, 0, 1, 5],  # the end of a scale
        [*[-2, -1] * 5, 0, 1, 2],
        [*[-1.0] * 4, 0, 810.5, 12000],  # of few records
        [*[-1.0] * 5, -1.5, 0, 810.5, 12000],  # a change
        [*[-4, -3, -2, -1] * 5, *range(35)],  # degrees
        [99, 99],
        [98, 1],
        [*range(1, 11), 96, 97, 98, 98],  # answers, where no 99 stands above them
        [*range(960, 994), 996, 996],  # three steps from the next are far for 999 alone
        [*range(1, 11), 997, 998, 999],  # once
        [1.5, 2.5, 99.5, 99.5],
        [1.0, 2.0, float("inf"), float("inf")],
        [1e300, 1.0, 2.0, -1e300],
        [None, None],
        [],
        [True, False],
    ],
)
def test_no_numbers(values):
    assert codes(values) == []


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.Int64, pl.Float32])
def test_types_of_numbers(dtype):
    assert codes([1, 2, 3, -99], dtype) == [("-99", 1)]
    assert codes([1, 2, 3, 99, 99], dtype) == [("99", 2)]


def test_unsigned():
    assert codes([1, 2, 3, 99, 99], pl.UInt8) == [("99", 2)]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a", "Refused", "don't know", "lost"])])
def test_words(dtype):
    found = codes(["a", "Refused", "Refused", "don't know", None, "lost"], dtype)
    assert found == [("Refused", 2), ("don't know", 1)]
    assert codes(["a", "lost"], dtype) == []


@pytest.mark.parametrize(
    "label",
    ["not assessed", "Not applicable", "9 not assessed", "-8: Don't know", "[7] Refused", "Refused (spontaneous)",
     "Nicht bewertet", "nicht zutreffend", "Keine Angabe", "99. weiß nicht"],
)  # fmt: skip
def test_labels_that_say_so(label):
    assert codes([label, "basic", "basic"], pl.Enum(["basic", label])) == [(label, 1)]


@pytest.mark.parametrize("dtype", [pl.String, pl.Enum(["no", "none", "never", "absent", "mild", "declined", "other",
                                                       "trifft nicht zu", "keine", "nie", "not at all"])])  # fmt: skip
def test_ordinary_labels(dtype):
    values = ["no", "none", "never", "absent", "mild", "declined", "other", "trifft nicht zu", "keine", "nie"]
    assert codes([*values, "not at all"], dtype) == []


@pytest.mark.parametrize("dtype", [pl.String, pl.Enum(["basic", "absent", "not assessed"])])
def test_away_is_missing_beside_another_such_label_only(dtype):
    assert codes(["basic", "absent"], dtype) == []
    found = codes(["basic", "absent", "absent", "not assessed"], dtype)
    assert sorted(found) == [("absent", 2), ("not assessed", 1)]


def test_numbers_are_suspected_by_their_labels():
    frame = pl.DataFrame({"score": [0.0, 31.5, -5.0, -5.0], "none": [0, 1, 1, 1], "text": ["a"] * 4})
    labels = {
        "score": {"Not assessed": -5, "absent": -6},
        "none": {"no": 0},
        "text": {"refused": "a"},
        "gone": {"x": 1},
    }
    assert labelled_suspects(frame, labels) == (Found("score", "-5", 2),)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["N"] * 5, [("N", 5)]),
        (["N"] * 7 + ["D"] * 5 + ["X"] * 4, [("N", 7), ("D", 5)]),  # a value of four is nobody's to print
        (["90+"] * 9, []),  # a top code
        (["N", "D", "X", "Y"] * 5, []),  # categories
        (["N"] * 4, []),
        (["other"] * 9, []),  # rare codes that were recoded
        ([], []),
    ],
)
def test_texts_among_numbers(texts, found):
    assert codes([None, "35000.0", "-12", "1e3", *texts]) == found


def test_texts_among_numbers_with_blanks_around_them():
    """Of files with columns of a fixed width, where blanks alone stand for a missing value."""
    assert codes([f" {n} " for n in range(20, 60)] + ["    "] * 6) == [("    ", 6)]
    assert codes([f" {n} " for n in range(20, 60)] + [" N "] * 6) == [(" N ", 6)]


def test_texts_beside_one_number_are_categories():
    assert codes(["1"] * 9 + ["N"] * 9) == []
    assert codes(["b"] * 1_000 + ["1", "2"]) == []


def test_only_the_extremes_of_other_columns_are_looked_for(monkeypatch):
    def forbidden(_):
        raise AssertionError("another pass over a column that gives no reason")

    monkeypatch.setattr("sdckit.data.missing_values.missing._far_off", forbidden)
    assert suspects(pl.DataFrame({"a": range(98), "b": [0.5] * 98})) == ()


def test_what_is_counted_is_what_becomes_missing():
    frame = pl.DataFrame(
        {"a": [-9, 1, None, -9], "b": ["-9.0", "NA", "x", ""], "c": [-9.0, 2.5, -99.0, 1.0], "d": [True] * 4}
    )
    codes = ["-9", "NA", "-99", "", "-9"]
    found = counted_codes(frame, codes)
    assert [(one.column, one.code, one.records) for one in found] == [
        ("a", "-9", 2), ("b", "-9", 1), ("c", "-9", 1), ("b", "NA", 1), ("c", "-99", 1),
    ]  # fmt: skip
    gone = apply_codes(frame, [code for code in codes if code])
    for name in frame.columns:
        more = gone[name].null_count() - frame[name].null_count()
        assert more == sum(one.records for one in found if one.column == name)
    assert counted_codes(frame.select("d"), codes) == ()


# What is told of codes for missing.


def test_nothing_to_tell():
    assert MissingNotes().messages("x.csv") == []
    assert MissingNotes(given=("NA",)).messages("x.csv") == []


def test_the_codes_to_give_keep_those_applied():
    suspected = (Found("a", "-999", 3), Found("b", "don't know", 1), Found("c", "-999", 2))
    notes = MissingNotes(taken=(Found("b", "NA", 1),), suspected=suspected)
    assert notes.suggested == ("NA", "-999", "don't know")
    assert MissingNotes(given=("X",), suspected=suspected[:1]).suggested == ("X", "-999")
    told = notes.messages("x.csv")[1]
    assert "--missing='don'\"'\"'t know'" in told
    assert 'missing=["NA", "-999", "don\'t know"]' in told


@pytest.mark.parametrize("given", [("",), ("", "X"), ("X", "")])
def test_an_empty_code_says_that_there_are_no_others(given: tuple[str, ...]) -> None:
    assert MissingNotes(given=given, suspected=(Found("a", "-9", 30),)).messages("x.csv") == []


def test_many_columns_are_not_all_named():
    found = [Found(f"v{i}", "NA", 1_234) for i in range(8)]
    assert by_code(found).endswith("v4 (1,234 records) and 3 more")
    assert counted(found).endswith("v4 holds 'NA' in 1,234 records and 3 more")


def test_one_warning_each():
    notes = MissingNotes(taken=(Found("b", "NA", 1),), suspected=(Found("a", "99", 3),))
    with pytest.warns(SdcWarning) as caught:
        notes.warn("x.csv")
    assert [str(warning.message) for warning in caught] == notes.messages("x.csv")
