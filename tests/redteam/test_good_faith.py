"""Files that tell people, sent out in good faith: what the gate passed, since nobody had asked about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet

RNG = np.random.default_rng(5)
SIZE = RNG.choice([1, 2, 3, 4, 5, 6], 800, p=[0.3, 0.33, 0.15, 0.14, 0.06, 0.02])
HOME = np.repeat(np.arange(800), SIZE)
N = len(HOME)
AGE = RNG.integers(0, 90, N)
PEOPLE = pl.DataFrame({
    "home": RNG.permutation(800)[HOME], "region": RNG.choice(list("NSEW"), 800)[HOME], "sex": RNG.choice(["f", "m"], N),
    "age": AGE // 30, "ill": RNG.choice(["none", "flu", "asthma"], N, p=[0.6, 0.3, 0.1]),
    "opinion": RNG.integers(1, 6, N), "w": RNG.uniform(300, 900, 800).round(1)[HOME],
})  # fmt: skip
ROUNDED = PEOPLE.drop("home").with_columns((pl.col("w") / 100).round() * 100)
SAID: dict[str, Any] = {
    "keys": ["region", "sex", "age"], "sensitive": ["ill"], "weight": "w", "magnitudes": [], "missing": "category",
    "insensitive": ["*"], "insensitive_because": "looked through", "release": "public-use",
}  # fmt: skip
MIXED = RNG.permutation(N)


def judged(*files: pl.DataFrame, **entries: Any) -> dict[str, tuple[str, str]]:
    scenario = sdc.Scenario(**{**SAID, "household": "none", **entries})
    with quiet():
        result = sdc.check(*files, scenario=scenario, seed=1 if len(files) > 1 else None)
    return {verdict.name: (verdict.word, verdict.reason) for verdict in result.verdicts if verdict.holds is not True}


# Columns that nobody named, under a pattern for all that have no other role.


UNNAMED: dict[str, Any] = {
    "years in place of age groups": {"v1": [f"{age // 5 * 5}+" for age in AGE]},
    "a number in a text": {"extra": [json.dumps({"v": int(age) // 3}) for age in AGE]},
    "districts of regions": {"u": [f"{own}{code}" for own, code in zip(PEOPLE["region"], HOME % 11, strict=True)]},
    "day and month of birth": {"birth_day": RNG.integers(1, 29, N), "birth_month": RNG.integers(1, 13, N)},
    "coordinates": {"lat": (HOME % 29) / 10, "lon": (HOME % 31) / 10},
    "what a neighbour knows": {"religion": RNG.choice(list("abcd"), N), "occupation": RNG.integers(0, 80, N)},
    "telephone numbers": {"v5": [f"+49 30 {5550000 + own // 2}" for own in HOME]},
    "remarks on few": {
        "v6": [f"says that she was hurt by Ann Miller in ward {own // 2}" if own < 40 else None for own in HOME]
    },
    "a remark among short ones": {
        "v7": ["was hurt by Ann Miller of the third ward", *(f"no {own // 3}" for own in HOME[1:])]
    },
    "names in few records": {"v8": [f"{'BCDFG'[own]}en Miller" if own < 5 else "nobody" for own in HOME]},
    "a name in a short sentence": {"v10": ["Spoke to Mr Miller", *["Asked again"] * (N - 1)]},
    "telephones without a sign": {"v9": [30_5550_000.0 + own // 2 if own < 40 else 1e30 for own in HOME]},
    "addresses of e-mail": {"note": [f"write to h{own // 2}@mail.example" for own in HOME]},
    "one address among remarks": {"note": ["a.huber@mail.example", *["asked again"] * (N - 1)]},
}


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("how", UNNAMED)
def test_no_pattern_covers_what_others_know(how: str, lazily: bool) -> None:
    """Of these 1,900 people one in ten (districts) to all (birthdays) were alone with what a neighbour knows."""
    file = ROUNDED.with_columns(**{name: pl.Series(values) for name, values in UNNAMED[how].items()})[MIXED]
    frame: Any = file.lazy() if lazily else file
    (word, reason) = judged(frame)["roles"]
    assert word == "not judged"
    assert "no pattern covers" in reason
    assert "name or values tell what others know of a person" in reason
    assert all(f"'{name}'" in reason for name in UNNAMED[how])
    assert "roles" not in judged(frame, insensitive=[*UNNAMED[how], "*"])  # whoever names them has looked


def test_a_pattern_covers_what_tells_no_key() -> None:
    """Items, filters of a questionnaire, other codes of a key, and names that the pattern itself has."""
    asked = pl.when(pl.col("age") > 0).then(pl.lit(RNG.integers(0, 40, N)))
    code = pl.col("region").replace_strict({"N": 4, "S": 3, "E": 2, "W": 1})
    file = ROUNDED.with_columns(v1=RNG.integers(0, 300, N), v2=asked, v3=code, job_like_1=RNG.integers(1, 6, N))[MIXED]
    assert judged(file, insensitive=["*", "job_like_*"]) == {}
    assert "'job_like_1'" in judged(file)["roles"][1]


LEARNT = {"icd10": RNG.choice(["F20", "B20", "J45"], N), "hiv": RNG.integers(0, 2, N), "income": RNG.integers(0, 9, N)}


@pytest.mark.parametrize("name", LEARNT)
def test_no_pattern_covers_what_would_be_learnt(name: str) -> None:
    """A disease under `insensitive = ["*"]` was asked about by no limit, and every column had a role."""
    file = ROUNDED.with_columns(pl.Series(name, LEARNT[name]))[MIXED]
    assert judged(ROUNDED[MIXED]) == {}
    assert f"no pattern covers '{name}'" in judged(file)["roles"][1]
    assert judged(file, insensitive=["opinion", name]) == {}
    assert judged(file, insensitive=["*", f"{name}*"]) == {}


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_rows_that_stand_by_household_are_not_judged_as_people(made: Any) -> None:
    """Of 800 households all members stood one after the other, and the file passed by itself."""
    roles = judged(made(ROUNDED))["roles"]
    assert roles[0] == "not judged"
    assert "rows that stand one after the other are alike in 'region', 'w' as no others are" in roles[1]
    assert "roles" not in judged(made(ROUNDED[MIXED]))
    assert "roles" not in judged(made(PEOPLE), household="home")


# A household column that is left out, and who lives together all the same.


TOKEN = pl.Series([hashlib.sha256(str(own).encode()).hexdigest()[:9] for own in PEOPLE["home"]])
TOGETHER: dict[str, tuple[Callable[[], pl.DataFrame], str]] = {
    "in their order": (lambda: ROUNDED, "the order of its rows"),
    "by a weight": (lambda: PEOPLE.drop("home")[MIXED], "(region, w)"),
    "by another number": (lambda: ROUNDED.with_columns(token=TOKEN)[MIXED], "(token)"),
    "by a number, in order of people": (
        lambda: ROUNDED.with_columns(token=TOKEN, row=MIXED).sort("row").drop("row"), "(token)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", TOGETHER)
def test_a_household_column_that_is_left_out_hides_nobody_who_is_put_together(how: str) -> None:
    """Of 800 households all were rebuilt from order and weights, and the limit on them was said to hold."""
    made, by = TOGETHER[how]
    word, reason = judged(
        PEOPLE, made(), household="home", insensitive=["opinion", "token"][: 1 + ("token" in made())]
    )["household_risk"]
    assert word == "not judged"
    assert by in reason


@pytest.mark.parametrize("column", ["token", "w"])
def test_an_engine_looks_at_what_puts_households_together(column: str) -> None:
    """Its rows have no order; values may tell as ever."""
    made = ROUNDED.with_columns(token=TOKEN) if column == "token" else PEOPLE.drop("home")
    files: Any = (PEOPLE.lazy(), made[MIXED].lazy())
    word, reason = judged(*files, household="home", insensitive=["opinion", *{"token"} & {*made.columns}])[
        "household_risk"
    ]
    assert word == "not judged"
    assert column in reason.partition("tells")[0]
    assert "household_risk" not in judged(PEOPLE.lazy(), ROUNDED[MIXED].lazy(), household="home")


def test_households_that_nothing_puts_together_hold_their_limit() -> None:
    assert "household_risk" not in judged(PEOPLE, ROUNDED[MIXED], household="home")
    steps = [
        {"method": "drop_identifiers", "columns": ["home"]}, {"method": "round_to", "column": "w", "base": 100},
        {"method": "random_order"},
    ]  # fmt: skip
    with quiet():
        made = sdc.Recipe(steps).apply(PEOPLE, watch=False)
        scenario = sdc.Scenario(**{**SAID, "household": "home"})
        verdicts = sdc.check(PEOPLE, made.data, scenario=scenario, log=made.log, seed=1).verdicts
    assert {verdict.word for verdict in verdicts if verdict.name == "household_risk"} == {"holds"}


def test_people_who_live_alone_are_put_together_by_no_number() -> None:
    """Each household has one member, and a number that tells every record apart is of as many records each."""
    alone = PEOPLE.with_columns(home=pl.Series(range(N)))
    made = ROUNDED.with_columns(serial=pl.Series(RNG.permutation(N)))[MIXED]
    assert "household_risk" not in judged(alone, made, household="home", insensitive=["opinion", "serial"])


# Means that go out in place of the largest numbers.


def largest_of_groups(true: pl.DataFrame, released: pl.DataFrame) -> int:
    """Groups whose largest number follows from the mean of three: less what the others are at least."""
    told = 0
    for _, group in released.with_columns(true=true["turnover"]).group_by("branch"):
        largest, below, *_ = group["turnover"].unique().sort(descending=True)
        n = int((group["turnover"] == largest).sum())
        most = float(group["true"].max())  # type: ignore[arg-type]
        told += abs(n * largest - (n - 1) * below - most) <= 0.1 * most
    return told


@pytest.mark.parametrize("method", [
    {"method": "microaggregate", "columns": ["turnover"], "k": 3, "strata": ["branch"]},
    {"method": "top_bottom_code", "column": "turnover", "top": 400.0, "to": "mean", "by": "branch"},
])  # fmt: skip
def test_a_mean_of_three_hides_no_number_that_makes_it(method: dict[str, Any]) -> None:
    """Three times the mean less what the other two are at least was within 10 % of the truth, and the gate passed."""
    numbers = np.r_[RNG.uniform(100, 110, 36), 300, 500, 600, 30_000]
    firms = pl.DataFrame({"branch": np.repeat(list("abcd"), 40), "turnover": np.tile(numbers, 4)})
    released = sdc.Recipe([method]).apply(firms, watch=False).data
    assert largest_of_groups(firms, released) == 4
    scenario = {"keys": ["branch"], "sensitive": [], "weight": None, "sampling_fraction": 0.05, "aligned": True}
    verdicts = judged(firms, released, **scenario, magnitudes=["turnover"])
    assert verdicts["exact_numbers"][0] == "exceeded"
    even = firms.with_columns(turnover=pl.col("turnover").clip(0, 1200))
    coarse = sdc.Recipe([method]).apply(even, watch=False).data
    assert largest_of_groups(even, coarse) == 0
    assert "exact_numbers" not in judged(even, coarse, **scenario, magnitudes=["turnover"])
