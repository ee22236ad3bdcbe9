"""Verdicts where a person has several rows: on single rows, and on people who are followed through them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet


def panel(*, rows: int = 2) -> pl.DataFrame:
    """Sixty people; everybody's single rows are like those of many others."""
    number = range(60 * rows)
    return pl.DataFrame(
        {"who": [at // rows for at in number], "sex": ["f", "m"] * (30 * rows), "ill": [at % 7 for at in number]}
    )


def of_panel(data: pl.DataFrame, released: pl.DataFrame | None = None, **entries: Any) -> Any:
    roles = {"keys": ["sex"], "person": "who", "sensitive": ["ill"], "household": "none", **entries}
    with quiet():
        return sdc.check(data, released, scenario=sdc.Scenario(**roles))


def words_of(result: Any) -> tuple[str, str]:
    by_name = {verdict.name: verdict.word for verdict in result.verdicts}
    return by_name["k"], by_name["risk"]


def test_verdicts_on_k_and_risk_are_said_of_single_rows() -> None:
    result = of_panel(panel(), thresholds={"k": 3, "risk": 0.5, "l": 2})
    assert {verdict.name: verdict.single_rows for verdict in result.verdicts} == {"k": True, "risk": True, "l": True}
    assert result.passed
    words = "this is said of single rows, and not of people who are followed through their rows"
    assert result.verdicts[0].sentence.endswith(words)
    printed = result.told().verdicts[0].sentence
    assert printed.endswith("(k = 3). T" + words[1:] + ".")
    assert not any(verdict.single_rows for verdict in of_panel(panel(rows=1), thresholds={"k": 3}).verdicts)


@pytest.mark.parametrize("lazily", [False, True])
def test_a_type_of_release_leaves_k_and_risk_of_single_rows_open(lazily: bool) -> None:
    data = panel().lazy() if lazily else panel()
    result = of_panel(data, release="scientific-use")
    assert words_of(result) == ("not judged", "not judged")
    assert "rows are not people" in result.verdicts[0].reason
    one_each = of_panel(panel(rows=1), release="scientific-use")
    assert words_of(one_each) == ("holds", "holds")


def test_values_in_the_rows_of_one_person_are_no_values_of_several() -> None:
    """Each of 60 people has both illnesses, so that whoever knows one of them knows that; two rows hold two values."""
    both = panel().with_columns(ill=pl.Series(["flu", "hiv", "hiv", "flu"] * 30))
    (verdict,) = of_panel(both, thresholds={"l": 2}).verdicts
    assert (verdict.word, verdict.single_rows) == ("holds", True)
    assert verdict.sentence.endswith(
        "this is said of single rows, and not of people who are followed through their rows"
    )
    found = {one.name: one for one in of_panel(both, release="scientific-use", thresholds={"l": 2}).verdicts}
    assert found["l"].word == "not judged"
    assert "rows are not people" in found["l"].reason


def followed(**entries: Any) -> Any:
    """Everybody is like many others in each of two years, and one of sixty is with both together like nobody."""
    both = panel().with_columns(pl.Series("year", [1, 2] * 60), pl.Series("sex", ["f", "f", "m", "m"] * 30))
    alone = both.with_columns(
        sex=pl.when((pl.col("who") == 0) & (pl.col("year") == 2)).then(pl.lit("m")).otherwise("sex")
    )
    return of_panel(alone, time="year", **entries)


def test_where_people_are_followed_k_and_risk_hold_of_single_rows() -> None:
    """A file with several rows of a person does not pass by k alone."""
    limit = {"points": 2, "alone": 1 / 60}
    result = followed(release="public-use", thresholds={"known_points": limit, "exact_numbers": "none"})
    found = {verdict.name: verdict for verdict in result.verdicts}
    assert (found["k"].word, found["k"].single_rows) == ("holds", True)
    assert (found["known_points"].word, found["known_points"].value) == ("holds", 1 / 60)
    words = "who knows 2 of a person’s rows finds 1.66667 % of the people alone, not above 1.66667 %"
    assert found["known_points"].sentence.startswith(words)
    beyond = followed(release="public-use", thresholds={"known_points": 0.01, "exact_numbers": "none"})
    assert [verdict.name for verdict in beyond.exceeded] == ["known_points"]
    left_out = followed(release="public-use", thresholds={"known_points": "none"})
    assert words_of(left_out) == ("not judged", "not judged")


def test_the_type_asks_for_people_only_where_the_scenario_says_whose_rows_are_whose() -> None:
    asked = {verdict.name: verdict.origin for verdict in followed(release="teaching").verdicts}
    assert asked["known_points"] == "limit of a teaching file"
    assert "known_points" not in {
        verdict.name for verdict in of_panel(panel(), release="teaching", person=None).verdicts
    }


def test_who_knows_two_rows_knows_one() -> None:
    """After new identifiers in every year nobody has two rows, and one may do."""
    data = panel().with_columns(pl.Series("year", [1, 2] * 60))
    data = data.with_columns(sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("x")).otherwise("sex"))
    by_year = sdc.new_ids(data, column="who", block=1, time="year").data
    limit = {"known_points": {"points": 2, "alone": 0.005}}
    result = of_panel(data, by_year, time="year", aligned=True, thresholds=limit)
    (verdict,) = result.verdicts
    assert (verdict.word, verdict.value) == ("exceeded", 1 / 120)


def hospital(folder: Path, **entries: Any) -> sdc.Scenario:
    """Sixty patients in two groups, and their visits in another file: the first one's wards are nobody else's."""
    number = range(120)
    wards = ["x", "y", *(["x", "x", "y", "y"] * 30)[:118]]
    visits = pl.DataFrame({"who": [at // 2 for at in number], "day": [at % 2 for at in number], "ward": wards})
    visits.write_csv(folder / "visits.csv")
    place = {"file": folder / "visits.csv", "key": "who", "keys": ["ward"], "time": "day", **entries}
    limits = {"k": 3, "known_points": {"points": 2, "alone": 0.01}}
    return sdc.Scenario(keys=["sex"], children=place, thresholds=limits)


def test_people_are_followed_through_the_rows_of_another_file(tmp_path: Path) -> None:
    patients = panel(rows=1)
    scenario = hospital(tmp_path)
    with quiet():
        found = {verdict.name: verdict for verdict in sdc.check(patients, scenario=scenario).verdicts}
        beside = sdc.check(patients, patients, scenario=scenario, seed=1).verdicts[-1]
        out = hospital(tmp_path, released=tmp_path / "visits.csv")
        with_rows = sdc.check(patients, patients, scenario=out, seed=1).verdicts[-1]
        lost = sdc.check(patients, scenario=hospital(tmp_path, file=tmp_path / "none.csv")).verdicts[-1]
    assert (found["k"].word, found["k"].single_rows) == ("holds", False)
    assert (found["known_points"].word, found["known_points"].value) == ("exceeded", 1 / 60)
    assert beside.holds is None
    assert "does not name the file with the rows of each release" in beside.reason
    assert (with_rows.word, with_rows.value) == ("exceeded", 1 / 60)
    assert lost.holds is None
    assert "none.csv" in lost.reason


def test_what_single_rows_exceed_stays_exceeded_under_a_type() -> None:
    alone = panel().with_columns(sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("x")).otherwise("sex"))
    verdict = of_panel(alone, release="scientific-use").verdicts[0]
    assert (verdict.name, verdict.word, verdict.single_rows) == ("k", "exceeded", True)


def test_a_release_without_the_number_of_the_person_has_no_people_either() -> None:
    """Eight rows of one person would be eight records alike."""
    result = of_panel(panel(), panel().drop("who"), release="scientific-use", aligned=True)
    assert words_of(result) == ("not judged", "not judged")
    told = {verdict.name: verdict.sentence for verdict in result.told().verdicts}
    assert "rows are not people" in told["k"]
