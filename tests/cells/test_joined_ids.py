"""Identifiers that change between waves: what stays the same of a person leads from one to the next."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells.joined_ids import joined_ids
from sdckit.data.frames import open_frame

N, WAVES = 300, 6


def panel(seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(N), WAVES)
    year = np.tile(np.arange(2000, 2000 + WAVES), N)
    born = np.repeat(rng.integers(1930, 1990, N), WAVES)
    return pl.DataFrame(
        {
            "person": who,
            "year": year,
            "job": rng.integers(1, 6, N * WAVES),
            "union": rng.integers(0, 2, N * WAVES),
            "weight": np.repeat(rng.integers(1000, 100_000, N), WAVES),
            "age": year - born,
            "sex": np.repeat(rng.choice(["f", "m"], N), WAVES),
        }
    )


def alone(before: pl.DataFrame, after: pl.DataFrame) -> tuple[float, dict[str, str]]:
    known = sdc.known_points(before, after, person="person", time="year", keys=["job", "union"], points=2)
    return known.alone, dict(known.notes)


def blocks(data: pl.DataFrame) -> pl.DataFrame:
    return sdc.new_ids(data, column="person", block=2, time="year", key=b"k" * 32).data


def test_a_weight_leads_from_block_to_block() -> None:
    """Of new identifiers in every block nothing is left: the file is what it is with the same ones throughout."""
    data = panel()
    made = blocks(data)
    whole, _ = alone(data, sdc.new_ids(data, column="person", key=b"k" * 32).data)
    followed, notes = alone(data, made)
    assert followed == whole > 0.02
    assert notes["person"].endswith("weight, age, sex")
    without, notes = alone(data.drop("weight", "age"), made.drop("weight", "age"))
    assert without < followed / 2
    assert notes["person"].endswith("sex")
    bare, notes = alone(data.drop("weight", "age", "sex"), made.drop("weight", "age", "sex"))
    assert bare == without
    assert "no other column" in notes["person"]


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_mistakes_of_a_few_people_hide_the_others_no_longer(share: float) -> None:
    """A single weight typed wrongly kept everybody from being followed, and the limit held."""
    first = pl.col("year") == 2003
    wrong = pl.when(first & (pl.col("person") < share * N)).then(pl.col("person") + 10**6).otherwise(pl.col("weight"))
    data = panel().drop("age", "sex").with_columns(weight=wrong)
    made = blocks(data)
    whole, _ = alone(data, sdc.new_ids(data, column="person", key=b"k" * 32).data)
    bare, _ = alone(data.drop("weight"), made.drop("weight"))
    followed, notes = alone(data, made)
    if share == 0.05:
        assert followed > 0.9 * whole
        assert notes["person"].endswith("weight")
    else:  # what is not the same of half of them leads on by each value
        assert bare < followed < 1.1 * whole
        assert notes["person"].endswith("weight")


def test_a_value_of_their_own_leads_people_on() -> None:
    """Last year's wage beside this year's led from block to block, and 0 % were found."""
    data = panel().drop("weight", "age", "sex")
    wage = pl.Series(np.random.default_rng(2).permutation(len(data)) * 1.0)
    data = data.with_columns(wage=wage).with_columns(before=pl.col("wage").shift(1).over("person"))
    whole, _ = alone(data, sdc.new_ids(data, column="person", key=b"k" * 32).data)
    made = blocks(data)
    followed, notes = alone(data, made)
    assert followed == whole > 0.02
    assert notes["person"].endswith("wage, before")
    bare, notes = alone(data.drop("before"), made.drop("before"))  # no wage stands twice
    assert bare < whole / 2
    assert "no other column" in notes["person"]
    born = data.with_columns(born=pl.col("person") % 50)
    gone = blocks(born).with_columns(born=pl.when(~pl.col("year").is_in([2002, 2003])).then("born"))  # of a block
    assert alone(born, gone)[0] == alone(born, blocks(born))[0]
    coarse = pl.Series(np.random.default_rng(3).integers(0, 40, len(data)))
    assert alone(data.drop("before"), made.drop("before").with_columns(wage=coarse))[0] == bare


def test_what_is_the_same_of_nearly_all_hides_nobody_whom_the_rest_leads_to() -> None:
    data = panel().with_columns(
        place=pl.when(pl.col("person") % 12 == 0).then("year").otherwise(0) + pl.col("person") % 7
    )
    made = blocks(data)
    followed, notes = alone(data, made)
    assert followed == alone(data.drop("place"), made.drop("place"))[0]
    assert notes["person"].endswith("weight, age, sex")


def test_an_age_moves_with_the_time() -> None:
    data = panel().with_columns(age=pl.col("age") * 1000 + pl.col("person") - 999 * (pl.col("year") - 2000))
    made = blocks(data)
    followed, _ = alone(data.drop("weight"), made.drop("weight"))
    assert followed == alone(data, made)[0]


def test_the_order_of_the_rows_does_not_matter() -> None:
    data = panel().with_columns(row=pl.int_range(pl.len()))
    made = blocks(data)
    mixed = made.sample(fraction=1.0, shuffle=True, seed=3)
    how = {"person": "person", "time": "year", "keys": ["job"], "points": 2}
    in_order = sdc.known_points(data, made, **how)
    for after, id in ((mixed, "row"), (mixed.drop("row"), None)):
        assert sdc.known_points(data, after, id=id, **how).alone == pytest.approx(in_order.alone)


def test_identifiers_of_two_people_are_not_joined_where_rows_tell() -> None:
    before = open_frame(pl.DataFrame({"who": [1, 1, 2, 2], "year": [1, 2, 3, 4], "w": [5, 5, 5, 5], "z": [1, 1, 2, 2]}))
    after = open_frame(pl.DataFrame({"who": [1, 2, 3, 4], "year": [1, 2, 3, 4], "w": [5, 5, 5, 5], "z": [1, 1, 1, 1]}))
    person, own = np.arange(4), np.array([0, 0, 1, 1])
    for owner, expected in ((None, 4), (own, 4)):
        number, by = joined_ids(after, before, person, own, owner, id="who", time="year")
        assert (len(set(number.tolist())), by) == (expected, ())  # nothing differs between people
    after = open_frame(pl.DataFrame({"who": [1, 2, 3, 4, 5], "year": [1, 2, 3, 4, 4], "z": [1, 1, 1, 1, 2]}))
    ids = np.arange(5)
    joined, _ = joined_ids(after, before, ids, own, None, id="who", time="year")
    assert joined.tolist()[:4] == [0, 0, 0, 0]
    kept, _ = joined_ids(after, before, ids, own, np.array([0, 0, 1, 1, 1]), id="who", time="year")
    assert len(set(kept.tolist())) == 5


def test_two_people_alike_in_the_same_years_stay_apart() -> None:
    data = panel().with_columns(weight=pl.col("person") // 2, age=pl.lit(None, pl.Int64), sex=pl.lit("f"))
    made = blocks(data)
    assert alone(data, made)[0] == alone(data.drop("weight"), made.drop("weight"))[0]


def test_missing_values_of_what_stays_the_same() -> None:
    data = panel().drop("age", "sex")
    gone = blocks(data).with_columns(weight=pl.when(pl.int_range(pl.len()) % 2 == 0).then("weight"))
    assert alone(data, gone)[0] == alone(data, blocks(data))[0]


def test_what_is_known_of_some_rows_only_keeps_nobody_from_following() -> None:
    """Sex, asked in the first block alone, or taken out of some: the weight leads on, but not to who differs in sex."""
    data = panel().drop("age").with_columns(weight=pl.col("person") * 7 + 1000)
    made = blocks(data)
    once = made.with_columns(sex=pl.when(pl.col("year") < 2002).then("sex"))
    some = made.with_columns(sex=pl.when(pl.col("person").hash(1) % 3 > 0).then("sex"))
    for after in (once, some):
        assert alone(data, after)[0] == alone(data, made)[0]
    twins = open_frame(pl.DataFrame({"who": [1, 2, 3], "year": [1, 2, 3], "w": [5, 5, 6], "z": [1, 2, None]}))
    before = open_frame(pl.DataFrame({"who": [1, 2, 3], "year": [1, 2, 3], "w": [5, 5, 6], "z": [1, 2, 2]}))
    kept, by = joined_ids(twins, before, np.arange(3), np.arange(3), None, id="who", time="year")
    assert (len(set(kept.tolist())), by) == (3, ("w", "z"))


@pytest.mark.filterwarnings("ignore")
def test_without_a_time_nothing_is_said() -> None:
    """Of the people of single blocks few are alone, which is not what somebody sees who follows them."""
    data = panel()
    with pytest.raises(sdc.DataError, match="several identifiers, and without a time"):
        sdc.known_points(data, blocks(data), person="person", keys=["job", "union"], points=4)
    scenario = sdc.Scenario(keys=["job", "union"], person="person", thresholds={"known_points": 0.02})
    (verdict,) = sdc.check(data, released=blocks(data), scenario=scenario).verdicts
    assert verdict.holds is None
    assert "name the column of the wave" in verdict.reason


def test_a_plan_is_not_judged() -> None:
    data = panel()
    with pytest.raises(sdc.SdcError, match="give the files in memory"):
        sdc.known_points(
            data.lazy(), blocks(data).lazy(), person="person", time="year", keys=["job"], points=2, id=None
        )


@pytest.mark.filterwarnings("ignore")
def test_the_gate_closes_on_blocks_that_a_weight_joins() -> None:
    data = panel()
    scenario = sdc.Scenario(
        keys=["job", "union"], person="person", time="year", weight="weight", insensitive=["age", "sex"],
        thresholds={"known_points": 0.02},
    )  # fmt: skip
    made = blocks(data)
    (closed,) = sdc.check(data, released=made, scenario=scenario).verdicts
    assert closed.holds is False
    left = sdc.check(data, released=made.drop("weight", "age"), scenario=scenario).verdicts[0]
    assert left.value < closed.value


def followed(**changed: list[int | None]) -> tuple[list[list[int]], tuple[str, ...]]:
    """Of 40 people in four years, whose identifiers change after two: who is followed, and by which columns."""
    who, year = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    data = open_frame(pl.DataFrame({"who": who, "year": year, **changed}))
    identifier = (who * 2 + year // 2).astype(np.int32)
    people, columns = joined_ids(data, data, identifier, who.astype(np.int32), None, id="who", time="year")
    return people.reshape(40, 4).tolist(), columns


def test_whom_a_column_says_two_things_of_is_not_led_by_either() -> None:
    values: list[int | None] = np.repeat(np.arange(40), 4).tolist()
    values[0] = 999
    people, columns = followed(birth=values)
    assert columns == ("birth",)
    assert len(set(people[0])) == 2
    assert all(len(set(own)) == 1 for own in people[1:])
    assert len({own[0] for own in people}) == 40


def test_what_changes_of_three_in_ten_leads_nobody() -> None:
    values: list[int | None] = np.repeat(np.arange(40), 4).tolist()
    for person in range(12):
        values[4 * person] = 900 + person
    people, columns = followed(birth=values)
    assert columns == ()
    assert all(len(set(own)) == 2 for own in people)


def test_whom_one_column_is_missing_of_is_led_by_another() -> None:
    values = [np.repeat(np.arange(40), 4).astype(object) for _ in range(2)]
    values[0][:4] = None  # of one person
    values[1][4:16] = None  # of three others
    people, columns = followed(birth=values[0].tolist(), weight=values[1].tolist())
    assert columns == ("birth", "weight")
    assert all(len(set(own)) == 1 for own in people)
    assert len({own[0] for own in people}) == 40
