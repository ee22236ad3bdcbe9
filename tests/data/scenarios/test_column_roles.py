"""The roles of columns that go out: by name, by pattern, and what a pattern never covers."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdckit.data.files.file_checks import WITHHELD
from sdckit.data.frames import open_frame
from sdckit.data.limits import LIMITS
from sdckit.data.scenarios import column_roles, numbers_of_people
from sdckit.data.scenarios.column_roles import (
    TELLS_MORE,
    ColumnRoles,
    among_columns,
    left_to_patterns,
    look_at_columns,
    numbers_limited,
    roles_by_column,
    shares_unique,
    values_known,
)
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.telling_columns import SAYS
from sdckit.errors import ScenarioError

WHY = {"insensitive_because": "looked through by the office"}
FULL = Scenario(
    intruders={"a": ["sex", "age"], "b": ["age"]}, weight="w", household="home", person="pid", sensitive=["ill"],
    numeric=["age", "income"], ordered=["ill"], household_variables=["region", "age"], identifiers=["name"],
    insensitive=["att_1", "x*y"], **WHY,
)  # fmt: skip
COLUMNS = ["sex", "age", "w", "home", "pid", "ill", "income", "region", "name", "att_1", "att_2", "xAy"]


def columns_of(frame: Any, **entries: Any) -> ColumnRoles:
    return look_at_columns(Scenario(keys=["sex"], **entries), [open_frame(frame)])


def test_every_role_counts_but_what_says_how_a_column_is_read() -> None:
    assert roles_by_column(FULL, COLUMNS, {"xAy": 0.0}) == {
        "sex": ("key",), "age": ("key",), "w": ("weight",), "home": ("household",), "pid": ("person",),
        "ill": ("sensitive",), "income": (), "region": (), "name": ("identifiers",), "att_1": ("insensitive",),
        "att_2": (), "xAy": ("insensitive",),
    }  # fmt: skip
    assert roles_by_column(FULL, ["sex", "row"], {}, id="row") == {"sex": ("key",), "row": ("id",)}


def test_numeric_is_a_role_under_a_limit_on_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = FULL.changed(thresholds={"global_risk": 0.5})
    assert not numbers_limited(limited)
    monkeypatch.setitem(LIMITS, "global_risk", replace(LIMITS["global_risk"], numbers=True))
    assert numbers_limited(limited)
    assert not numbers_limited(FULL)
    found = roles_by_column(limited, ["age", "income"], {})
    assert found == {"age": ("key", "numeric"), "income": ("numeric",)}


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [("*", ["att_1", "att.2", "b*\nc"]), ("att*", ["att_1", "att.2"]), ("*_1", ["att_1"]), ("att.*", ["att.2"]),
     ("b*", ["b*\nc"]), ("*tt*2", ["att.2"]), ("at*_?", []), ("[a]*", []), ("*sex", [])],
)  # fmt: skip
def test_a_pattern_has_one_letter_that_means_something(pattern: str, covered: list[str]) -> None:
    scenario = Scenario(keys=["sex"], insensitive=[pattern], **WHY)
    columns = ["sex", "att_1", "att.2", "b*\nc"]
    assert left_to_patterns(scenario, columns) == covered
    found = roles_by_column(scenario, columns, dict.fromkeys(columns, 0.0))
    assert [name for name, roles in found.items() if roles == ("insensitive",)] == covered
    assert found["sex"] == ("key",)  # by pattern, another role wins


def test_a_pattern_covers_nothing_that_was_not_looked_at() -> None:
    scenario = Scenario(keys=["sex"], insensitive=["*"], **WHY)
    assert roles_by_column(scenario, ["a", "b", "c"], {"a": 0.049, "b": 0.05}) == {
        "a": ("insensitive",), "b": (), "c": (),
    }  # fmt: skip


def some(n_single: int, n: int = 100) -> list[int]:
    """Values of which so many occur once."""
    return [*range(10, 10 + n_single), *([1] * (n - n_single))]


def test_unique_values_have_to_be_named() -> None:
    frame = pl.DataFrame({"sex": some(0), "few": some(4), "many": some(5), "named": some(90)})
    found = columns_of(frame, insensitive=["named", "*"], **WHY)
    assert (found.covered, found.too_unique, found.missing) == (("few",), ("many",), ("many",))
    assert found.holds is None
    assert "no pattern covers 'many', since many of the values occur once" in found.words
    whole = columns_of(frame.drop("many"), insensitive=["named", "*"], **WHY)
    assert whole.holds is True
    assert whole.words == (
        "every column that goes out has a role; 1 column of 3 covered by a pattern as insensitive: looked through by "
        "the office"
    )


def test_what_says_whose_row_it_is_has_to_be_named() -> None:
    frame = pl.DataFrame({"sex": some(0), "hid": [*range(25)] * 4, "att": some(0)})
    found = columns_of(frame, insensitive=["*"], household="none", **WHY)
    assert (found.covered, found.too_unique, found.missing) == (("att",), ("hid",), ("hid",))
    assert found.holds is None
    assert (
        "no pattern covers 'hid', since many of the values occur once, or the name says whose row it is" in found.words
    )
    named = columns_of(frame, insensitive=["*", "hid"], household="none", **WHY)
    assert named.holds is True
    assert "No figure counts who belongs together by 'hid', which is named insensitive" in named.words
    rows = frame.with_columns(hid=pl.int_range(pl.len()))
    assert "who belongs together" not in columns_of(rows, insensitive=["*", "hid"], household="none", **WHY).words
    assert columns_of(frame, insensitive=["*"], household="hid", **WHY).holds is True


@pytest.mark.parametrize(
    "name", ["interviewer", "hospital", "death_year", "school", "psu", "bmi", "admdate", "idclass", "schsize", "jkzone"]
)
def test_names_of_places_events_and_interviewers_have_to_be_named(name: str) -> None:
    """A hospital under `*` was insensitive, since only a key or what is learnt had to be named."""
    frame = pl.DataFrame({"sex": some(0), name: [*range(20)] * 5, "att": some(0)})
    assert columns_of(frame, insensitive=["*"], household="none", **WHY).known == (name,)
    assert columns_of(frame, insensitive=["*", name], household="none", **WHY).holds is True


SURVEYS = {
    "EU-SILC": ["RB090", "DB040", "PE040", "PY010G", "RB030"],
    "IPUMS": ["SCHL", "MSP", "RAC1P", "PINCP", "CPSIDP"],
    "HES": ["EPIORDER", "STARTAGE", "MAINSPEF", "RESGOR", "SITETRET"],
    "PISA": ["ST004D01T", "ST003D02T", "PV1MATH", "HISCED", "CNTSCHID"],
    "TIMSS": ["ITSEX", "ITBIRTHM", "BSMMAT01", "IDTEALIN", "JKZONE"],
    "HCUP": ["I10_PR1", "AWEEKEND", "PL_NCHS", "DSHOSPID", "KEY_NIS"],
}


@pytest.mark.parametrize("survey", SURVEYS)
def test_names_of_a_known_survey_have_to_be_named(survey: str) -> None:
    """They say by its codebook what they are: of EU-SILC sex, region, education, wages and the person all passed."""
    names = SURVEYS[survey]
    frame = pl.DataFrame({"k": some(0), **{name: [*range(20)] * 5 for name in names}, "v012": [*range(20)] * 5})
    found = columns_of(frame, insensitive=["*"], household="none", **WHY)
    assert {*found.known} == {*names} - {"KEY_NIS", "DSHOSPID"}  # which say themselves that they are ids
    assert {*found.too_unique} == {*names}
    assert columns_of(frame[["k", names[0]]], insensitive=["*"], household="none", **WHY).known == ()  # one says little


def test_numbers_of_questions_are_no_names_of_a_known_survey() -> None:
    """V012 is the age in one survey, and a question in all others that number theirs."""
    frame = pl.DataFrame({"k": some(0), **{f"v{at:03}": some(0) for at in range(1, 160)}})
    assert columns_of(frame, insensitive=["*"], household="none", **WHY).holds is True


@pytest.mark.parametrize("values", [[None] * 95 + list(range(5)), ["a", "a", None, "b", *["c"] * 20], [1.5, 2.5, 2.5],
                                    [True, False, False], [None, None, None], ["x"]])  # fmt: skip
def test_shares_are_those_of_every_engine(values: list[Any]) -> None:
    frame = pl.DataFrame({"v": values, "other": [1] * len(values)})
    present = [value for value in values if value is not None]
    single = sum(present.count(value) == 1 for value in present)
    share = single / (len(present) if 2 * single > len(present) >= 5 else len(values))  # remarks on few people
    for given in (frame, frame.to_pandas(), frame.to_arrow()):
        assert shares_unique(open_frame(given), ["v", "other"])["v"] == pytest.approx(share)
    lazy = shares_unique(open_frame(frame.lazy()), ["v", "other"])
    assert lazy["v"] == pytest.approx(share) or share <= lazy["v"] < 0.05


def test_many_values_of_a_plan_are_counted_in_the_engine() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"twice": [*range(500)] * 2, "once": rng.permutation(1000), "code": [1, 2] * 500})
    eager = shares_unique(open_frame(frame), frame.columns)
    assert eager == {"twice": 0.0, "once": 1.0, "code": 0.0}
    assert shares_unique(open_frame(frame.lazy()), frame.columns) == {**eager, "code": 0.002}
    assert shares_unique(open_frame(frame.lazy()), []) == {}


def test_a_column_without_plain_values_is_not_covered() -> None:
    frame = pl.DataFrame({"sex": [1] * 30, "list": [[1, 2]] * 30})
    assert columns_of(frame, insensitive=["*"], **WHY).missing == ("list",)
    named = columns_of(frame, insensitive=["list"])
    assert (named.missing, named.holds, named.not_judged) == ((), None, ((SAYS["nested"], ("list",)),))


def test_several_files_are_taken_together() -> None:
    scenario = Scenario(keys=["sex"], insensitive=["*"], **WHY)
    frames = [pl.DataFrame({"sex": some(0), "a": some(0), "b": some(9)}), pl.DataFrame({"sex": some(0), "a": some(9)})]
    found = look_at_columns(scenario, [open_frame(frame) for frame in frames])
    assert list(found.roles) == ["sex", "a", "b"]
    assert found.missing == ("a", "b")


def test_identifiers_that_go_out_are_said_first() -> None:
    found = columns_of(pl.DataFrame({"sex": some(0), "name": some(9), "x": some(0)}), identifiers=["name", "gone"])
    assert (found.identifiers, found.holds) == (("name",), False)
    assert found.words.startswith("a direct identifier goes out: 'name'; nobody said what these columns are: 'x'")
    linking = ColumnRoles({"name": ("identifiers", "ledger.id"), "pid": ("id", "identifiers")})
    assert (linking.identifiers, linking.holds) == ((), True)  # what joins files is looked at apart


def test_long_lists_are_counted() -> None:
    found = columns_of(pl.DataFrame({"sex": [1]} | {f"v{i}": [1] for i in range(7)}))
    assert "'v0', 'v1', 'v2', 'v3', 'v4' and 2 more; give each" in found.words
    assert found.line == (
        "7 columns that go out have no role: 'v0', 'v1', 'v2', 'v3', 'v4' and 2 more; name a type of release to have "
        "it judged."
    )
    assert columns_of(pl.DataFrame({"sex": [1]})).line == ""


@pytest.mark.parametrize("entry", ["numeric", "magnitudes"])
def test_numbers_that_are_nothing_else_are_said_to_have_no_role_by_that(entry: str) -> None:
    """`numeric` looks like a role, and the sentence that nobody said what the column is was all that was said."""
    frame = pl.DataFrame({"sex": [1], "cost": [2.5], "note": ["a"]})
    found = columns_of(frame, **{entry: ["cost"]})
    assert (found.missing, found.numbers) == (("cost", "note"), ("cost",))
    for text in (found.words, found.line.rstrip(".")):
        assert "are no role without a limit on numbers: 'cost'; name them as sensitive, too, where" in text
        assert text.endswith("or as keys where somebody could know them")
    judged = columns_of(frame, **{entry: ["cost"]}, thresholds={"exact_numbers": 0.5})
    assert (judged.missing, judged.numbers) == (("note",), ())
    also = columns_of(frame, sensitive=["cost"], **{entry: ["cost"]})
    assert (also.missing, also.numbers) == (("note",), ())


@pytest.mark.parametrize(
    ("others", "covered"),
    [
        (["1", "2"], False),
        (["no answer", "-9"], False),
        (["Germany", "France"], True),
        (["high School", "Full Time"], True),
    ],
)
def test_few_names_are_categories_where_others_have_capitals(others: list[str], covered: bool) -> None:
    """A remark on two people stood among codes, under a pattern."""
    values = [*others * 60, "Anna Bauer", "Tom Miller"]
    frame = open_frame(pl.DataFrame({"sex": ["f"] * len(values), "note": values}))
    scenario = Scenario(keys=["sex"], insensitive=["*"], **WHY)
    assert look_at_columns(scenario, [frame]).covered == (("note",) if covered else ())


def test_names_that_may_be_a_record_are_not_told() -> None:
    scenario = Scenario(keys=["sex"])
    found = among_columns(columns_of(pl.DataFrame({"sex": [1]})), scenario, ["sex", "34", "north"])
    assert found.missing == ("34", "north")
    assert not found.told
    for text in (found.words, found.line, str(found.shown)):
        assert "north" not in text
        assert "34" not in text
    assert "2 columns (the names there are not told" in found.words
    assert found.shown == {"sex": ("key",)}
    assert not among_columns(found, Scenario(keys=["area"]), ["f", "north"], certain=False).told


def test_columns_not_read_keep_what_was_found_of_the_others() -> None:
    scenario = Scenario(keys=["sex"], insensitive=["a*"], **WHY)
    known = look_at_columns(scenario, [open_frame(pl.DataFrame({"sex": some(0), "a1": some(0), "a2": some(9)}))])
    found = among_columns(known, scenario, ["sex", "a1", "a2", "b"])
    assert (found.covered, found.too_unique, found.missing) == (("a1",), ("a2",), ("a2", "b"))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"insensitive": ["sex"]}, "'sex' is declared as a key and as insensitive"),
        ({"insensitive": ["w"], "weight": "w"}, "'w' is declared as the weight and as insensitive"),
        ({"insensitive": ["n"], "identifiers": ["n"]}, "an identifier and as insensitive"),
        ({"insensitive": ["a", "a"]}, "insensitive names the column 'a' twice"),
        ({"insensitive": ["a*"]}, r"pattern 'a\*', which covers columns that nobody names .* insensitive_because"),
        ({"insensitive": ["*"], "insensitive_because": "  "}, "insensitive_because"),
        ({"insensitive": "a"}, "insensitive must be a list"),
    ],
)
def test_refuses(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario(keys=["sex"], **entries)


def test_how_a_column_is_read_may_be_said_of_an_insensitive_one() -> None:
    scenario = Scenario(
        keys=["sex"], household="home", numeric=["x"], household_variables=["y"], insensitive=["x", "y"]
    )
    assert roles_by_column(scenario, ["x", "y"], {}) == {"x": ("insensitive",), "y": ("insensitive",)}
    assert "x" in scenario.columns  # as numeric
    magnitude = Scenario(keys=["sex"], magnitudes=["pay"], release="scientific-use")
    assert roles_by_column(magnitude, ["pay"], {}) == {"pay": ()}
    followed = magnitude.changed(insensitive=["pay"])  # as the verdict advises
    assert roles_by_column(followed, ["pay"], {}) == {"pay": ("insensitive",)}
    limited = followed.changed(thresholds={"exact_numbers": 0.1})
    assert roles_by_column(limited, ["pay"], {}) == {"pay": ("magnitudes",)}
    assert "z" not in Scenario(keys=["sex"], insensitive=["z"]).columns  # nothing is measured of it


def test_a_magnitude_is_numeric_and_is_said_once() -> None:
    scenario = Scenario(keys=["sex"], numeric=["age"], magnitudes=["pay"], thresholds={"exact_numbers": 0.1})
    assert roles_by_column(scenario, ["age", "pay"], {}) == {"age": ("numeric",), "pay": ("magnitudes",)}


@pytest.mark.parametrize(
    "made", [pl.DataFrame, lambda *given: pl.DataFrame(*given).lazy(), lambda *given: pl.DataFrame(*given).to_pandas()]
)
@pytest.mark.parametrize(
    "numbers", [["AB1", "AB1", None], [10**12 + 1, 10**12 + 1, None], [2**62 + 1, 2**62 + 1, None]]
)
def test_an_official_number_of_people_goes_out_as_a_new_one_only(made: Any, numbers: list[Any]) -> None:
    """It is a person number by its role, and no identifier: it went out as it was, and every column had a role."""

    def look(name: str, released: list[Any]) -> ColumnRoles:
        files = [open_frame(made({"sex": ["f"] * 3, name: values})) for values in (numbers, released)]
        return look_at_columns(Scenario(keys=["sex"], person=name), files[1:], original=files[0])

    found = look("ssn", [*numbers[1:], "AB2" if numbers[0] == "AB1" else 7])
    assert (found.holds, found.words) == (
        False, "a direct identifier goes out: 'ssn'; let new ids go out in place of the numbers of people (new_ids)"
    )  # fmt: skip
    assert look("Versichertennummer", numbers).identifiers == ("Versichertennummer",)
    scenario = Scenario(keys=["sex"], person="ssn")
    assert among_columns(found, scenario, ["sex", "ssn"]).holds is False
    assert look("ssn", ["x1", "x1", None]).holds is True
    assert look("member", numbers).holds is True


def test_what_is_named_one_by_one_is_said_to_tell_more_of_a_key() -> None:
    """No figure counted districts, weights by district, and household numbers that begin with one."""
    rng, n = np.random.default_rng(4), 3_000
    area, pay = rng.integers(0, 60, n), np.round(rng.lognormal(7, 1, n))
    frame = pl.DataFrame({
        "region": area // 12, "district": area + 5, "w": np.round(rng.uniform(1, 9, 60), 3)[area],
        "hid": [f"{own:02}-{row}" for row, own in enumerate(area)], "pay": np.minimum(pay.round(-3), 5_000),
        "log": np.log(pay), "rank": np.argsort(np.argsort(-pay)), "answer": rng.integers(0, 300, n),
        "other": rng.random(n),
    })  # fmt: skip
    roles: dict[str, Any] = {"keys": ["region"], "magnitudes": ["pay"], "weight": "w", "household": "hid"}
    roles |= {"thresholds": {"exact_numbers": 0.1}}
    scenario = Scenario(**roles, insensitive=["district", "log", "rank", "answer", "other"])
    named = "Of 'region', 'pay' more is told by 'district', 'log', 'rank', which no figure counts, as these are named"
    said = "Not judged: of 'region' more is told by 'w', 'hid', which no figure counts; make these coarser"
    for given in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        found = look_at_columns(scenario, [open_frame(given)])
        assert found.holds is None
        for words in (found.words, found.line):  # and not that every column has a role, which is no reason
            assert words.lower().startswith(f"{TELLS_MORE}. of")
            assert named in words
            assert said in words
        assert "has a role" not in found.words
    assert said in among_columns(found, scenario, frame.columns).words
    assert among_columns(found, scenario, frame.columns).holds is None
    roles |= {"keys": ["region", "district", "w"], "magnitudes": ["pay", "log", "rank"]}  # as the sentences say
    del roles["weight"]
    opened = look_at_columns(
        Scenario(**roles, insensitive=["answer", "other"]), [open_frame(frame.with_columns(hid=np.arange(n)))]
    )
    assert (opened.finer, opened.holds) == ((), True)
    weights = frame.select("region", own=pl.Series(rng.lognormal(6, 0.5, n).round(2)))  # few of which are equal
    assert look_at_columns(Scenario(keys=["region"], weight="own"), [open_frame(weights)]).finer == ()
    rare = frame.select("answer", rare=pl.Series(np.where(rng.random(n) < 0.99, 1, rng.integers(2, 5, n))))
    assert look_at_columns(Scenario(keys=["rare"], insensitive=["answer"]), [open_frame(rare)]).finer == ()
    bare = Scenario(keys=["region"], insensitive=["other", "answer", "pay"], household="row")
    number = frame.select("region", "other", "answer", "pay", row=pl.Series(rng.permutation(n)))
    assert look_at_columns(bare, [open_frame(number)]).finer == ()
    waves = pl.DataFrame({"nr": np.repeat(rng.permutation(600) + 1, 5), "educ": np.repeat(rng.integers(3, 18, 600), 5)})
    assert look_at_columns(Scenario(keys=["educ"], person="nr"), [open_frame(waves)]).finer == ()
    both = Scenario(keys=["region"], magnitudes=["pay"], insensitive=["pay"])
    assert look_at_columns(both, [open_frame(number)]).finer == ()
    told = replace(look_at_columns(scenario, [open_frame(frame)]), told=False)
    assert f"Of 2 columns ({WITHHELD}) more is told by 3 columns" in told.words
    assert f"of 1 column ({WITHHELD}) more is told by 2 columns" in told.words
    by_name = frame.drop("w").with_columns(hid=np.arange(n))
    looked_at = look_at_columns(scenario, [open_frame(by_name)])  # whoever names them has looked
    assert (looked_at.holds, looked_at.not_judged) == (True, ((SAYS["different"], ("rank",)),))
    assert looked_at.words.startswith(f"every column that goes out has a role. {named}")
    assert "ot judged" not in looked_at.words


def test_what_follows_from_all_keys_of_whoever_knows_one_tells_nothing_more() -> None:
    """Weights by cells of the keys tell each key in more detail, and nobody apart who is not by the keys."""
    rng, n = np.random.default_rng(6), 4_000
    region, sex, age = rng.integers(0, 5, n), rng.integers(0, 2, n), rng.integers(0, 6, n)
    cell = (region * 2 + sex) * 6 + age
    frame = pl.DataFrame({
        "region": region, "sex": sex, "age": age, "w": np.round(rng.uniform(1, 9, 60), 3)[cell],
        "finer": np.round(rng.uniform(1, 9, 120), 3)[cell * 2 + rng.integers(0, 2, n)],
    })  # fmt: skip

    def looked(weight: str, data: pl.DataFrame = frame, **entries: Any) -> tuple[Any, bool | None]:
        columns = data.select("region", "sex", "age", weight)
        made = look_at_columns(Scenario(weight=weight, **entries), [open_frame(columns)])
        return made.finer, made.holds

    every = ["region", "sex", "age"]
    assert looked("w", keys=every) == ((), True)
    assert looked("finer", keys=every) == ((("finer", "region"),), None)
    few = {"neighbour": every, "colleague": ["region"]}
    assert looked("w", intruders=few, insensitive=[]) == ((("w", "region"),), None)  # to whom it tells the others
    homes = frame.with_columns(home=pl.int_range(n) // 3, own=pl.Series(np.repeat(rng.permutation(n // 3 + 1), 3)[:n]))
    homes = homes.with_columns(region=pl.col("home") % 5, w=pl.col("home") % 35)
    for weight, finer in (("own", ()), ("w", (("w", "region"),))):  # one of each home tells no more than its number
        scenario = Scenario(keys=["region", "sex"], household="home", weight=weight)
        whose = look_at_columns(scenario, [open_frame(homes.select("region", "sex", "home", weight))])
        assert whose.finer == finer
    hidden = frame.with_columns(region=pl.when(pl.int_range(n) == 7).then(None).otherwise("region"))
    assert looked("w", hidden, keys=every) == ((("w", "region"),), None)  # the weight tells what was taken out


def test_a_flag_of_a_key_or_magnitude_as_it_was_closes_the_roles() -> None:
    """Ages in decades beside a flag of 18, and incomes with noise beside one of 30,000, went out within every limit."""
    rng, n = np.random.default_rng(5), 2_000
    age, pay = rng.integers(10, 90, n), rng.lognormal(10, 1, n).round()
    before = pl.DataFrame({
        "age": age, "pay": pay, "sex": rng.integers(0, 2, n), "votes": age >= 18,
        "rich": np.where(pay > 30_000, "yes", "no"), "sixty": age >= 60,
    })  # fmt: skip
    after = before.with_columns(age=pl.col("age") // 10, pay=pl.col("pay") * rng.uniform(0.5, 1.5, n))
    scenario = Scenario(keys=["age"], magnitudes=["pay"], insensitive=["votes", "rich", "sixty", "sex"])
    for files in ((before, after), (before.lazy(), after.sample(fraction=1, shuffle=True, seed=1).to_pandas())):
        given = [open_frame(file) for file in files]
        made = look_at_columns(scenario, given[1:], original=given[0])
        assert (dict(made.not_judged), made.holds) == ({SAYS["told_before"]: ("votes", "rich")}, None)
    whole = [open_frame(before.drop("rich")), open_frame(before.sample(fraction=1, shuffle=True, seed=2))]
    assert look_at_columns(scenario, whole[1:], original=whole[0]).not_judged == ()


def test_rows_that_belong_together_are_said_where_nobody_says_whose_they_are() -> None:
    rng = np.random.default_rng(3)
    homes = np.repeat(np.arange(400), 3)
    frame = pl.DataFrame({"sex": rng.integers(0, 2, 1_200), "area": rng.integers(0, 9, 400)[homes], "home": homes})
    left = columns_of(frame.drop("home"), insensitive=["area"])
    assert (dict(left.not_judged), left.holds) == ({SAYS["rows_together"]: ("area",)}, None)
    assert "alike in 'area' as no others are" in left.words
    assert "alike in 'area' as no others are" in left.line
    for words in (left.words, left.line):  # and not that every column has a role, which is no reason
        assert words.lower().startswith(f"{TELLS_MORE}. not judged: rows")
    assert "has a role" not in left.words
    assert columns_of(frame, insensitive=["area"], household="home").not_judged == ()
    assert columns_of(frame, insensitive=["area"], person="home").not_judged == ()
    assert columns_of(frame.drop("home").sample(fraction=1, shuffle=True, seed=1), insensitive=["area"]).holds is True
    assert (
        among_columns(left, Scenario(keys=["sex"], insensitive=["area"]), ["sex", "area"]).not_judged == left.not_judged
    )


def test_a_key_in_more_detail_is_what_tells_all_but_a_twentieth_of_it() -> None:
    rng, n = np.random.default_rng(2), 5_000
    age = rng.integers(0, 90, n)
    off = np.where(rng.random(n) < 0.03, rng.integers(0, 18, n), age // 5)
    far = np.where(rng.random(n) < 0.3, rng.integers(0, 18, n), age // 5)
    frame = pl.DataFrame({
        "age": age // 15, "five": age // 5, "copy": age // 15 + 7, "off": off, "far": far,
        "any": rng.integers(0, 2_000, n),
        "asked": pl.Series(np.where(age < 15, age, -1)).replace(-1, None), "sex": age % 2, "half": age // 45,
    })  # fmt: skip
    others = frame.columns[1:-2]
    for given in (frame, frame.lazy(), frame.to_pandas(), frame.sort("age")):
        assert values_known(open_frame(given), others, ["age", "gone"]) == ["five", "off"]
    assert values_known(open_frame(frame), others, ["half", "sex"]) == []  # of two values, filters tell one
    assert values_known(open_frame(frame[:12]), others, ["age"]) == []


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, lambda data: pl.DataFrame(data).to_pandas()])
def test_what_a_few_records_speak_against_is_not_counted_in_all(make, monkeypatch):
    rng = np.random.default_rng(1)
    age = rng.integers(0, 90, numbers_of_people.FIRST + 500)
    data = {"age": age // 10, "years": age, "shoe": rng.integers(36, 46, len(age))}
    counted, count = [], column_roles._counted_pairs
    monkeypatch.setattr(column_roles, "_counted_pairs", lambda *given: counted.append(given[1]) or count(*given))
    assert values_known(open_frame(make(data)), ["years", "shoe"], ["age"]) == ["years"]
    assert counted == ["years"]
    few = {name: values[:500] for name, values in data.items()}
    assert values_known(open_frame(make(few)), ["years", "shoe"], ["age"]) == ["years"]
    assert counted == ["years"] * (1 + (make is pl.LazyFrame))  # the others are all at hand


def test_digests_of_numbers_are_not_judged_unless_all_records_have_one() -> None:
    ages, digests = list(range(80)), [hashlib.sha256(b"%d" % number).hexdigest()[:12] for number in range(80)]
    files = [pl.DataFrame({"sex": ages, "ward": [digest, *own]}) for digest, own in (
        (digests[0], digests[1:]), (digests[0], digests[:1] * 79))]  # fmt: skip
    roles = [look_at_columns(Scenario(keys=["sex"], insensitive=["ward"]), [open_frame(file)]) for file in files]
    assert [SAYS["guessable"] in dict(of_file.not_judged) for of_file in roles] == [True, False]


def test_areas_that_were_numbered_anew_stand_for_those_that_were_left_out() -> None:
    rng = np.random.default_rng(6)
    block, anew = rng.integers(0, 50, 2_000), rng.permutation(50)
    people = pl.DataFrame({
        "sex": rng.choice(["f", "m"], 2_000), "block": block, "v1": anew[block], "v2": anew[block] // 2,
    })  # fmt: skip
    scenario = Scenario(keys=["sex"], identifiers=["block"], insensitive=["v1", "v2"])
    files = [open_frame(file) for file in (people.drop("block"), people)]
    looked = look_at_columns(scenario, files[:1], original=files[1])
    assert dict(looked.not_judged) == {SAYS["made_of"]: ("v1",)}
