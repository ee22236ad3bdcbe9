"""Whether rows of two files belong together by their places, and which columns are spelt otherwise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.cells import comparable_files as module
from sdckit.cells.comparable_files import in_same_order, look_mixed, relabelled, warn_of_numbers, written_apart
from sdckit.data.frames import open_frame
from sdckit.errors import SdcWarning

RNG = np.random.default_rng(4)
FEW = 30_000  # more than are looked at
PEOPLE = pl.DataFrame(
    {
        "region": np.sort(RNG.integers(0, 8, FEW)), "home": np.arange(FEW) // 3, "sex": RNG.choice(["m", "f"], FEW),
        "age": RNG.integers(0, 90, FEW), "pay": RNG.normal(0, 1, FEW), "rare": RNG.random(FEW) < 0.03,
    }
)  # fmt: skip


def shuffled(by: list[str]) -> pl.DataFrame:
    """Rows mixed within those that are alike in some columns, which stay where they are."""
    mixed = PEOPLE.with_columns(at=pl.Series(RNG.random(FEW))).sort(*by, "at").drop("at")
    assert all(mixed[name].equals(PEOPLE[name]) for name in by)
    return mixed


@pytest.mark.parametrize(
    ("released", "together"),
    [
        (PEOPLE, True),
        (
            PEOPLE.with_columns(pay=-pl.col("pay"), age=-1 - pl.col("age"), home=-1 - pl.col("home")),
            False,
        ),  # a sex only
        (PEOPLE.with_columns(pay=pl.col("pay") + pl.Series(RNG.normal(0, 0.1, FEW))), True),  # age is what it was
        (PEOPLE.with_columns(age=pl.col("age").clip(2, 87), pay=pl.lit("x"), sex=pl.lit(1)), True),
        (PEOPLE.with_columns(age=pl.when(pl.Series(RNG.random(FEW)) < 0.5).then("age")), True),
        (shuffled([]), False),
        (shuffled(["region"]), False),
        (shuffled(["region", "home"]), False),
        (PEOPLE.reverse(), False),
        (PEOPLE.head(10), True),  # who joins the rows refuses it
    ],
)
def test_whether_rows_look_as_if_they_were_in_the_same_order(released, together):
    assert in_same_order(open_frame(PEOPLE), open_frame(released)) is together
    assert in_same_order(open_frame(PEOPLE), open_frame(PEOPLE), open_frame(released)) is together


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """With numbers that say nothing, since each file has its own."""
    return frame.with_columns(number=np.arange(len(frame)))


CHANGED = {
    "as it was": PEOPLE,
    "one column left, and noise": PEOPLE.select("sex", pay=pl.col("pay") + pl.Series(RNG.normal(0, 3, FEW))),
    "noise of the size of the values": PEOPLE.select(pay=pl.col("pay") + pl.Series(RNG.normal(0, 1, FEW))),
    "half drawn anew": PEOPLE.select(
        sex=pl.when(pl.Series(RNG.random(FEW)) < 0.5).then("sex").otherwise(pl.Series(RNG.choice(["m", "f"], FEW))),
    ),
    "one column among others of other people": shuffled([]).with_columns(PEOPLE["age"]),
    "most taken out": PEOPLE.with_columns(pl.when(pl.Series(RNG.random(FEW)) < 0.1).then(pl.all())),
}  # fmt: skip


@pytest.mark.parametrize("released", CHANGED.values(), ids=CHANGED)
def test_changed_values_still_speak_for_their_own_rows(released):
    assert not look_mixed(open_frame(numbered(PEOPLE)), open_frame(numbered(released)))
    back = np.arange(FEW)[::-1]
    assert not look_mixed(open_frame(PEOPLE), open_frame(released.reverse()), back)
    assert look_mixed(open_frame(numbered(PEOPLE)), open_frame(numbered(released.sample(FEW, shuffle=True, seed=1))))


@pytest.mark.parametrize("by", [[], ["region"]])
def test_mixed_rows_are_seen_within_regions_too(by):
    assert look_mixed(open_frame(numbered(PEOPLE)), open_frame(numbered(shuffled(by))))
    assert look_mixed(open_frame(PEOPLE), open_frame(PEOPLE), np.random.default_rng(2).permutation(FEW))


@pytest.mark.parametrize("n", [0, 1, 2, 99])
def test_few_rows_or_columns_that_cannot_be_compared_are_taken_on_trust(n):
    assert not look_mixed(open_frame(PEOPLE.head(n)), open_frame(PEOPLE.tail(n)))
    assert not look_mixed(open_frame(PEOPLE.select("age")), open_frame(PEOPLE.select(pl.col("sex").alias("age"))))


@pytest.mark.parametrize("way", ["decimals first", "floats first"])
def test_decimals_of_pandas_are_compared_with_floats(way):
    paid = pl.DataFrame({"paid": [Decimal("12.10"), Decimal("7.35"), None, Decimal("7.35")]})
    files = [paid, paid.cast(pl.Float64)] if way == "decimals first" else [paid.cast(pl.Float64), paid]
    far = files[1].select(pl.col("paid") + 100)
    before, after, beyond = (open_frame(own.to_pandas(use_pyarrow_extension_array=True)) for own in (*files, far))
    assert relabelled(before, after, ["paid"]) == ()
    assert relabelled(before, beyond, ["paid"]) == ("paid",)


@given(st.integers(0, 2**32 - 1), st.integers(300, 2_000))
def test_rows_in_an_order_by_chance_are_hardly_ever_taken_for_those_of_the_same_people(seed, n):
    """At three deviations one order in a thousand is, for each column and for all together."""
    rng = np.random.default_rng(seed)
    people = open_frame(PEOPLE[rng.choice(FEW, n, replace=False).tolist()].select("region", "sex", "age", "pay"))
    assert sum(not look_mixed(people, people, rng.permutation(n)) for _ in range(20)) <= 4


BEFORE = pl.DataFrame({"race": ["white", "black", None, "white"], "age": [30, 40, 50, 60], "born": [True, False] * 2})


@pytest.mark.parametrize("of", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, ()),
        ({"race": ["White", "black", None, None]}, ("race",)),
        ({"race": [None, None, None, "white"]}, ()),
        ({"race": pl.Series(["black", "black", "white", None], dtype=pl.Enum(["white", "black", "other"]))}, ()),
        ({"race": ["white", "black", "white", "asian"]}, ("race",)),
        ({"age": [61, 62, 60, 30]}, ()),
        ({"age": [61, 61, 61, 61]}, ()),
        ({"age": [61, 62, 63, 30]}, ("age",)),
        ({"age": [None, None, 28.0, 29.0]}, ("age",)),
        ({"age": [None, None, None, None]}, ()),
        ({"age": [float("nan"), float("nan"), float("nan"), 30.0]}, ()),
        ({"age": ["30", "40", "50", "60"]}, ()),
        ({"born": [False, False, None, False]}, ()),
    ],
)
def test_columns_with_other_labels(of: Callable[[pl.DataFrame], Any], changed: dict[str, Any], names: Any) -> None:
    after = BEFORE.with_columns(**{name: pl.Series(name, values) for name, values in changed.items()})
    files = open_frame(of(BEFORE)), open_frame(of(after))
    assert relabelled(*files, ["race", "age", "born", "absent"]) == names


def test_an_original_without_values_tells_nothing_of_numbers() -> None:
    empty = BEFORE.with_columns(age=pl.lit(None, pl.Int64))
    assert relabelled(open_frame(empty), open_frame(BEFORE), ["age"]) == ()


def test_a_few_texts_that_are_new_are_no_other_labels() -> None:
    """A file made from a declared domain has some; one that is spelt otherwise is the original's."""
    many = pl.concat([BEFORE] * 20)
    for new, names in (("asian", ()), ("WHITE", ("race",))):
        after = many.with_columns(race=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(new)).otherwise("race"))
        assert relabelled(open_frame(many), open_frame(after), ["race"]) == names


def test_many_texts_of_a_frame_are_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdckit.cells.comparable_files.MOST", 50)
    names = pl.DataFrame({"name": [f"name {i}" for i in range(400)]})
    assert relabelled(open_frame(names), open_frame(names.sample(fraction=1, shuffle=True, seed=1)), ["name"]) == ()


def test_a_made_file_may_have_texts_that_nobody_has() -> None:
    """But not in place of those that it has not."""
    before = open_frame(pl.DataFrame({"job": ["cook", "smith"] * 20}))
    more = open_frame(pl.DataFrame({"job": ["cook", "smith", "clerk"] * 12}))
    translated = open_frame(pl.DataFrame({"job": ["cook", "forgeron"] * 20}))
    assert relabelled(before, more, ["job"]) == relabelled(before, translated, ["job"], made=True) == ("job",)
    assert relabelled(before, more, ["job"], made=True) == ()


# Columns that number people are no columns to compare.

N = 1_200
NUMBERED = {"pid": np.arange(N) // 8, "HHID": np.arange(N) / 4, "mark": [f"x{i}" for i in range(N)], "no": np.arange(N)}
PLAIN = {
    "age": np.arange(N) % 90, "pay": np.arange(N) / 7, "job_id": np.arange(N) % 12, "when": np.arange(N) % 999,
    "born": pl.Series(np.arange(N)).cast(pl.Date), "list": [[i] for i in range(N)],
}  # fmt: skip


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.clone])
def test_columns_that_number_people_or_records_are_named(of: Callable[[pl.DataFrame], Any]) -> None:
    frame = open_frame(of(pl.DataFrame(PLAIN | NUMBERED)))
    warn_of_numbers(frame, [*PLAIN])
    warn_of_numbers(frame, ["list"])
    with pytest.warns(SdcWarning, match="pid, HHID, mark, no: says whose a row is"):
        warn_of_numbers(frame, [*PLAIN, *NUMBERED])


def test_amounts_number_nobody() -> None:
    """Incomes in cents are all different, but pile up below few with more digits; losses are no numbers, either."""
    rng = np.random.default_rng(1)
    cents = rng.permutation(np.unique(np.round(np.exp(rng.normal(14, 1, N + 50))).astype(np.int64)))[:N]
    amounts = {"cents": cents, "gain": np.arange(N) - 9}
    warn_of_numbers(open_frame(pl.DataFrame(amounts)), [*amounts])
    register = {"no": rng.choice(9_000_000, N, replace=False), "order": rng.permutation(N)}
    with pytest.warns(SdcWarning, match="^no, order: says"):
        warn_of_numbers(open_frame(pl.DataFrame(amounts | register)), [*amounts, *register])


def test_few_records_say_nothing_but_by_the_names_of_their_columns() -> None:
    few = open_frame(pl.DataFrame(PLAIN | NUMBERED).head(300))
    with pytest.warns(SdcWarning, match="^pid, HHID, no: says"):
        warn_of_numbers(few, [*PLAIN, *NUMBERED])


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.0, -0.0, 1.0, None], "zeros with and without a minus (x)"), ([-0.0, -0.0, 1.0, None], ""), ([0, 1, -1], ""),
        (["Graz", "Graz ", None], "texts that differ in blanks"), (["New York", "New\u00a0York"], "texts that differ"),
        (["M\u00fcnchen", "Mu\u0308nchen"], "accents are written alone (x)"), (["Wien", "Wi\u200ben"], "nobody sees"),
        (["a b", "ab", "A b", "m2", "m\u00b2"], ""),
        (["30-39", "30\u201339"], "dashes, letters of another alphabet"), (["flu", "flu."], "a point at the end"),
        (["Graz", "Gr\u0430z"], "dashes"), (["7", "07"], "zeros before a number alone (x)"), (["1", "1.0"], "(x)"),
        (["f", "m", "female"], "the first letter, or the beginning up to a point, of another alone (x)"),
        (["diab.", "diabetes", "flu"], "up to a point"), (["f", "m", "missing", "divers", "not asked"], ""),
        (["f", "m", "family", "friend", "fem"], ""), (["A", "AB", "B", "no.", "nothing", "nobody"], ""),
        (["2024-01-05", "2024-1-5"], "zeros before"), (["1.05", "1.5", "10", "1.10", "1.1", "A+", "A-", "<5", "5"], ""),
    ],
)  # fmt: skip
def test_what_is_read_alike_and_written_otherwise_is_said(made: Any, values: list[Any], said: str) -> None:
    """It marked the changed records of a file that was within all limits."""
    found = written_apart(open_frame(made(pl.DataFrame({"x": values, "y": range(len(values))}))))
    assert len(found) == bool(said)
    assert said in "".join(found)


AT = dt.datetime(2024, 5, 3)
NOON, LATER = AT.replace(hour=12, minute=7, second=9), AT.replace(hour=15, microsecond=250_000)
APART = {
    "capitals": (["Graz", "graz"] * 200, ["Graz", "a", "A"] * 200, "texts that differ in capitals alone (x)"),
    "letters for a sex": (["f", "m", "F"] * 200, ["a", "b", "A"] * 200, "texts that differ in capitals alone (x)"),
    "letters of an answer": (["y", "n", "N"] * 200, ["n", "N"] * 200, "texts that differ in capitals alone (x)"),
    "a number of records": (["often", "rare (n=2)"] * 200, ["n", "no = 2 items"] * 200, "they are (x)"),
    "a number of people": (["1 person", "more"] * 200, ["room for 2", "more"] * 200, "they are (x)"),
    "times of day": ([AT, NOON] * 200, [NOON, NOON] * 200, "no time of day, or no part of a second (x)"),
    "parts of a second": ([LATER, NOON] * 200, [AT] * 400, "no time of day, or no part of a second (x)"),
    "decimals": (
        [*(own + 0.25 for own in range(200)), *(own / 7 + 0.1 for own in range(1, 200, 2))],
        [*(own / 3 for own in range(5))] * 200, "few decimals and others all that fit (x)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
@pytest.mark.parametrize("how", APART)
def test_what_tells_some_records_from_others_is_said(made: Any, how: str) -> None:
    """And what all records have, codes, items of a questionnaire and quotients of small numbers are not."""
    values, alike, said = APART[how]
    (found,) = written_apart(open_frame(made(pl.DataFrame({"x": values}))))
    assert said in found
    assert written_apart(open_frame(made(pl.DataFrame({"x": alike})))) == ()


@pytest.mark.parametrize("signs", ["01.,", "aA01.", "+-10.", "0.;:", "aе é0.", "0. \n\r"])
def test_many_texts_at_once_are_read_as_each_alone(signs):
    rng = np.random.default_rng(5)
    telling = 0
    for _ in range(400):
        texts = {"".join(rng.choice([*signs], rng.integers(0, 5))) for _ in range(4)}
        alike = len({*map(module._looked_at, texts)}) < len(texts)
        assert module._some_read_alike(texts) == alike
        telling += alike
    assert 0 < telling < 400
