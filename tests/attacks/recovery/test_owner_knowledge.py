"""What is known of the columns is counted beyond what the release alone tells, and put back as in the original."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, recoverable_values
from sdckit.attacks.recovery.owner_knowledge import Known
from sdckit.attacks.recovery.reconstruction_rules import Source

N = 200
AGES = np.random.default_rng(4).integers(20, 60, N)
WHOLE = pl.DataFrame(
    {
        "age": AGES, "wage": AGES * 31.25 + 7, "town": [f"t{age}" for age in AGES],
        "born": [date(2000 - int(age), 3, 1) for age in AGES],
    }
)  # fmt: skip
BANDS = pl.Series([f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in AGES])
OUT = {
    "numbers": WHOLE.with_columns(wage=pl.col("wage").shuffle(seed=1)),
    "bands": WHOLE.with_columns(age=BANDS),
    "texts": WHOLE.with_columns(town=pl.col("town").shuffle(seed=1)),
    "dates": WHOLE.with_columns(born=pl.col("born").shuffle(seed=1)),
}
COLUMN = {"numbers": "wage", "bands": "age", "texts": "town", "dates": "born"}


@pytest.fixture
def every_third(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every third changed value is told by a relation, and every fourth is narrowed."""

    def knowledge(_: object, recoveries: dict, **__: object) -> dict[str, Known]:
        rows = np.arange(N)
        return {
            name: Known(
                told := found.target.touched & (rows % 3 == 0), np.where(told, rows % 2, -1).astype(np.int16),
                (Source(("a",), "twice a", 0, "numbers"), Source(("b",), "code of b", 0, "table")),
                found.target.touched & (rows % 4 == 0) & ~told,
            )
            for name, found in recoveries.items()
        }  # fmt: skip

    monkeypatch.setattr("sdckit.attacks.recovery.recoverable_values.owner_knowledge", knowledge)


@pytest.mark.parametrize("kind", OUT)
@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_what_is_known_is_put_back_as_the_original_has_it(every_third, kind, make):
    column, released = COLUMN[kind], OUT[kind].select(COLUMN[kind])
    found = recoverable_values(make(released), make(WHOLE.select(column)), guess=False)
    undone = found.undone()
    back = pl.DataFrame(undone) if not isinstance(undone, pd.DataFrame) else pl.from_pandas(undone)
    told = pl.Series(np.arange(N) % 3 == 0)
    texts = [frame[column].cast(pl.String) for frame in (back, WHOLE, released)]
    if kind == "dates":
        texts = [text.str.slice(0, 10) for text in texts]
    assert texts[0].filter(told).to_list() == texts[1].filter(told).to_list()
    assert texts[0].filter(~told).to_list() == texts[2].filter(~told).to_list()


def test_it_is_counted_beyond_what_the_release_alone_tells(every_third):
    found = recoverable_values(OUT["bands"].select("age"), WHOLE.select("age"), guess=False)
    (one,) = found.columns[0]
    states = found.records["state"].to_list()
    assert (one.alone, one.known, one.counted) == (0, 67, 67)
    assert (found.right, found.known, found.recoverable) == (0, 67, 67 / N)
    assert [(source.words, source.told) for source in one.known_sources] == [("twice a", 34), ("code of b", 33)]
    assert one.told_by == "twice a; code of b"
    assert (states.count("known"), states.count("narrowed"), one.narrowed) == (67, 33, 33)
    assert set(found.records.filter(pl.col("state") == "known")["by"]) == {"twice a", "code of b"}
    assert set(found.records.filter(pl.col("state") == "known")["remaining"]) == {1.0}


def test_what_the_release_alone_tells_is_not_counted_twice(every_third):
    copied = WHOLE.select("age", copy="age")
    blank = copied.with_columns(age=pl.when(pl.int_range(N) < 30).then(None).otherwise("age"))
    (one,) = recoverable_values(blank, copied, guess=False).columns[0]
    assert (one.right, one.known, one.known_sources) == (30, 30, ())


def test_nothing_is_known_beyond_the_release_without_its_original(every_third):
    found = recoverable_values(OUT["bands"].select("age"), guess=False)
    assert np.isnan(found.known)
    assert found.columns[0][0].known is None
    assert found.notes["known"].startswith("the original is not given")


# Columns that were recoded to groups: what is released of them is right, so nothing but a companion tells more.

JOBS = np.random.default_rng(6).integers(0, 12, 600)
PEOPLE = pl.DataFrame(
    {
        "job": [f"job {job}" for job in JOBS], "code": JOBS * 7 % 13 + 100,
        "age": np.random.default_rng(7).integers(16, 95, 600), "other": np.random.default_rng(8).integers(0, 9, 600),
    }
).with_columns(born=2024 - pl.col("age"))  # fmt: skip
IN_GROUPS = PEOPLE.with_columns(
    job=pl.col("job").replace_strict({f"job {job}": f"group {job % 3}" for job in range(12)}),
    age=pl.when(pl.col("age") < 40).then(20).otherwise(40),
)


def of_columns(released, original):
    found = recoverable_values(released, original, guess=False)
    return found, {column.column: column for column in found.columns[0]}


@pytest.mark.parametrize("suppressed", [0, 60])
def test_a_code_beside_its_groups_tells_what_they_were(suppressed):
    hidden = IN_GROUPS.with_columns(job=pl.when(pl.int_range(600) < suppressed).then(None).otherwise("job"))
    found, columns = of_columns(hidden, PEOPLE)
    for name, by in (("job", "code"), ("age", "born")):
        assert columns[name].kinds[-1] == "in groups"
        assert columns[name].known == columns[name].touched > 550
        assert by in columns[name].known_by
    assert columns["job"].alone <= suppressed
    undone = found.undone()
    assert undone["job"].to_list() == PEOPLE["job"].to_list()
    assert undone["age"].to_list() == PEOPLE["age"].to_list()


def test_groups_that_nothing_tells_are_not_counted_among_changed_values():
    _, columns = of_columns(IN_GROUPS.drop("code", "born"), PEOPLE.drop("code", "born"))
    assert columns == {}
    recoded = IN_GROUPS.with_columns(code=pl.col("code") % 3, born=pl.col("born") // 30)
    assert of_columns(recoded, PEOPLE)[1].keys() <= {"born"}


# What a reader works out of the release by itself, whose columns the gate once found nothing in.

DAYS = np.random.default_rng(9).integers(15_000, 18_000, (2, 600))


def stays(form):
    """Days of birth and admission, written as `form`, and the age in days between them."""
    born, admitted = (pl.Series(days - off).cast(pl.Date) for days, off in zip(DAYS, (9_000, 0), strict=True))
    written = [day if form is None else day.dt.strftime(form) for day in (born, admitted)]
    age = (admitted - born).dt.total_days()
    return pl.DataFrame({"born": written[0], "admitted": written[1], "age in days": age})


@pytest.mark.parametrize(
    ("form", "hidden"),
    [
        (None, lambda born: born.dt.strftime("%Y-%m")),  # of most days there is one: in groups, and not changed
        ("%d.%m.%Y", lambda born: born.str.slice(6)),
        ("%d.%m.%Y", lambda born: pl.lit(None, pl.String)),
    ],
)
def test_a_date_is_told_by_another_and_the_days_between_however_they_are_written(form, hidden):
    whole = stays(form)
    _, columns = of_columns(whole.with_columns(born=hidden(pl.col("born"))), whole)
    assert columns["born"].known == columns["born"].touched == 600
    assert "age in days" in columns["born"].known_by
    apart = whole.with_columns(pl.col("age in days").shuffle(seed=2))
    _, columns = of_columns(apart.with_columns(born=hidden(pl.col("born"))), apart)
    assert not any(column.counted for column in columns.values())


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("hidden", ["noise", "classes", "blank"])
def test_an_item_is_told_by_the_score_and_all_the_others(missing, hidden):
    rng = np.random.default_rng(5)
    items = rng.integers(0, 60, (1_000, 7)).astype(float)
    mean = items.mean(axis=1).round(3)
    items[:, 1:][rng.random((1_000, 6)) < missing] = np.nan
    whole = pl.DataFrame({**{f"q{i}": items[:, i] for i in range(7)}, "mean": mean}).fill_nan(None)
    changed = {
        "noise": (pl.col("q0") + pl.Series(rng.integers(-9, 10, 1_000))), "classes": pl.col("q0") // 20 * 20,
        "blank": pl.lit(None, pl.Float64),
    }[hidden]  # fmt: skip
    _, columns = of_columns(whole.with_columns(q0=changed), whole)
    complete = np.isfinite(items).all(axis=1)
    assert columns["q0"].known >= 0.85 * complete.sum()
    assert columns["q0"].known <= complete.sum()
    assert "mean" in columns["q0"].told_by
    _, columns = of_columns(whole.with_columns(changed.alias("q0"), pl.col("mean").shuffle(seed=1)), whole)
    assert not any(column.counted for name, column in columns.items() if name == "q0")


def test_a_code_that_begins_another_is_told_however_few_have_it():
    rng = np.random.default_rng(3)
    region = [f"DE{code}" for code in rng.choice([*"ABCDEFGH"], 600, p=[0.2, 0.2, 0.2, 0.19, 0.19, 0.01, 0.005, 0.005])]
    district = [f"{code}{end}" for code, end in zip(region, rng.integers(1, 9, 600), strict=True)]
    whole = pl.DataFrame({"region": region, "district": district, "other": rng.permutation(district)})
    rare = pl.col("region").is_in(["DEF", "DEG", "DEH"])
    blank = whole.with_columns(region=pl.when(~rare).then("region"))
    found, columns = of_columns(blank, whole)
    assert columns["region"].known == columns["region"].touched == whole.filter(rare).height > 3
    assert columns["region"].alone == 0
    assert columns["region"].known_by == "the first letters of district"
    assert found.undone()["region"].to_list() == region
    _, columns = of_columns(blank.drop("district"), whole.drop("district"))
    assert columns["region"].known == 0


@pytest.mark.parametrize("seed", range(2))
def test_dates_of_visits_are_told_by_the_first_and_the_days_between(seed):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(100), 4)
    since = np.where(np.arange(400) % 4, rng.integers(3, 90, 400), 0)
    first = rng.integers(15_000, 18_000, 100)
    day = first[person] + since.reshape(100, 4).cumsum(axis=1).ravel()
    whole = pl.DataFrame(
        {"person": person, "nr": np.tile(np.arange(4), 100), "day": day, "since": since, "entry": first[person]}
    )
    scenario = Scenario(person="person", keys=["nr"])
    blank = whole.with_columns(day=pl.when(pl.col("nr") == 0).then("day")).drop("entry")
    shifted = whole.with_columns(day=pl.col("day") + pl.Series(rng.integers(-90, 90, 100)[person])).drop("since")
    for released in (blank, shifted):
        own = whole.select(released.columns)
        found = recoverable_values(released, own, guess=False, scenario=scenario)
        (column,) = found.columns[0]
        assert column.known == column.touched >= 290
        alone = released.drop(["since", "entry"], strict=False)
        found = recoverable_values(alone, own.select(alone.columns), guess=False, scenario=scenario)
        assert found.columns[0][0].counted == 0
