"""Copies count as nobody, files that go out together are not judged one by one, nor others' labels compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet

N = 900
RNG = np.random.default_rng(7)
FILE = pl.DataFrame(
    {
        "age": RNG.integers(0, 8, N),
        "sex": RNG.choice(["f", "m"], N),
        "job": RNG.integers(0, 12, N),
        "ill": RNG.choice(["a", "b", "c"], N),
        "pay": np.round(RNG.lognormal(7, 1, N)),
    }
)
KEYS = ["age", "sex", "job"]
LIMITS = {"k": 3, "global_risk": 0.5}


def words_of(data: Any, released: Any = None, **entries: Any) -> dict[str, str]:
    scenario = sdc.Scenario(**{"keys": KEYS, "sensitive": ["ill"], "thresholds": LIMITS, **entries})
    with quiet():
        result = sdc.check(data, released, scenario=scenario)
    return {verdict.name: verdict.word for verdict in result.verdicts}


def many(data: pl.DataFrame = FILE, *, times: int = 3) -> pl.DataFrame:
    return pl.concat([data] * times).sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.clone])
def test_a_file_of_copies_is_not_judged(of: Any) -> None:
    assert words_of(of(FILE)) == {"k": "exceeded", "global_risk": "holds"}
    assert words_of(of(many())) == {"k": "not judged", "global_risk": "not judged"}


def test_marks_of_changed_records_are_not_judged(tmp_path: Any) -> None:
    """In memory as in files, by itself and as a release."""
    marked = FILE.with_columns(mark=pl.Series([0.0, -0.0] * (N // 2)))
    for files in ((marked,), (FILE, marked)):
        assert words_of(*files)["beside_records"] == "not judged"
        assert "beside_records" not in words_of(*files[:-1], marked.drop("mark"))
    marked.write_csv(tmp_path / "marked.csv")
    with pytest.raises(AssertionError, match="zeros with and without a minus"):
        sdc.assert_within_limits(tmp_path / "marked.csv", scenario=sdc.Scenario(keys=["sex"], thresholds={"k": 3}))


def test_a_file_of_which_half_stands_twice_is_not_judged() -> None:
    """900 of 1,350 records are alike in all columns, and of those alike in all but one hardly any differ in it."""
    wide = FILE.with_columns(town=pl.Series(RNG.integers(0, 40, N)), hours=pl.Series(RNG.integers(0, 60, N)))
    half = pl.concat([wide, wide[: N // 2]]).sample(fraction=1, shuffle=True, seed=1)
    coarse: dict[str, Any] = {"keys": ["sex"], "thresholds": {"k": 3, "l": 2}}
    assert words_of(wide, **coarse) == {"k": "holds", "l": "holds"}
    for of in (pl.DataFrame.clone, pl.DataFrame.to_pandas):
        assert words_of(of(half), **coarse) == {"k": "not judged", "l": "holds"}
    assert words_of(half, thresholds={"k": 500})["k"] == "exceeded"
    assert words_of(half.with_columns(who=pl.int_range(len(half)) // 2), person="who", **coarse)["k"] == "holds"


def test_what_groups_tell_is_judged_of_copies_too() -> None:
    few = many().with_columns(job=pl.col("job") // 6)
    assert words_of(few, thresholds={"k": 3, "l": 2}) == {"k": "not judged", "l": "holds"}


def test_a_limit_that_copies_exceed_stays_exceeded() -> None:
    assert words_of(many(times=2), thresholds={"k": 30}) == {"k": "exceeded"}


def test_a_file_in_which_some_record_stands_once_is_none_of_copies() -> None:
    once = FILE.filter(pl.len().over(KEYS) > 2)
    assert words_of(pl.concat([many(once), once[:1]]))["k"] == "holds"


def test_records_with_the_same_keys_are_no_copies() -> None:
    twice = many(FILE, times=2).with_columns(pay=pl.int_range(2 * N))
    assert words_of(twice, thresholds={"k": 2})["k"] == "holds"


def test_a_release_with_more_records_than_its_original_is_not_judged() -> None:
    assert words_of(FILE, many())["k"] == "not judged"
    assert words_of(FILE.lazy(), many().lazy())["k"] == "not judged"
    some = pl.concat([FILE, FILE.filter(pl.len().over(KEYS) < 3), FILE.filter(pl.len().over(KEYS) < 3)])
    assert words_of(FILE, some)["k"] == "not judged"
    assert words_of(FILE, some, thresholds={"replicated_uniques": 1.0}) == {"replicated_uniques": "holds"}


def test_an_original_of_copies_is_not_judged() -> None:
    before = many().with_row_index("entry")
    assert words_of(before, before.drop("entry"))["k"] == "not judged"
    assert words_of(before.with_columns(who=pl.col("entry") // 2), before.drop("entry"), person="who")["k"] == "holds"


def test_quotas_are_no_copies() -> None:
    quotas = pl.DataFrame({"age": np.repeat(np.arange(30), 10), "pay": np.arange(300)})
    assert words_of(quotas, quotas, keys=["age"], sensitive=[], thresholds={"k": 5})["k"] == "holds"


def test_records_made_equal_on_purpose_are_judged_beside_their_original() -> None:
    numbers = FILE.select("pay", spent=pl.col("pay") * RNG.uniform(0.5, 1, N))
    made = sdc.microaggregate(numbers, columns=["pay", "spent"], k=3).data
    entries: dict[str, Any] = {"keys": ["pay", "spent"], "sensitive": [], "thresholds": {"k": 3}}
    assert words_of(numbers, made, **entries) == {"k": "holds"}
    assert words_of(made, **entries) == {"k": "not judged"}


TWO = [FILE.with_columns(job=pl.col("job") // 6), FILE.with_columns(age=pl.col("age") // 4)]


def test_files_that_go_out_together_are_not_judged_one_by_one() -> None:
    """Each is within the limit, and both side by side are the original, which is not."""
    limits = {"k": 3, "l": 2}
    assert [words_of(FILE, made, thresholds=limits)["k"] for made in TWO] == ["holds", "holds"]
    assert words_of(FILE, TWO, thresholds=limits) == {"k": "not judged", "l": "not judged"}
    assert words_of(FILE, [*TWO, FILE], thresholds=limits)["k"] == "exceeded"


def test_files_of_which_one_holds_the_others_are_judged() -> None:
    made = TWO[0]
    assert words_of(FILE, [made, made, made.drop("pay")], thresholds={"k": 3})["k"] == "holds"
    assert words_of(FILE, [made, made.with_columns(pay=FILE["pay"] + 1)], thresholds={"k": 3})["k"] == "not judged"
    assert words_of(FILE.lazy(), [made.lazy(), made.lazy()], thresholds={"k": 3})["k"] == "not judged"
    assert words_of(FILE, [many(made), many(made)], thresholds={"k": 3})["k"] == "not judged"


def test_files_of_made_up_records_may_be_several_and_larger() -> None:
    recipe = sdc.Recipe([{"method": "synthesize", "m": 2, "columns": [*KEYS, "ill", "pay"]}])
    scenario = sdc.Scenario(keys=["sex"], thresholds={"k": 3})
    synthetic: dict[str, Any] = {"release": "synthetic", "thresholds": {"replicated_uniques": 0.5}}
    with quiet():
        made = recipe.apply(FILE, scenario=scenario, seed=1)
        assert sdc.check(FILE, made.data, scenario=scenario, log=made.log).passed
    larger = pl.concat([made.data[0], made.data[1][:100]])
    assert words_of(FILE, larger, **synthetic)["replicated_uniques"] == "holds"
    assert words_of(FILE, many(made.data[0]), **synthetic)["replicated_uniques"] == "not judged"


FOUND = {"match_risk": 1.0, "few_matches": 1.0, "replicated_uniques": 1.0, "correctly_disclosed": 1.0}


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize(
    "changed",
    [
        pl.col("sex").str.to_uppercase(), pl.col("sex") + " ", pl.col("ill").str.to_uppercase(), pl.col("age") + 100,
        pl.when(pl.col("sex") == "f").then(pl.lit("w")).otherwise("sex").alias("sex"),
    ],
)  # fmt: skip
def test_nobody_is_found_by_other_labels_and_nothing_is_judged(changed: pl.Expr, lazily: bool) -> None:
    """All of these figures are 0 % where one key is spelt in capitals, though everybody knows what it says."""
    entries: dict[str, Any] = {"aligned": not lazily, "thresholds": FOUND}
    files = [FILE, FILE.with_columns(changed)]
    data, released = [file.lazy() for file in files] if lazily else files
    assert set(words_of(data, released, **entries).values()) == {"not judged"}


def test_values_taken_out_made_coarser_by_a_recipe_or_moved_are_no_other_labels() -> None:
    hidden = FILE.with_columns(
        sex=pl.when(pl.int_range(N) > 50).then("sex"), age=pl.col("age") + RNG.integers(-1, 2, N)
    )
    assert set(words_of(FILE, hidden, aligned=True, thresholds=FOUND).values()) == {"holds"}
    recipe = sdc.Recipe([{"method": "recode", "column": "sex", "groups": {"anybody": ["f", "m"]}}])
    scenario = sdc.Scenario(keys=KEYS, sensitive=["ill"], aligned=True, thresholds=FOUND)
    with quiet():
        made = recipe.apply(FILE, scenario=scenario)
        assert sdc.check(FILE, made.data, scenario=scenario, recipe=recipe).passed


@pytest.mark.parametrize("lazily", [False, True])
def test_values_spelt_in_two_ways_are_not_told_apart(lazily: bool) -> None:
    """All of a group are ill, and half of them Ill."""
    spelt = FILE.with_columns(ill=pl.Series(["ill", "Ill "] * (N // 2)), sex=pl.lit("f"), age=pl.col("age") // 8)
    entries: dict[str, Any] = {"keys": ["age", "sex"], "thresholds": {"l": 2}}
    assert words_of(spelt.lazy() if lazily else spelt, **entries) == {"l": "not judged"}
    assert words_of(spelt, spelt, **entries) == {"l": "not judged"}
    for twin in ("ill.", "\u0456ll"):
        twins = spelt.with_columns(ill=pl.Series(["ill", twin] * (N // 2)))
        assert words_of(twins.lazy() if lazily else twins, **entries)["l"] == "not judged"
    short = spelt.with_columns(ill=pl.Series(["diab.", "diabetes"] * (N // 2)))
    assert words_of(short.lazy() if lazily else short, **entries)["l"] == "not judged"
    assert words_of(spelt.with_columns(ill=pl.lit("ill")), **entries) == {"l": "exceeded"}
    assert words_of(spelt.with_columns(ill=pl.Series(["ill", "well"] * (N // 2))), **entries) == {"l": "holds"}
    assert words_of(spelt, **entries | {"thresholds": {"k": 2}}) == {"k": "holds"}


# Groups in which all who answered have the same.


MISSED = RNG.random(N) < 0.3
ONE_SAID: dict[str, Any] = {"keys": ["sex"], "thresholds": {"l": 2}}


def unanswered(code: Any, told: Any, other: Any) -> pl.DataFrame:
    """All women who answered have what is `told`."""
    women = FILE["sex"] == "f"
    values = [
        code if gone else told if own or even else other
        for gone, own, even in zip(MISSED, women, [True, False] * (N // 2), strict=True)
    ]
    return FILE.with_columns(ill=pl.Series(values))


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.clone])
@pytest.mark.parametrize(
    "values",
    [(None, "hiv", "flu"), ("keine Angabe", "hiv", "flu"), ("-9", "hiv", "flu"), (-9, 2, 1), (-1, 2, 1), (999, 2, 1)],
)
def test_missing_values_make_no_group_diverse(of: Any, values: tuple[Any, Any, Any]) -> None:
    """All 439 women of 900 people, of whom 30 % did not answer, passed with two values: what they have, and none."""
    file = of(unanswered(*values))
    assert words_of(file, **ONE_SAID) == {"l": "not judged"}
    assert words_of(file, file, **ONE_SAID) == {"l": "not judged"}


def test_answers_make_a_group_diverse_beside_missing_values() -> None:
    assert words_of(FILE.with_columns(ill=pl.when(~pl.Series(MISSED)).then("ill")), **ONE_SAID) == {"l": "holds"}
    codes = unanswered("refused", "hiv", "flu")
    assert words_of(codes, **ONE_SAID) == {"l": "not judged"}
    assert words_of(codes, **ONE_SAID, missing_codes=[""]) == {"l": "holds"}  # the scenario says that it is an answer
    assert words_of(unanswered("well", "hiv", "flu"), **ONE_SAID) == {"l": "holds"}
    few = unanswered(None, "hiv", "flu").with_columns(ill=pl.when(pl.Series(RNG.random(N) < 0.3)).then("ill"))
    assert words_of(few, **ONE_SAID) == {"l": "holds"}  # of most nothing is known


# How many a file stands for.


def weighed(each: float, *, spread: float = 0.0, of: Any = pl.DataFrame.clone, **entries: Any) -> dict[str, str]:
    weights = each * np.random.default_rng(3).uniform(1 - spread, 1 + spread, N)
    limits = {"k": 2, "risk": 0.5, "global_risk": 0.5}
    keys: dict[str, Any] = {"keys": ["sex"], "sensitive": [], "weight": "w", "thresholds": limits}
    return words_of(of(FILE.with_columns(w=weights)), **keys | entries)


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.clone])
@pytest.mark.parametrize("name", ["pay", "age", "hhsize"])
def test_risk_is_not_judged_by_a_weight_that_is_something_else(name: str, of: Any) -> None:
    """Of 3,961 made people weighed by their pay all were safe, as nine million were behind them."""
    file = FILE.with_columns(pl.Series("x", RNG.integers(1_000, 3_000, N)))
    entries: dict[str, Any] = {"keys": ["sex"], "sensitive": [], "thresholds": {"k": 2, "risk": 0.05}}
    named = of(file.drop(name, strict=False).rename({"x": name}))
    for files in ((named,), (named, named)):
        assert words_of(*files, weight=name, **entries) == {"k": "holds", "risk": "not judged"}
    for weight in (f"{name}_weight", "wt", "v7"):
        assert words_of(of(file.rename({"x": weight})), weight=weight, **entries) == {"k": "holds", "risk": "holds"}


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.clone])
def test_weights_for_more_people_than_there_are_are_not_judged(of: Any) -> None:
    assert weighed(9.2e6, of=of) == {"k": "holds", "risk": "holds", "global_risk": "holds"}
    assert weighed(9.3e6, of=of) == {"k": "holds", "risk": "not judged", "global_risk": "not judged"}
    assert weighed(9.3e6, of=of, thresholds={"risk": 1e-12})["risk"] == "exceeded"


def test_weights_without_their_decimal_point_are_not_judged() -> None:
    """Six decimals are implied by weights of a mean of 1, as in surveys on demography and health."""
    assert weighed(1e6, spread=0.8)["risk"] == "not judged"
    assert weighed(1e6, spread=0.8, weight=None, sampling_fraction=1e-6)["risk"] == "holds"
    assert weighed(1.0, weight=None, sampling_fraction=1e-7)["risk"] == "not judged"


def test_weights_of_a_release_are_not_judged_beside_an_original_with_the_same() -> None:
    file = FILE.with_columns(w=pl.lit(1e9), again="sex")
    entries: dict[str, Any] = {"keys": ["sex"], "sensitive": [], "weight": "w", "thresholds": {"k": 2, "risk": 0.5}}
    hidden = file.with_columns(sex=pl.when(pl.int_range(N) > 9).then("sex"))
    words = words_of(file, hidden, aligned=True, **entries)
    assert words == {"k": "holds", "k_undone": "holds", "risk": "not judged", "risk_undone": "not judged"}


def test_weights_of_mean_one_never_make_a_file_safer() -> None:
    """All 1, they say that everybody is in the file; scaled to a mean of 1 they count nobody, and are refused."""
    keys: dict[str, Any] = {"keys": KEYS, "thresholds": {"k": 2, "risk": 0.4}}
    with_one, without = weighed(1.0, **keys), weighed(1.0, **keys | {"weight": None})
    assert with_one == without == {"k": "exceeded", "risk": "exceeded"}
    with pytest.raises(sdc.DataError, match="weights scaled to mean 1 do not"):
        weighed(1.0, spread=0.5, **keys)


@pytest.mark.parametrize("of", [pl.DataFrame.lazy, pl.DataFrame.clone])
def test_who_lives_together_is_looked_for_only_where_a_limit_on_households_holds(
    of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def counted(*given: Any) -> str:
        looked.append(given[-1])
        return "by its rows"

    monkeypatch.setattr("sdckit.workflow.left_open._homes_told", counted)
    at_home = of(FILE.with_columns(home=pl.int_range(N) // 2))
    assert words_of(at_home, of(FILE), household="home")["k"] == "exceeded"
    assert not looked
    found = words_of(at_home, of(FILE), household="home", thresholds={}, release="public-use")
    assert (found["household_risk"], {*looked}) == ("not judged", {"home"})


@pytest.mark.parametrize("of", [pl.DataFrame.clone, pl.DataFrame.to_pandas])
def test_a_household_column_that_numbers_every_record_hides_nobody_who_is_put_together(of: Any) -> None:
    """Each released household had one member, so that its limit held, while all stood in their old order."""
    homes = N // 3
    file = FILE.with_columns(home=pl.int_range(N) // 3, town=pl.Series(RNG.integers(0, 9, homes).repeat(3)))
    numbers = {"every record": RNG.permutation(N), "every home": RNG.permutation(homes).repeat(3)}
    mixed = RNG.permutation(N)
    said: dict[str, Any] = {
        "keys": ["sex"], "household": "home", "sampling_fraction": 0.01, "aligned": True, "magnitudes": [],
        "thresholds": {"household_risk": 0.9}, "insensitive": ["age", "job", "pay", "town"],
        "release": "scientific-use",
    }  # fmt: skip
    words = {
        (numbered, str(rows)): words_of(of(file[order]), of(file.with_columns(home=pl.Series(new))[order]), **said)
        for numbered, new in numbers.items()
        for rows, order in (("in order", np.arange(N)), ("mixed", mixed))
    }
    assert {case: own["household_risk"] for case, own in words.items()} == {
        ("every record", "in order"): "not judged", ("every record", "mixed"): "holds",
        ("every home", "in order"): "holds", ("every home", "mixed"): "holds",
    }  # fmt: skip
    assert words["every record", "in order"]["roles"] == "not judged"
    assert words["every home", "in order"].get("roles", "holds") == "holds"
