"""Columns that tell more than their roles say: numbers in the order of a file, hashes that anybody can repeat."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.data.frames import open_frame
from sdckit.data.households import RankedColumns
from sdckit.data.scenarios import column_roles, telling_columns
from sdckit.data.scenarios.column_roles import look_at_columns
from sdckit.data.scenarios.telling_columns import SAYS

RNG = np.random.default_rng(5)
HOME = np.repeat(np.arange(800), RNG.choice([1, 2, 3, 4, 5], 800, p=[0.3, 0.34, 0.15, 0.15, 0.06]))
N = len(HOME)
AGE = RNG.integers(0, 90, N)
DISTRICT = RNG.integers(0, 24, 800)[HOME]
PEOPLE = pl.DataFrame({
    "region": DISTRICT // 6, "sex": RNG.choice(["f", "m"], N), "age": AGE // 30,
    "ill": RNG.choice(["none", "flu", "asthma"], N, p=[0.6, 0.3, 0.1]), "w": RNG.choice([300.0, 400.0], N),
})  # fmt: skip
MIXED = RNG.permutation(N)
SAID: dict[str, Any] = {
    "keys": ["region", "sex", "age"], "sensitive": ["ill"], "weight": "w", "magnitudes": [], "missing": "category",
    "insensitive": ["*"], "insensitive_because": "looked through", "release": "public-use", "household": "none",
}  # fmt: skip


def roles(file: pl.DataFrame, *, made: Any = pl.DataFrame.clone, **entries: Any) -> str:
    """Why the roles are not held; "" where they are. The other limits hold."""
    with quiet():
        result = sdc.check(made(file), scenario=sdc.Scenario(**{**SAID, **entries}))
    (words,) = [own.reason for own in result.verdicts if own.name == "roles" and own.holds is not True] or [""]
    assert result.passed == (not words)
    return words


# Numbers given in the order of the file, which was mixed afterwards.

MEMBER = np.arange(N) - np.searchsorted(HOME, HOME)
NUMBERS = {
    "of rows": np.arange(N),
    "of households and members": HOME * 10 + MEMBER,
    "as texts": [f"P{row:05}" for row in range(N)],
}


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
@pytest.mark.parametrize("how", NUMBERS)
def test_numbers_in_the_order_of_the_file_leave_the_roles_open(how: str, made: Any) -> None:
    """All of 800 households stood one after the other once the rows were sorted by the number of the person."""
    file = PEOPLE.with_columns(person=pl.Series(NUMBERS[how]))
    assert "in the order of 'person' records stand as in a file that was not mixed" in roles(
        file[MIXED], made=made, person="person"
    )
    anew = PEOPLE.with_columns(person=pl.Series(RNG.permutation(N)))
    assert roles(anew[MIXED], made=made, person="person") == ""


def test_serial_numbers_that_are_named_insensitive_are_looked_at() -> None:
    serial = PEOPLE.with_columns(serial=pl.Series(np.arange(N)))[MIXED]
    assert "'serial'" in roles(serial, insensitive=["serial", "*"])
    assert roles(serial.with_columns(serial=pl.Series(RNG.permutation(N))), insensitive=["serial", "*"]) == ""
    amounts = serial.with_columns(serial=pl.col("serial") / 2)  # an amount tells what goes with it, and no household
    assert roles(amounts, insensitive=["serial", "*"]) == ""


def test_numbers_of_people_may_go_by_households_that_go_out() -> None:
    file = PEOPLE.with_columns(person=pl.Series(NUMBERS["of rows"]), home=pl.Series(RNG.permutation(800)[HOME]))
    named = {"person": "person", "household": "home", "thresholds": {"household_risk": "none"}}
    assert roles(file[MIXED], **named) == ""


def test_numbers_in_the_order_of_an_amount_leave_the_roles_open() -> None:
    rank = np.argsort(np.argsort(AGE + RNG.random(N)))
    file = PEOPLE.with_columns(years=pl.Series(AGE // 5), person=pl.Series(rank)).drop("age")[MIXED]
    named = {"person": "person", "keys": ["region", "sex"], "sensitive": ["ill", "years"], "ordered": ["years"]}
    assert "in the order of 'person'" in roles(file, **named)


# Digests under a pattern.


def test_no_pattern_covers_digests_of_what_is_counted() -> None:
    """Pay by hundreds beside pay by thousands: anybody repeats the hash of each hundred."""
    pay = RNG.lognormal(7.6, 0.5, N).astype(int) // 100 * 100
    digests = [hashlib.md5(str(own).encode(), usedforsecurity=False).hexdigest()[:10] for own in pay]
    file = PEOPLE.with_columns(band=pl.Series(pay // 1000), v1=pl.Series(digests))[MIXED]
    assert "'v1' was hidden by what anybody can repeat" in roles(file, sensitive=["ill", "band"])


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_no_pattern_covers_what_would_be_learnt_in_more_detail(made: Any) -> None:
    """Codes of illnesses beside their chapters, and pay in hundreds as a text beside its class."""
    codes, pay = RNG.integers(0, 45, N), RNG.integers(8, 50, N) * 100
    coarse = PEOPLE.with_columns(ill=pl.Series(codes // 9), band=pl.Series(pay // 500))
    learnt: dict[str, Any] = {"sensitive": ["ill", "band"]}
    assert roles(coarse[MIXED], made=made, **learnt) == ""
    for values in ([f"x{code}" for code in codes], [f"{own} EUR" for own in pay]):
        file = coarse.with_columns(v1=pl.Series(values))[MIXED]
        assert "no pattern covers 'v1'" in roles(file, made=made, **learnt)
        assert roles(file, made=made, insensitive=["v1"], **learnt) == ""


# The same in other classes, of a release by itself.

WAGE = np.random.default_rng(6).lognormal(7, 0.6, N)
CLASSES: dict[str, Any] = {
    "a key": AGE // 25,
    "a key, falling": -(AGE // 25),
    "as texts": [f"{own}-{own + 24}" for own in AGE // 25 * 25],
    "a rounded amount": WAGE // 300,
}


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
@pytest.mark.parametrize("how", CLASSES)
def test_no_pattern_covers_what_overlaps_with_classes_that_go_out(made: Any, how: str) -> None:
    """Years of 30 beside years of 25 tell both to within 5 to 25."""
    learnt: dict[str, Any] = {"sensitive": ["ill", "pay"], "thresholds": {"exact_numbers": "none"}}
    coarse = PEOPLE.with_columns(pay=pl.Series((WAGE / 1000).round() * 1000).clip(0, 3000))
    file = coarse.with_columns(v1=pl.Series(CLASSES[how]))[MIXED]
    told = roles(file, made=made, **learnt)
    assert "no pattern covers 'v1'" in told
    assert roles(file, made=made, insensitive=["v1"], **learnt) == ""  # who names it has looked
    coarser = coarse.with_columns(v1=pl.Series(AGE // 60), v2=pl.Series(AGE >= 65), v3=pl.col("pay") // 2000)[MIXED]
    assert roles(coarser, made=made, **learnt) == ""


# Flags of a finer key that was left out.


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
@pytest.mark.parametrize("flags", ["all", "all but one", "texts"])
def test_no_pattern_covers_flags_that_together_tell_a_key_in_more_detail(made: Any, flags: str) -> None:
    """Each of 24 flags says little by itself; together they are the district of everybody, beside its region."""
    districts = range(24 - (flags == "all but one"))
    columns = {f"d{at}": pl.Series(at == DISTRICT) for at in districts}
    if flags == "texts":
        columns = {name: own.replace_strict({True: "yes", False: "no"}) for name, own in columns.items()}
    told = roles(PEOPLE.with_columns(**columns)[MIXED], made=made)
    assert "no pattern covers 'd0', 'd1', 'd2', 'd3', 'd4' and 1" in told
    assert roles(PEOPLE.with_columns(**columns)[MIXED], made=made, insensitive=["*", *columns]) == ""


def test_a_pattern_covers_flags_that_tell_no_key() -> None:
    """Items of some alone, answers that exclude each other, flags of regions that go out as they are."""
    women, answer = PEOPLE["sex"] == "f", pl.Series(RNG.integers(0, 5, N))
    asked = {f"v{at}": women & (answer == at) for at in range(4)}
    answers = {f"q{at}": answer == at for at in range(5)}
    regions = {f"r{at}": PEOPLE["region"] == at for at in range(4)}
    assert roles(PEOPLE.with_columns(**asked, **answers, **regions)[MIXED]) == ""


# What tells a column that is left out.

PAY = np.random.default_rng(8).lognormal(8, 0.8, N).round()
TELLS_PAY: dict[str, Any] = {
    "classes": np.searchsorted(np.quantile(PAY, np.arange(1, 20) / 20), PAY),
    "its logarithm": np.log(PAY).round(1),
    "what is left of the largest": -(PAY // 500),
    "a flag of its classes": np.searchsorted([2_000, 4_000, 9_000], PAY),
}


@pytest.mark.parametrize("role", [{"sensitive": ["pay"]}, {"magnitudes": ["pay"]}, {"keys": ["sex", "pay"]}])
@pytest.mark.parametrize("how", TELLS_PAY)
def test_what_tells_a_column_that_is_left_out_leaves_the_roles_open(how: str, role: dict[str, Any]) -> None:
    """Pay was left out, and twenty classes of it went out under `*`: every column had a role, and every limit held."""
    whole = open_frame(PEOPLE.with_columns(pay=pl.Series(PAY), v9=pl.Series(TELLS_PAY[how]))[MIXED])
    entries: dict[str, Any] = {"keys": ["sex"], "insensitive": ["*"], "insensitive_because": "looked through", **role}

    def not_judged(released: Any, **more: Any) -> dict[str, tuple[str, ...]]:
        scenario = sdc.Scenario(**{**entries, **more})
        return dict(look_at_columns(scenario, [released], original=whole).not_judged)

    assert not_judged(whole.drop("pay")) == {SAYS["left_out"]: ("v9",)}
    assert not_judged(whole.drop("pay").with_columns(nw.col("v9") * 0)) == {}
    assert not_judged(whole.drop("pay", "v9")) == {}
    assert not_judged(whole.drop("pay"), release="synthetic") == {}
    assert SAYS["left_out"] not in not_judged(whole)
    assert SAYS["left_out"] not in not_judged(whole.drop("pay"), sensitive=["v9"])


def test_what_goes_out_may_tell_as_much_as_what_is_left_out() -> None:
    """A density of each region is no news where the region goes out and its districts do not."""
    whole = open_frame(PEOPLE.with_columns(district=pl.Series(DISTRICT), dense=pl.Series(DISTRICT // 6 % 3))[MIXED])
    for keys, told in ((["region", "district", "sex"], False), (["district", "sex"], True)):
        scenario = sdc.Scenario(keys=keys, insensitive=["dense"])
        left = look_at_columns(scenario, [whole.drop("district")], original=whole).not_judged
        assert ("dense" in dict(left).get(SAYS["left_out"], ())) is told


# What tells amounts of an original in more detail than they go out.

CHANGED: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "rounded": lambda pay: (pay / 1000).round() * 1000,
    "noisy": lambda pay: pay * pl.Series(np.random.default_rng(2).uniform(0.7, 1.4, N)[MIXED]),
}


def not_judged(before: pl.DataFrame, after: pl.DataFrame, **entries: Any) -> dict[str, tuple[str, ...]]:
    """What leaves the roles open of a release beside its original, by words."""
    said = {"keys": ["sex"], "insensitive": ["*"], "insensitive_because": "looked through", **entries}
    frames = [open_frame(file) for file in (before, after)]
    return dict(look_at_columns(sdc.Scenario(**said), frames[1:], original=frames[0]).not_judged)


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("how", TELLS_PAY)
def test_classes_beside_a_sensitive_amount_that_is_coarser_leave_the_roles_open(how: str, change: str) -> None:
    """Pay went out in thousands beside twenty classes of it as it was, which together told it more closely."""
    whole = PEOPLE.with_columns(pay=pl.Series(PAY), v9=pl.Series(TELLS_PAY[how]))[MIXED]
    coarse, said = whole.with_columns(CHANGED[change](pl.col("pay"))), {"sensitive": ["pay"]}
    assert not_judged(whole, coarse, **said)[SAYS["learnt_before"]] == ("v9",)
    for words in (SAYS["learnt_before"], SAYS["beyond"], SAYS["of_members"]):  # said of a single column, too
        assert re.match(r"Not judged: what \{\} holds (follows|tells|is) ", words)
    assert SAYS["learnt_before"] not in not_judged(whole, whole, **said)
    assert SAYS["learnt_before"] not in not_judged(whole, coarse.with_columns(v9=pl.col("pay") // 9000), **said)
    assert SAYS["learnt_before"] not in not_judged(whole, coarse, **said, release="synthetic")
    assert SAYS["learnt_before"] not in not_judged(whole, coarse, sensitive=["pay", "v9"])


def test_an_illness_that_was_put_together_is_told_by_what_follows_from_it() -> None:
    ward = pl.col("ill").replace_strict({"none": 0, "flu": 1, "asthma": 2})
    whole = PEOPLE.with_columns(v9=ward)[MIXED]
    coarse = whole.with_columns(ill=pl.col("ill") == "none")
    assert not_judged(whole, coarse, sensitive=["ill"]) == {SAYS["learnt_before"]: ("v9",)}
    assert not_judged(whole, coarse.with_columns(v9=pl.col("ill")), sensitive=["ill"]) == {}


BORDERS, MOST = [1_000, 2_000, 4_000, 8_000, 16_000], 12_000
ENDS: dict[str, Any] = {
    "a largest number": lambda pay: pay.clip(None, MOST),
    "a mean beyond it": lambda pay: pl.when(pay >= MOST).then(pay.filter(pay >= MOST).mean()).otherwise(pay),
    "bands with words": lambda pay: (
        pl.when(pay > 8_000).then(pl.lit("8001 or more")).when(pay > 4_000).then(pl.lit("4001-"))
        .when(pay > 2_000).then(pl.lit("2001-")).when(pay > 1_000).then(pl.lit("1001-"))
        .when(pay > 700).then(pl.lit("701-")).otherwise(pl.lit("<701"))
    ),
}  # fmt: skip


@pytest.mark.parametrize("role", ["sensitive", "magnitudes", "keys"])
@pytest.mark.parametrize("how", ENDS)
def test_classes_beyond_the_largest_amount_leave_the_roles_open(how: str, role: str) -> None:
    """Pay went out as 12,000 at most, beside classes of it that part those with more; few are, as many as errors."""
    whole = PEOPLE.with_columns(pay=pl.Series(PAY), v9=pl.Series(np.searchsorted(BORDERS, PAY)))[MIXED]
    entries = {role: ["pay"]}
    top_coded = whole.with_columns(ENDS[how](pl.col("pay")).alias("pay"))
    few = np.count_nonzero(BORDERS[-1] < PAY)
    assert 20 <= few <= 0.05 * N
    assert dict(not_judged(whole, top_coded, **entries)).get(SAYS["beyond"]) == ("v9",)
    together = top_coded.with_columns(pl.col("v9").clip(None, 4))
    assert SAYS["beyond"] not in not_judged(whole, together, **entries)
    assert SAYS["beyond"] not in not_judged(whole, whole, **entries)
    mixed = top_coded.with_columns(v9=pl.col("v9").shuffle(seed=1))
    assert SAYS["beyond"] not in not_judged(mixed.with_columns(pay=whole["pay"]), mixed, **entries)


def test_classes_below_the_smallest_amount_leave_the_roles_open() -> None:
    whole = PEOPLE.with_columns(pay=pl.Series(-PAY), v9=pl.Series(np.searchsorted(BORDERS, PAY)).cast(pl.String))[MIXED]
    assert not_judged(whole, whole.with_columns(pl.col("pay").clip(-MOST)), sensitive=["pay"]) == {
        SAYS["beyond"]: ("v9",)
    }


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_what_a_household_has_together_tells_its_members(how: str) -> None:
    """Pay was left out or rounded, and the household's, in hundreds, went out under `*`: one in eight lives alone."""
    people = PEOPLE.with_columns(home=pl.Series(HOME), pay=pl.Series(PAY))
    own = (getattr(pl.col("pay"), how)().over("home") / 100).round()
    rent = pl.Series(np.random.default_rng(3).lognormal(6, 0.5, 800)[HOME].round(-1))
    whole, said = people.with_columns(v9=own, rent=rent)[MIXED], {"household": "home", "sensitive": ["pay"]}
    rounded = whole.with_columns(CHANGED["rounded"](pl.col("pay")))
    for file in (whole.drop("pay"), whole.drop("pay", "home"), rounded, whole.with_columns(pl.col("pay") * 1.01)):
        assert not_judged(whole, file, **said)[SAYS["of_members"]] == ("v9",)
    assert SAYS["of_members"] in not_judged(whole, rounded, household="home", magnitudes=["pay"])
    assert SAYS["of_members"] not in not_judged(whole, rounded.with_columns(own.alias("v9")), **said)  # computed anew
    assert SAYS["of_members"] not in not_judged(whole, whole, **said)
    assert SAYS["of_members"] not in not_judged(whole, rounded.drop("v9"), **said)
    assert SAYS["of_members"] not in not_judged(whole, rounded, household="home", sensitive=["pay", "v9"])


def test_of_many_records_whole_households_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling_columns, "ROWS", 600)
    monkeypatch.setattr(column_roles, "AT_HAND", 500)
    test_what_a_household_has_together_tells_its_members("sum")


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_what_a_household_has_together_tells_its_members_rounded_too(how: str) -> None:
    """Of one in ten pay was taken out, and the household's in hundreds went out beside it."""
    people = PEOPLE.with_columns(home=pl.Series(HOME), pay=pl.Series(PAY))
    figure = getattr(pl.col("pay"), how)().over("home")
    whole, said = people.with_columns(v9=figure)[MIXED], {"household": "home", "sensitive": ["pay"]}
    own = pl.Series(np.random.default_rng(4).random(N) < 0.9)
    coarse = whole.with_columns((pl.col("v9") / 100).round() * 100)
    taken = pl.when(own).then("pay").alias("pay")
    for file in (coarse.with_columns(taken), coarse.drop("pay"), coarse.drop("pay", "home")):
        assert not_judged(whole, file, **said)[SAYS["of_members"]] == ("v9",)
    rounded = whole.with_columns((pl.col("pay") / 100).round() * 100)
    assert SAYS["of_members"] not in not_judged(whole, rounded.with_columns(v9=figure), **said)  # computed anew
    noisy = coarse.with_columns(pl.col("v9") + pl.Series(np.random.default_rng(5).integers(-9, 9, N) * 100))
    assert SAYS["of_members"] not in not_judged(whole, noisy.drop("pay"), **said)
    tens = whole.with_columns((pl.col("v9") / 100_000).round() * 100_000)  # which tells no more than a range
    assert SAYS["of_members"] not in not_judged(whole, tens.drop("pay"), **said)
    endless = whole.with_columns(v9=pl.col("v9") * 1e300)
    assert SAYS["of_members"] not in not_judged(whole, endless.drop("pay"), **said)


# What another member of the household has.


def mates(*, years: Any = AGE) -> pl.DataFrame:
    """People of households with the age of the next member, the first one's of the last."""
    people = PEOPLE.with_columns(home=pl.Series(HOME), age=pl.Series(years))
    alone = pl.len().over("home") == 1
    following = pl.col("age").shift(-1).fill_null(pl.col("age").first()).over("home")
    return people.with_columns(v9=pl.when(~alone).then(following))


def test_the_age_of_a_mate_leaves_the_roles_open_where_ages_are_coarser() -> None:
    """Ages went out in thirties, and each person's beside that of the husband or wife."""
    whole, said = mates()[MIXED], {"keys": ["age", "sex"], "household": "home"}
    coarse = whole.with_columns(pl.col("age") // 30)
    for file in (coarse, coarse.drop("home"), whole.drop("age")):
        assert not_judged(whole, file, **said).get(SAYS["of_mates"]) == ("v9",)
    of_first = whole.with_columns(v9=pl.col("age").first().over("home"))
    assert SAYS["of_mates"] in not_judged(of_first, of_first.drop("age"), **said)
    for file in (whole, coarse.with_columns(pl.col("v9") // 30), coarse.drop("v9")):
        assert SAYS["of_mates"] not in not_judged(whole, file, **said)
    assert SAYS["of_mates"] not in not_judged(whole, coarse, **said, release="synthetic")
    assert SAYS["of_mates"] not in not_judged(whole, coarse, **said, sensitive=["v9"])
    others = whole.with_columns(pl.col("v9").shuffle(seed=1))
    assert SAYS["of_mates"] not in not_judged(others, others.drop("age"), **said)
    own = whole.with_columns(v9=pl.col("age"))
    assert SAYS["of_mates"] not in not_judged(own, own.drop("age"), **said)
    few = mates(years=AGE // 20)[MIXED]
    assert SAYS["of_mates"] not in not_judged(few, few.drop("age"), **said)
    alone = whole.with_columns(home=pl.Series(np.arange(N)))
    assert SAYS["of_mates"] not in not_judged(alone, alone.drop("age"), **said)


# Numbers of rows, and rows in the order of an original.


def test_a_number_of_the_rows_of_an_original_leaves_the_roles_open() -> None:
    """People in no order that anybody could see were numbered, and mixed: the number put them back in order."""
    whole = PEOPLE[RNG.permutation(N)].with_columns(no=pl.Series(np.arange(N) * 3))
    mixed = whole[MIXED]
    falling = pl.Series(np.arange(N)[::-1] * 2)
    for named in ({"insensitive": ["no"]}, {}):
        assert not_judged(whole, mixed, **named)[SAYS["restored"]] == ("no",)
        assert SAYS["restored"] in not_judged(
            whole.with_columns(no=falling), whole.with_columns(no=falling)[MIXED], **named
        )
    texts = whole.with_columns(pl.format("P{}", pl.col("no") + 100_000).alias("no"))
    assert SAYS["restored"] in not_judged(texts, texts[MIXED].head(900))
    assert SAYS["restored"] not in not_judged(whole, whole)  # these rows stand as they stood
    assert SAYS["restored"] not in not_judged(whole, mixed.with_columns(no=pl.Series(RNG.permutation(N) * 3)))
    assert SAYS["restored"] not in not_judged(whole[MIXED], mixed[MIXED])
    assert SAYS["restored"] not in not_judged(whole, mixed.with_columns(no=pl.col("no") / 2))
    assert SAYS["restored"] not in not_judged(whole, mixed, release="synthetic")


def test_a_number_of_every_record_is_said_to_link_files() -> None:
    file = PEOPLE.with_columns(no=pl.Series(RNG.permutation(N)))[MIXED]
    scenario = sdc.Scenario(keys=["sex"], insensitive=["no", "w"])
    for number in (pl.col("no"), pl.col("no").cast(pl.String), pl.from_epoch("no")):
        found = look_at_columns(scenario, [open_frame(file.select("sex", number))])
        assert (found.holds, dict(found.not_judged)) == (True, {SAYS["different"]: ("no",)})
        assert "No figure counts 'no', which is named insensitive and different in every record" in found.words
    for other in (pl.col("no") / 2, pl.col("no") // 2, pl.when(pl.col("no") > 0).then("no")):
        assert SAYS["different"] not in dict(
            look_at_columns(scenario, [open_frame(file.with_columns(no=other))]).not_judged
        )


SORTS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "rising": lambda file: file.sort("years"),
    "falling": lambda file: file.sort("years", descending=True, maintain_order=True),
    "missing last": lambda file: file.sort("years", nulls_last=True),
}


@pytest.mark.parametrize("how", SORTS)
def test_rows_in_the_order_of_exact_values_leave_the_roles_open(how: str) -> None:
    """The file was sorted by years of age, which then went out in thirties, or not at all."""
    years = pl.when(pl.Series(AGE) > 0).then(pl.Series(AGE)).alias("years")
    whole = PEOPLE.drop("age").with_columns(years)[MIXED]
    for keys in (["years", "sex"], ["sex"]):
        said: dict[str, Any] = {"keys": keys, "sensitive": ["ill"] if "years" in keys else ["ill", "years"]}
        ordered = SORTS[how](whole)
        for file in (ordered.with_columns(pl.col("years") // 30), ordered.drop("years")):
            assert not_judged(whole, file, **said)[SAYS["by_exact"]] == ("years",)
            assert SAYS["by_exact"] not in not_judged(whole, file[MIXED], **said)
            assert SAYS["by_exact"] not in not_judged(whole, file, **said, release="synthetic")
        assert SAYS["by_exact"] not in not_judged(whole, ordered, **said)
        coarse = whole.with_columns(pl.col("years") // 30)
        assert SAYS["by_exact"] not in not_judged(whole, coarse.sort("years", "sex"), **said)


def test_rows_may_stand_by_what_goes_out() -> None:
    """What was left out follows from what the file is sorted by."""
    whole = PEOPLE.with_columns(years=pl.Series(AGE), born=2000 - pl.Series(AGE))[MIXED]
    file = whole.sort("born").drop("years")
    assert SAYS["by_exact"] not in not_judged(whole, file, sensitive=["years"])
    assert SAYS["by_exact"] in not_judged(whole, file.drop("born"), sensitive=["years"])


# Flags that are sensitive, sizes and numbers within households, weights that nobody named.


def test_a_sensitive_flag_of_a_key_as_it_was_leaves_the_roles_open() -> None:
    whole = PEOPLE.with_columns(age=pl.Series(AGE), v9=pl.Series(AGE >= 65))[MIXED]
    coarse, said = whole.with_columns(pl.col("age") // 20), {"keys": ["age", "sex"], "sensitive": ["v9"]}
    assert not_judged(whole, coarse, **said)[SAYS["told_before"]] == ("v9",)
    assert SAYS["told_before"] not in not_judged(whole, whole.with_columns(pl.col("age") // 5), **said)
    assert SAYS["told_before"] not in not_judged(whole, coarse.with_columns(v9=pl.col("age") > 2), **said)
    assert SAYS["told_before"] not in not_judged(whole, coarse, **said, release="synthetic")
    assert SAYS["told_before"] not in not_judged(
        whole, coarse, **{**said, "keys": ["age", "sex", "v9"], "sensitive": []}
    )


@pytest.mark.parametrize("how", ["size", "no"])
def test_sizes_of_households_and_numbers_of_members_are_no_answers(how: str) -> None:
    size = pl.len().over("home").cast(pl.Int64)
    number = pl.int_range(pl.len()).over("home") + 1
    whole = PEOPLE.with_columns(home=pl.Series(HOME)).with_columns(v9=size if how == "size" else number)[MIXED]
    named = sdc.Scenario(keys=["sex"], insensitive=["v9"], household="home")
    columns = ["sex", "v9", "home"]
    found = look_at_columns(named, [open_frame(whole[columns])])
    assert (found.holds, dict(found.not_judged)) == (True, {SAYS["of_homes"]: ("v9",)})
    without = look_at_columns(named, [open_frame(whole[columns[:2]])], original=open_frame(whole[columns]))
    assert dict(without.not_judged)[SAYS["of_homes"]] == ("v9",)
    by_pattern = sdc.Scenario(keys=["sex"], insensitive=["*"], insensitive_because="looked", household="home")
    assert look_at_columns(by_pattern, [open_frame(whole[columns])]).known == ("v9",)
    for other in (pl.col("v9").shuffle(seed=1), pl.col("v9") + 0.5, pl.when(pl.col("v9") > 1).then("v9")):
        file = open_frame(whole[columns].with_columns(v9=other))
        assert SAYS["of_homes"] not in dict(look_at_columns(named, [file]).not_judged)


def test_a_weight_that_contradicts_the_sampling_fraction_leaves_the_roles_open() -> None:
    file = PEOPLE.with_columns(weight=pl.col("w"))

    def told(column: pl.Expr, fraction: float | None) -> bool:
        scenario = sdc.Scenario(keys=["sex"], insensitive=["weight", "w", "*"], insensitive_because="looked",
                                sampling_fraction=fraction)  # fmt: skip
        frames = [open_frame(file.with_columns(weight=column))]
        return "weight" in dict(look_at_columns(scenario, frames).not_judged).get(SAYS["fewer_people"], ())

    weight = pl.col("weight")
    assert told(weight, 1 / 1_000)
    for column, fraction in ((weight, 1 / 350), (weight, None), (weight / 350, 1 / 1_000), (weight - 300, 1 / 1_000)):
        assert not told(column, fraction)


# A number that tells all records apart puts nobody together.


@pytest.mark.parametrize("role", ["household", "person"])
def test_a_number_of_every_record_does_not_say_who_lives_together(role: str) -> None:
    """The household or the person that the scenario named had one row each: that all rows stood by household passed."""
    homes = pl.DataFrame({"area": RNG.integers(0, 9, 800)})[HOME]
    numbers = {"every record": pl.Series(RNG.permutation(N)), "every home": pl.Series(RNG.permutation(800)[HOME])}
    said: dict[str, Any] = {"keys": ["sex"], "weight": None, "household": None, role: "no"}
    for of, number in numbers.items():
        file = homes.with_columns(PEOPLE["sex"], no=number)
        scenario = sdc.Scenario(**{**said, "insensitive": ["area"]})
        told = [dict(look_at_columns(scenario, [open_frame(own)]).not_judged) for own in (file, file[MIXED])]
        assert [SAYS["rows_together"] in own for own in told] == [of == "every record", False]


# Replicate weights.

UNIT = np.random.default_rng(9).integers(0, 60, N)


def replicates(how: str, n_columns: int = 20) -> np.ndarray:
    """Weights of records, multiplied by what each replicate takes of the unit that they were drawn with."""
    rng, size = np.random.default_rng(10), (60, n_columns)
    group, sign = rng.integers(0, n_columns, (60, 1)), rng.choice([-1, 1], (30, n_columns)).repeat(2, axis=0)
    sign[1::2] *= -1
    factors = {
        "jackknife": np.where(np.arange(n_columns) == group, 0, n_columns / (n_columns - 1)),
        "halves": 1 + sign, "halves after Fay": 1 + sign / 2,
        "bootstrap": rng.multinomial(59, np.full(60, 1 / 60), n_columns).T * 60 / 59,
        "differences": rng.choice([0.3, 1, 1, 1.7], size),
    }[how.removesuffix(", calibrated")]  # fmt: skip
    weights = rng.lognormal(5, 0.5, (N, 1)) * factors[UNIT]
    cell = PEOPLE["age"].to_numpy()
    return np.asarray(weights * (rng.normal(1, 0.02, (3, n_columns))[cell] if "calibrated" in how else 1)).round(2)


def with_columns_of(values: Any, name: str) -> pl.DataFrame:
    """People with some columns under a pattern, and one more."""
    some = {f"{name}{at}": column for at, column in enumerate(np.asarray(values, float).T)}
    return PEOPLE.with_columns(**some, att=pl.Series(np.arange(N) % 7))[MIXED]


WAYS = ["jackknife", "halves", "halves after Fay", "bootstrap", "differences"]


@pytest.mark.parametrize("name", ["repwgt", "v"])
@pytest.mark.parametrize("how", [*WAYS, "halves after Fay, calibrated", "differences, calibrated"])
def test_replicate_weights_under_a_pattern_leave_the_roles_open(how: str, name: str) -> None:
    """Whose columns are zero and doubled together was drawn together: all of sixty units were told, and it passed."""
    file = with_columns_of(replicates(how), name)
    assert len(np.unique(file.select(f"^{name}.*$").to_numpy(), axis=0)) > N / 2  # and no value says so by itself
    words = {"insensitive_because": "x", "keys": ["sex"], "weight": "w", "sensitive": ["ill"]}

    def not_judged(*patterns: str) -> Any:
        scenario = sdc.Scenario(insensitive=[*patterns], **words)
        return dict(look_at_columns(scenario, [open_frame(file)]).not_judged).get(SAYS["replicates"], ())

    every = tuple(f"{name}{at}" for at in range(20))
    assert {*not_judged("*")} == {*every}
    assert not_judged("*", f"{name}*") == ()  # a pattern of their own
    assert {*not_judged("att", "*")} == {*every}
    assert not_judged("*", *every) == ()


def test_a_pattern_of_replicate_weights_alone_covers_those_of_few_values_too() -> None:
    """Of rounded weights two of twenty had too few values to be seen, and their pattern was taken for one of others."""
    drawn = replicates("jackknife")
    drawn[:, :2] = (drawn[:, :2] > 0) * drawn.mean()
    file = with_columns_of(drawn, "rw").with_columns(rwx=pl.col("rw0") * 9)
    words = {"insensitive_because": "x", "keys": ["sex"], "weight": "w", "sensitive": ["ill"]}

    def not_judged(frame: pl.DataFrame) -> Any:
        scenario = sdc.Scenario(insensitive=["rw*", "att"], **words)
        return dict(look_at_columns(scenario, [open_frame(frame)]).not_judged).get(SAYS["replicates"], ())

    assert not_judged(file.drop("rwx")) == ()
    assert len(not_judged(file)) == 18  # the pattern covers what is none of them


def others() -> dict[str, Any]:
    rng, n_columns = np.random.default_rng(11), 16
    amounts, months = rng.lognormal(6, 0.6, (N, 1)), np.arange(n_columns)
    changed = rng.integers(0, n_columns, (N, 1)) <= months
    before, after = rng.integers(1, 12, (2, N, 1))
    once = np.where(rng.integers(0, n_columns, (N, 1)) == months, rng.uniform(0.4, 1.6, (N, 1)), 1)
    return {
        "answers": np.clip(np.rint(rng.normal(3, 1, (N, 1)) + rng.normal(0, 1, (N, n_columns))), 1, 5),
        "incomes of years": amounts * np.exp(np.cumsum(rng.normal(0, 0.15, (N, n_columns)), axis=1)),
        "incomes that change once": amounts * once,
        "months of work": changed, "states by month": np.where(changed, before, after),
        "visits": rng.poisson(rng.gamma(2, 3, (N, 1)), (N, n_columns)), "measures": rng.gamma(2, 3, (N, n_columns)),
        "spending": rng.lognormal(3, 1, (N, n_columns)) * (rng.random((N, n_columns)) < 0.3),
        "points of a curve": amounts * (1 + 0.3 * np.sin(months / 3 + rng.normal(0, 1, (N, 1)))),
    }  # fmt: skip


OTHERS = others()


@pytest.mark.parametrize("how", OTHERS)
def test_other_sets_of_columns_are_no_replicate_weights(how: str) -> None:
    values = np.asarray(OTHERS[how], float).round()
    file = open_frame(with_columns_of(values, "v"))
    assert telling_columns.replicate_weights(RankedColumns.of(file), [f"v{at}" for at in range(16)]) == []


# What an owner makes by hand of an original: digests, columns counted on, new columns.


def test_days_counted_on_stand_for_dates_that_were_left_out() -> None:
    """The date of admission was left out as an identifier; the day since the first one went out, and named all."""
    days = np.random.default_rng(4).integers(0, 365, N)
    before = PEOPLE.with_columns(admitted=pl.Series(19_000 + days).cast(pl.Date))[MIXED]
    said = {"identifiers": ["admitted"], "insensitive": ["v9"], "aligned": True}
    for shown, told in (
        (days - 7, True),
        (days // 30, False),
        (np.random.default_rng(5).permutation(365)[days], False),
    ):
        after = PEOPLE.with_columns(v9=pl.Series(shown))[MIXED]
        assert (not_judged(before, after, **said).get(SAYS["left_out"]) == ("v9",)) is told
        assert SAYS["left_out"] not in not_judged(before, after, **{**said, "identifiers": []})


def test_columns_that_only_the_release_has_are_held_against_the_original() -> None:
    """Groups of diagnoses were made of full codes and went out beside chapters: no figure had seen them."""
    codes = np.random.default_rng(6).integers(0, 30, N)
    before = PEOPLE.with_columns(ill=pl.Series(codes))[MIXED]
    after = PEOPLE.with_columns(ill=pl.Series(codes // 10), v9=pl.Series(codes // 2))[MIXED]
    said = {"sensitive": ["ill"], "insensitive": ["v9"]}
    assert not_judged(before, after, aligned=True, **said).get(SAYS["learnt_before"]) == ("v9",)
    anew = after.with_columns(v9=pl.col("ill") % 2)
    assert not_judged(before, anew, aligned=True, **said) == {}
    fewer = not_judged(before, after[:-1], aligned=True, **said)  # whose rows they are nobody knows
    assert SAYS["learnt_before"] not in fewer


def test_the_days_between_two_dates_that_were_made_coarser_leave_the_roles_open() -> None:
    """Admission and discharge went out as years, and the length of the stay, which both tell, by the day."""
    rng = np.random.default_rng(7)
    admitted, los = rng.integers(0, 700, N), rng.integers(0, 40, N)
    days = {"admitted": 19_000 + admitted, "left": 19_000 + admitted + los}
    dates = [pl.Series(name, own).cast(pl.Date) for name, own in days.items()]
    before = PEOPLE.with_columns(*dates, los=pl.Series(los))[MIXED]
    years = before.with_columns(pl.col("admitted", "left").dt.truncate("1y"))
    said = {"keys": ["sex", "admitted", "left"], "insensitive": ["los"]}
    for after, told in (
        (years, True), (before.drop("left"), True), (before, False), (before[: N // 2], False),
        (years.drop("los"), False),
        (years.with_columns(los=pl.col("los") * 10 + pl.Series(rng.integers(0, 9, N))), False),
    ):  # fmt: skip
        of_release = {**said, "insensitive": ["los"] if "los" in after.columns else []}
        assert ("los" in not_judged(before, after, **of_release).get(SAYS["told_before"], ())) is told
    assert SAYS["told_before"] not in not_judged(before, years, **{**said, "keys": ["sex"]})


def test_sizes_of_classes_are_said_though_no_column_numbers_these() -> None:
    """The class was left out, and its size and the school's went out under a pattern: together they told nearly all."""
    rng = np.random.default_rng(2)
    school = np.repeat(np.arange(20), 4)
    size = rng.integers(15, 31, 80)
    pupils = pl.DataFrame({
        "v1": size, "v2": np.bincount(school, size)[school].astype(np.int64), "answer": size // 2,
    })[np.repeat(np.arange(80), size)]  # fmt: skip
    pupils = pupils.with_columns(sex=pl.Series(rng.choice(["f", "m"], len(pupils))))
    mixed = pupils.sample(fraction=1, shuffle=True, seed=1)
    scenario = sdc.Scenario(keys=["sex"], insensitive=["*"], insensitive_because="looked through")
    covered = look_at_columns(scenario, [open_frame(mixed)])
    assert covered.missing == covered.known == ("v1", "v2")
    named = scenario.model_copy(update={"insensitive": ("v1", "v2", "answer")})
    looked = look_at_columns(named, [open_frame(mixed)])
    assert (dict(looked.not_judged), looked.holds) == ({SAYS["of_homes"]: ("v1", "v2")}, True)
    assert look_at_columns(scenario, [open_frame(mixed.head(1_000))]).missing == ()  # of a part nobody sees it


def test_an_age_beside_the_year_of_a_row_tells_a_year_of_birth_that_went_out_in_classes() -> None:
    rng = np.random.default_rng(2)
    year, born = rng.integers(2018, 2024, 3_000), rng.integers(1930, 2000, 3_000)
    rows = pl.DataFrame({
        "year": year, "person": rng.integers(0, 600, 3_000), "born": born // 20, "v1": year - born,
        "v2": rng.integers(18, 90, 3_000), "sex": rng.choice(["f", "m"], 3_000),
    })  # fmt: skip
    said: dict[str, Any] = {"keys": ["born", "sex"], "person": "person", "time": "year"}
    scenario = sdc.Scenario(**said, insensitive=["v*"], insensitive_because="looked through")
    assert look_at_columns(scenario, [open_frame(rows)]).missing == ("v1",)
    named = look_at_columns(sdc.Scenario(**said, insensitive=["v1", "v2"]), [open_frame(rows)])
    assert (named.finer, named.holds) == ((("v1", "born"),), True)
    exact = rows.with_columns(born=pl.lit(born))
    assert look_at_columns(scenario, [open_frame(exact)]).holds is True  # by an age nothing more is told then


def test_shares_and_scores_within_groups_that_go_out_leave_the_roles_open() -> None:
    """Turnover in classes beside each firm's share of its region's sum, which a published table has."""
    rng, sales = np.random.default_rng(5), pl.col("sales")
    firms = pl.DataFrame({"region": rng.integers(0, 6, N), "sales": rng.lognormal(8, 1, N).round(0), "sex": ["f"] * N})
    share, score = (own.over("region") for own in (sales / sales.sum(), (sales.mean() - sales) / sales.std()))
    before = firms.with_columns(share=share, score=score, staff=pl.Series(rng.integers(1, 99, N)))[MIXED]
    classes, of_region = before.with_columns(sales // 2_000), ("share", "score")
    for after, told in (
        (classes, of_region), (before.drop("sales"), of_region), (before, ()), (classes.drop("region"), ()),
        (classes.with_columns(pl.col(of_region).round(0)), ()), (before.with_columns((sales / 10).round(0) * 10), ()),
        (before.with_columns(pl.when(sales < 9_000).then(sales)), of_region),
    ):  # fmt: skip
        said = {"keys": sorted({"sex", "region"} & {*after.columns}), "insensitive": [*of_region, "staff"]}
        found = not_judged(before, after, sensitive=["sales"], **said)
        assert {*found.get(SAYS["learnt_before"], ()), *found.get(SAYS["left_out"], ())} == {*told}
