"""What releases give away together, on made and on public data."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import people, together, with_gaps
from needs import needs_reference
from sdckit.report.wording import say

DATA = people(300)
HERE, THERE = ["part", "sex", "age"], ["region", "band"]


def found(**given: object) -> sdc.Differencing:
    base = {"keys": HERE, "earlier_keys": THERE, "sensitive": ["job"], "aligned": True, "earlier": DATA}
    return sdc.differencing(DATA, **{**base, **given})  # type: ignore[arg-type]


def test_people_are_counted_once_whatever_is_given_away_of_them() -> None:
    old = with_gaps(DATA, "sex", 0.2)
    result = sdc.differencing(old, earlier=DATA, keys=HERE, earlier_keys=THERE, sensitive=["job"], aligned=True)
    records = result.records
    either = records["certain_together"] | records["given_back"] | records["unprotected"]
    assert result.people == either.sum()
    assert result.differencing == pytest.approx(either.sum() / 300)
    assert result.given_back == old["sex"].is_null().sum()
    assert result.certain == {"job": result.certain_together}


def test_three_releases_tell_what_no_two_of_them_tell() -> None:
    """The first may be x, y or z; x, y or w; x, z or w. The others are told by one release alone."""
    data = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 1], "c": [1, 2, 1, 1], "job": ["x", "y", "z", "w"]})
    files = {key: data.select(key, "job") for key in "bc"}
    given = {"keys": ["a"], "sensitive": ["job"], "aligned": True}
    for key, one in files.items():
        pair = sdc.differencing(data, earlier=one, earlier_keys=[key], **given)  # type: ignore[arg-type]
        assert pair.certain_together == 0
    result = sdc.differencing(data, earlier=files, earlier_keys=[["b"], ["c"]], **given)  # type: ignore[arg-type]
    assert result.records["certain_together"].to_list() == [True, False, False, False]
    assert [one.name for one in result.entries] == ["b", "c"]


def test_values_that_contradict_each_other_are_noted() -> None:
    data = pl.DataFrame({"a": [1, 1, 2, 2, 3, 3], "job": ["x", "y", "z", "w", "x", "w"]})
    other = data.with_columns(job=pl.Series(["z", "y", "z", "w", "x", "w"]), a=pl.Series([1, 2, 2, 2, 3, 3]))
    result = sdc.differencing(data, earlier=other, keys=["a"], sensitive=["job"], aligned=True)
    assert "no value is possible in all releases" in result.notes["certain_together"]
    assert result.not_compared == ()


def test_an_id_that_joins_other_people_is_named_and_that_all_is_new_does_not_open_it(tmp_path: Path) -> None:
    """Numbered anew in each file it joined strangers; nothing could be compared, and the advice was to call it new."""
    ids = pl.int_range(len(DATA)).alias("id")
    first = DATA.with_columns(ids)
    again = DATA.sample(fraction=1.0, shuffle=True, seed=4).with_columns(ids)
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Panel")
    scenario = sdc.Scenario(keys=HERE, sensitive=["job"], identifiers=["id"])
    ledger = ledger.add(first, name="2022", scenario=scenario, id="id")
    for new in ((), (*HERE, "job")):
        result = sdc.differencing(again, ledger=ledger, keys=HERE, sensitive=["job"], id="id", new=new)
        (reason,) = result.not_compared
        assert reason.startswith(
            "the records that the id, or their order, joins with 2022 agree in none of part, sex, age"
        )
        german = say(f"Not compared: {reason}.", "de")
        assert german.startswith("Nicht verglichen: die Datensätze, die der Personenschlüssel")
        assert "in keinem von part, sex, age, job überein" in german
    of_one = sdc.differencing(first, ledger=ledger, keys=HERE, sensitive=["job"], id="id")
    assert (of_one.not_compared, of_one.entries[0].compared) == ((), (*HERE, "job"))
    changed = first.with_columns(job=again["job"])  # of the same people a single variable may be asked anew
    (reason,) = sdc.differencing(changed, ledger=ledger, keys=HERE, sensitive=["job"], id="id").not_compared
    assert reason.startswith("no earlier release has job")


def test_one_person_more_is_told_by_the_difference() -> None:
    group = pl.DataFrame({"sex": ["f"] * 4, "job": ["cook", "judge", "cook", "nurse"]})
    one = pl.DataFrame({"sex": ["f"], "job": ["judge"]})
    result = sdc.differencing(pl.concat([group, one]), earlier=group, keys=["sex"], sensitive=["job"])
    assert (result.told_by_difference, result.people, result.differencing) == (1, 1, 0.2)
    (entry,) = result.entries
    assert (entry.relation, entry.related) == ("superset", "the release has its records and 1 more")


def test_who_left_is_told_where_the_regions_of_the_later_release_were_numbered_anew() -> None:
    """Region 1 was 1 and 2 before, and 2 was 3: compared by their numbers, neither file seemed to hold the other."""
    before = people(300).with_columns(region=pl.col("region") // 2 + 1)
    after = before.slice(1).with_columns(region=(pl.col("region") + 1) // 2)
    given = {"keys": ["region", "sex"], "sensitive": ["job"], "id": "id"}
    result = sdc.differencing(after, earlier=before, **given)  # type: ignore[arg-type]
    (entry,) = result.entries
    assert (entry.otherwise, entry.relation, entry.removed) == (("region",), "subset", 1)
    assert result.told_by_difference == 1
    same = sdc.differencing(before.slice(1), earlier=before, **given)  # type: ignore[arg-type]
    assert (same.entries[0].otherwise, same.told_by_difference) == ((), 1)


def test_every_figure_is_in_the_dictionary_and_survives_pickling() -> None:
    result = found()
    told = result.to_dict()
    assert told["figures"]["certain_together"] == result.certain_together > 0
    assert told["entries"][0]["linked"] == 300
    again = pickle.loads(pickle.dumps(result))
    assert again.people == result.people
    with pytest.raises(sdc.DataError, match="let go of the data"):
        _ = again.records


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"earlier": None}, "there is no earlier release to compare with"),
        ({"within": 0}, "within"),
        ({"aligned": 1}, "aligned"),
        ({"ledger": "folder"}, "ledger= takes a ReleaseLedger"),
        ({"keys": None}, "say which variables an intruder knows"),
        ({"keys": [["sex"], ["age"]]}, "keys"),
        (
            {"keys": None, "scenario": sdc.Scenario(intruders={"a": ["sex"], "b": ["age"]})},
            "keys are those of one intruder",
        ),
        ({"people": 2024}, "people"),
        ({"earlier_keys": ["regio"]}, "earlier_keys: no column 'regio' in the data; did you mean 'region'"),
        ({"earlier_keys": [["region"], ["band"]]}, "one list of keys for each of the earlier files"),
        ({"keys": ["agee"]}, "no column 'agee' in the data; did you mean 'age'"),
        ({"earlier": DATA.select("id"), "earlier_keys": None}, "has none of the columns part, sex, age, job"),
    ],
)
def test_bad_input_is_told(given: dict[str, object], told: str) -> None:
    with pytest.raises(sdc.SdcError, match=told):
        found(**given)


def test_engines_give_the_same() -> None:
    expected = found()
    pandas = sdc.differencing(
        DATA.to_pandas(), earlier=DATA.to_arrow(), keys=HERE, earlier_keys=THERE, sensitive=["job"], aligned=True
    )
    assert pandas.people == expected.people
    assert type(pandas.records).__module__.startswith("pandas")
    lazy = sdc.differencing(DATA.lazy(), earlier=DATA.lazy(), keys=HERE, earlier_keys=THERE, sensitive=["job"], id="id")
    assert lazy.people == expected.people


def public(name: str) -> pl.DataFrame:
    return pl.read_csv(needs_reference() / "public" / name, infer_schema_length=None)


@pytest.mark.parametrize(
    ("here", "there", "people_told"),
    [
        (["Family Composition", "Sex"], ["Family Composition", "Student"], 45),
        (["Region", "Approximated Social Grade"], ["Health", "Approximated Social Grade"], 94),
    ],
)
def test_two_recodings_of_a_census_file_make_occupations_certain(
    here: list[str], there: list[str], people_told: int
) -> None:
    census = public("census2011.csv.gz").head(10_000)
    for keys in (here, there):
        assert min(census.group_by(keys).len()["len"]) >= 3
    result = sdc.differencing(
        census, earlier=census, keys=here, earlier_keys=there, sensitive=["Occupation"], id="Person ID"
    )
    assert result.certain_together == people_told
    sets = {tuple(keys): {row: set(one["Occupation"]) for row, one in census.group_by(keys)} for keys in (here, there)}
    mine = [[sets[tuple(keys)][row] for row in census.select(keys).rows()] for keys in (here, there)]
    assert result.records["certain_together"].to_list() == together(*mine)


def test_two_years_of_a_survey_share_combinations(tmp_path: Path) -> None:
    keys = ["PUMA", "AGEP", "SEX", "MSP", "RAC1P"]
    old, new = public("ma2018.csv.gz"), public("ma2019.csv.gz")
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="ACS")
    ledger = ledger.add(old, name="2018", keys=keys, sensitive=["INDP_CAT"], people="2018")
    result = sdc.differencing(new, ledger=ledger, keys=keys, sensitive=["INDP_CAT"], people="2019")
    (entry,) = result.entries
    both = new.group_by(keys).len("here").join(old.group_by(keys).len("there"), on=keys, how="full", coalesce=True)
    here, there = both["here"].fill_null(0), both["there"].fill_null(0)
    assert entry.new_uniques == ((here == 1) & (there == 0)).sum()
    assert entry.vanished_uniques == ((here == 0) & (there == 1)).sum()
    assert entry.kept_uniques == ((here == 1) & (there == 1)).sum()
    assert entry.otherwise == ()
    assert result.people == 0
