"""Each kind of argument: what it takes, what it gives, and the refusal that names it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import Scenario
from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError, ScenarioError


def refused(error, words, function, *given, **options):
    with pytest.raises(error, match=words) as caught:
        function(*given, **options)
    assert type(caught.value) is error
    return caught.value.argument


def test_lists_of_names_are_no_columns_at_once(monkeypatch):
    assert all(map(arguments.is_column, (pl.Series([1]), pd.Series([1]), pa.chunked_array([[1]]))))
    monkeypatch.setattr(
        arguments.nw.dependencies, "is_into_series", None
    )  # asked of every argument, it took 5 % of a small call
    assert not any(map(arguments.is_column, (None, "age", ["age"], ("age",), {"age": "wildcard"}, {"age"})))


def test_what_is_a_whole_number():
    assert [arguments.is_whole(one) for one in (0, -3, np.int32(3), True, 2.0, "2", None)] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip


def test_a_seed_starts_the_same_numbers():
    assert arguments.seed(3).random() == np.random.default_rng(3).random()
    assert arguments.seed(np.int64(3)).random() == np.random.default_rng(3).random()
    assert arguments.seed(None).random() != arguments.seed(None).random()
    rng = np.random.default_rng(1)
    assert arguments.seed(rng) is rng
    for wrong in (-1, 1.5, True, "x", math.nan, [1], {}):
        words = r"seed= takes a whole number of 0 or more, or a numpy\.random\.Generator"
        assert refused(DataError, words, arguments.seed, wrong) == "seed"


def test_a_seed_for_a_library_is_small():
    assert [arguments.seed_number(one) for one in (0, 7, 2**32 - 1, None)] == [0, 7, 2**32 - 1, None]
    assert arguments.seed_number(2**32) < 2**31
    large = arguments.seed_number(2**70)
    assert large == arguments.seed_number(2**70)
    assert 0 <= large < 2**31
    drawn = arguments.seed_number(np.random.default_rng(1))
    assert drawn == np.random.default_rng(1).integers(2**31)
    assert refused(DataError, "seed=", arguments.seed_number, -1) == "seed"


def test_a_count():
    assert (arguments.count(np.int8(3), "k"), arguments.count(0, "k", at_least=0)) == (3, 0)
    assert arguments.count(20, "k", at_least=2, at_most=20) == 20
    for wrong in (1, 1.0, True, "2", None, math.nan, [2]):
        words = "^k counts records; give a whole number of 2 or more$"
        assert refused(DataError, words, arguments.count, wrong, "k", "counts records", at_least=2) == "k"
    words = "^m is a count; give a whole number from 1 to 1,000$"
    assert refused(DataError, words, arguments.count, 1001, "m", at_most=1000) == "m"
    for count, wrong in ((arguments.count, 10**30), (arguments.counts, [3, 2**63])):  # too large for an array
        words = "^k is a count; give a whole number from 1 to 9,007,199,254,740,992$"
        assert refused(DataError, words, count, wrong, "k") == "k"


def test_several_counts():
    assert arguments.counts((5, 2, 5), "k") == (2, 5)
    assert arguments.counts(np.array([3, 1]), "k") == (1, 3)
    assert (arguments.counts(4, "k"), arguments.counts([], "k")) == ((4,), ())
    for wrong in (0, True, "3", [2, 1.5], [None], None, {2: 3}):
        words = "k is a count; give whole numbers of 1 or more"
        assert refused(DataError, words, arguments.counts, wrong, "k") == "k"


@pytest.mark.parametrize(
    ("check", "taken", "left", "words"),
    [
        (arguments.number, [-3, 0.5], [math.inf, math.nan], "give a finite number"),
        (arguments.amount, [0, 3], [-1e-9, math.inf], "give a number of 0 or more"),
        (arguments.amount_above, [1e-9, 3], [0, math.inf, -1], "give a number above 0"),
        (arguments.share, [0, 1], [-1e-9, 1.1, math.nan], "give a number from 0 to 1"),
        (arguments.share_above, [1e-9, 1], [0, 1.1, math.nan], r"give a number in \(0, 1\]"),
        (arguments.level, [0.5, 0.95], [0, 1, 95], "give a number between 0 and 1, such as 0.95"),
    ],
)
def test_numbers(check, taken, left, words):
    for one in taken:
        assert check(one, "x", "is it") == one
        assert type(check(one, "x", "is it")) is float
    for wrong in (*left, True, "0.5", None, [0.5], {}):
        assert refused(DataError, f"^x is it; {words}$", check, wrong, "x", "is it") == "x"


def test_an_interval_has_the_ends_it_is_given():
    inside = {"[]": (0, 100), "[)": (0,), "(]": (100,), "()": ()}
    for ends, taken in inside.items():
        for end in (0, 100):
            if end in taken:
                assert arguments.within(end, "p", "is it", 0, 100, ends) == end
            else:
                assert refused(DataError, "p is it", arguments.within, end, "p", "is it", 0, 100, ends) == "p"
    assert refused(DataError, r"in \(0, 100\]$", arguments.within, 0, "p", "is it", 0, 100, "(]") == "p"


def test_several_amounts():
    assert arguments.amounts_above((0.5, 0.2, 0.5), "limits", "are it") == (0.2, 0.5)
    assert (arguments.amounts_above(1, "t", "is it"), arguments.amounts_above([], "t", "is it")) == ((1.0,), ())
    for wrong in (True, math.nan, math.inf, 0, -1, "0.5", [None], [1, 0]):
        assert refused(DataError, "give numbers above 0", arguments.amounts_above, wrong, "t", "is it") == "t"


def test_a_flag_is_no_number():
    assert (arguments.flag(True, "a"), arguments.flag(np.False_, "a")) == (True, False)
    for wrong in (0, 1, "yes", None, math.nan, [True]):
        assert refused(DataError, "^a is True or False; it is neither$", arguments.flag, wrong, "a") == "a"


def test_a_choice_offers_the_nearest():
    kinds = ("additive", "correlated", "outlier")
    assert arguments.choice("outlier", "method", kinds) == "outlier"
    assert arguments.choices("outlier", "method", kinds) == ("outlier",)
    assert arguments.choices(["outlier", "additive"], "method", kinds) == ("outlier", "additive")
    words = "^method 'Outliers' is unknown; did you mean 'outlier'?"
    assert refused(DataError, words, arguments.choice, "Outliers", "method", kinds) == "method"
    words = "^method is one of 'additive', 'correlated', 'outlier', not list$"
    assert refused(DataError, words, arguments.choice, ["outlier"], "method", kinds) == "method"
    assert refused(DataError, "not float", arguments.choice, math.nan, "method", kinds) == "method"
    assert refused(DataError, "method is empty", arguments.choices, (), "method", kinds) == "method"
    assert refused(DataError, "'x' is unknown", arguments.choices, ["outlier", "x"], "method", kinds) == "method"


def test_texts():
    assert (arguments.text("", "prefix"), arguments.texts("NA", "missing")) == ("", ("NA",))
    assert arguments.texts(["NA", -9, 1.5], "missing") == ("NA", "-9", "1.5")
    assert refused(DataError, "^prefix is text, not int$", arguments.text, 5, "prefix") == "prefix"
    for wrong in (5, None, True, ["x", None], b"x", {"x": 1}):
        assert refused(DataError, "missing is a list of texts", arguments.texts, wrong, "missing") == "missing"


def test_one_column():
    assert (arguments.column("age", "id"), arguments.column_or_none(None, "id")) == ("age", None)
    for wrong in (5, True, ["age"], b"age"):
        words = f"^id is the name of one column, not {type(wrong).__name__}$"
        assert refused(ColumnError, words, arguments.column, wrong, "id") == "id"
        assert refused(ColumnError, words, arguments.column_or_none, wrong, "id") == "id"


def test_columns():
    assert (arguments.names(None, "keys"), arguments.names([], "keys")) == (None, ())
    assert arguments.names(iter(["sex", 3]), "keys") == ("sex", 3)  # pandas numbers columns
    assert arguments.names("sex", "by", single=True) == ("sex",)
    for wrong, words in (
        ("sex", r"^keys must be a list of column names; write keys=\['sex'\]$"),
        (b"sex", "^keys must be a list of column names, not bytes$"),
        (7, "^keys must be a list of column names, not int$"),
        ([["sex"]], "^keys: column names are text, got list$"),
        ([None], "^keys: column names are text, got NoneType$"),
        ([True], "^keys: column names are text, got bool$"),
        (["sex", "age", "sex"], "^keys: 'sex' is listed more than once$"),
        (np.array(["Zq7Qx", "Zq7Qx"]), "^keys: a name is listed more than once$"),
    ):
        assert refused(ColumnError, words, arguments.names, wrong, "keys") == "keys"


@pytest.mark.parametrize("make", [pl.Series, lambda name, values: pd.Series(values, name=name)])
def test_a_column_where_names_are_asked_for_is_told_without_a_value(make):
    """Its values are those of records: as names that occur twice, or are not there, they stood in the message."""
    for values in (["Island", "Malta"], ["Island", "Island"], [3, 3]):
        with pytest.raises(ColumnError, match=r"^keys must be .* not a column: give .*write keys=\['home'\]$"):
            arguments.names(make("home", values), "keys")
        with pytest.raises(ScenarioError, match=r"^sensitive must be a list") as caught:
            Scenario(keys=["sex"], sensitive=make("home", values))
        assert "Island" not in str(caught.value)
    with pytest.raises(ColumnError, match=r"not a column: give names$"):
        arguments.names(pa.chunked_array([["Island", "Island"]]), "keys")
    assert arguments.names(pd.DataFrame({"sex": [1], "age": [2]}).columns, "keys") == ("sex", "age")


def test_columns_that_are_there_and_one_that_is_not():
    arguments.present(["sex", 3], ["sex", "age", 3], "keys")
    words = r"^household: no column 'sx' in the release; did you mean 'sex'\?$"
    wrong = (["sex", "sx", "zz"], ["sex", "age"], "household")
    with pytest.raises(ColumnError, match=words) as caught:
        arguments.present(*wrong, argument="household", within="the release")
    assert caught.value.argument == "household"
    with pytest.raises(ColumnError, match=r"in the data; there are none$"):
        arguments.present(["sx"], (), "by")


def test_a_scenario():
    scenario = Scenario(keys=["sex"])
    assert (arguments.scenario_or_none(scenario), arguments.scenario_or_none(None)) == (scenario, None)
    for wrong in ("scenario.toml", {"keys": ["sex"]}, 5):
        words = "^scenario= takes a Scenario; read one from a file"
        assert refused(ScenarioError, words, arguments.scenario_or_none, wrong) == "scenario"


def test_the_name_survives_another_process():
    with pytest.raises(DataError) as caught:
        arguments.count(0, "k")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.argument) == (str(caught.value), "k")
