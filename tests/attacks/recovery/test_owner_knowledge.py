"""What is known of the columns is counted beyond what the release alone tells, and put back as in the original."""

from __future__ import annotations

import hashlib
import zlib
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Recipe, Scenario, check, recoverable_values, top_bottom_code
from sdckit.attacks.recovery.derived_columns import counted_rows
from sdckit.attacks.recovery.reconstruct import Known
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.attacks.recovery.touched_cells import read_columns
from sdckit.data.frames import open_frame

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
    found = recoverable_values(make(released), make(WHOLE.select(column)), guess=False, aligned=True)
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


def test_districts_beside_groups_of_regions_tell_which_they_are():
    whole = pl.DataFrame({"district": np.random.default_rng(2).integers(0, 24, 900)})
    whole = whole.with_columns(region=pl.format("R{}", pl.col("district") // 3))
    grouped = whole.with_columns(region=pl.when(pl.col("district") < 12).then(pl.lit("n")).otherwise(pl.lit("s")))
    _, columns = of_columns(grouped, whole)
    assert (columns["region"].known, columns["region"].known_by) == (900, "district")
    assert of_columns(grouped.with_columns(pl.col("district").shuffle(seed=1)), whole)[1] == {}


@pytest.mark.parametrize("hidden", ["in groups", "moved"])
def test_two_columns_tell_what_neither_does(hidden):
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 8, (2, 1_600))
    region = (first + second) % 8
    whole = pl.DataFrame({"region": [f"R{code}" for code in region], "first": first, "second": second})
    out = np.where(region < 4, "n", "s") if hidden == "in groups" else rng.permutation(whole["region"])
    _, columns = of_columns(whole.with_columns(region=pl.Series(out)), whole)
    assert columns["region"].known == columns["region"].touched > 1_000
    assert columns["region"].known_by == "first with second"


@pytest.mark.parametrize("told", [True, False])
def test_a_flag_of_what_was_changed_tells_which_of_two_values_it_was(told):
    rng = np.random.default_rng(5)
    whole = pl.DataFrame({"sex": rng.choice(["f", "m"], 1_000)})
    changed = pl.Series(rng.random(1_000) < 0.1)
    other = pl.when(pl.col("sex") == "f").then(pl.lit("m")).otherwise(pl.lit("f"))
    released = whole.with_columns(pl.when(changed).then(other).otherwise("sex").alias("sex"))
    flag = changed.cast(int).alias("flag") if told else changed.cast(int).shuffle(seed=1).alias("flag")
    ((column,),) = recoverable_values(released.with_columns(flag), whole, aligned=True, guess=False).columns
    assert column.known == (column.touched if told else 0)


def test_two_columns_do_not_tell_what_is_hers_by_the_many_rows_of_a_person():
    rng = np.random.default_rng(4)
    person = rng.permutation(1_600) // 32
    whole = pl.DataFrame({name: rng.integers(0, 8, 50)[person] for name in ("region", "first", "second")})
    whole = whole.with_columns(pl.format("R{}", "region"), person=person)
    grouped = whole.with_columns(region=pl.when(pl.col("region") < "R4").then(pl.lit("n")).otherwise(pl.lit("s")))
    scenario = Scenario(person="person", keys=["region"], aligned=True)
    assert recoverable_values(grouped, whole, scenario=scenario, guess=False).columns == ((),)


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


# What a reader concludes from the release and what everybody knows of such files; a twin lacks what tells it.


def couples(seed=1, same=0.015):
    """Households of a head, most with a spouse, who has the other sex but for few, and some with a child of the head.

    `mother`: the number of her row.
    """
    rng, rows = np.random.default_rng(seed), []
    for home in range(700):
        sex = int(rng.integers(2))
        spouse, child = rng.random(2) < (0.7, 0.4)
        rows.append((home, "head", "mf"[sex], None))
        mother = len(rows) if sex else None
        if spouse:
            other = sex if rng.random() < same else 1 - sex
            rows.append((home, "spouse", "mf"[other], None))
            mother = mother or (len(rows) if other else None)
        if child:
            rows.append((home, "child", "mf"[int(rng.integers(2))], mother))
    return pl.DataFrame(rows, schema=["home", "relation", "sex", "mother"], orient="row")


def known_of(original, released, column, **roles):
    found = recoverable_values(released, original, guess=False, **roles)
    (only,) = (each for each in found.columns[0] if each.column == column)
    return only


@pytest.mark.parametrize("share", [0.2, 0.04])
def test_the_sex_of_a_spouse_is_told_by_that_of_the_head(share):
    whole = couples().drop("mother")
    drawn = pl.Series(np.random.default_rng(2).random(whole.height) < share)
    hidden = whole.with_columns(sex=pl.when((pl.col("relation") == "spouse") & drawn).then(None).otherwise("sex"))
    head = hidden.filter(pl.col("relation") == "head").select("home", head="sex")
    beside = whole.with_columns(shown=hidden["sex"]).join(head, on="home", how="left", maintain_order="left")
    right = beside.filter(pl.col("shown").is_null() & (pl.col("sex") != pl.col("head"))).height
    sex = known_of(whole, hidden, "sex", household="home")
    assert (sex.alone, sex.known) == (0, right)
    assert right > 0.9 * sex.touched > 10
    assert "leave out relation" in sex.known_remedies[0]
    unrelated = couples(same=0.5).drop("mother")
    blank = unrelated.with_columns(sex=pl.when((pl.col("relation") == "spouse") & drawn).then(None).otherwise("sex"))
    assert known_of(unrelated, blank, "sex", household="home").known == 0


def test_only_women_are_named_as_mothers():
    whole = couples().drop("relation")
    named = pl.Series(np.isin(np.arange(1, whole.height + 1), whole["mother"].drop_nulls().to_numpy()))
    drawn = pl.Series(np.random.default_rng(3).random(whole.height) < 0.2)
    hidden = whole.with_columns(sex=pl.when(drawn).then(None).otherwise("sex")).drop("home")
    sex = known_of(whole.drop("home"), hidden, "sex")
    assert sex.known == (named & drawn).sum() > 30
    assert sex.known_by == "whether it is the row number mother of another one"
    anybody = pl.col("mother") * 7 % whole.height + 1
    files = (frame.with_columns(mother=anybody) for frame in (whole.drop("home"), hidden))
    assert known_of(*files, "sex").known == 0


def test_values_that_are_all_alike_are_told_where_a_reader_knows_the_rule():
    """What is usual among the values taken out is nothing that a reader sees."""
    drawn = pl.Series(np.random.default_rng(3).random(couples().height) < 0.4)
    whole = couples().drop("home", "relation")
    named = pl.Series(np.isin(np.arange(1, whole.height + 1), whole["mother"].drop_nulls().to_numpy()))
    women = drawn & (whole["sex"] == "f")
    for taken, right in ((women & named, named), (women, named), (drawn & (whole["sex"] == "m"), ~drawn & drawn)):
        hidden = whole.with_columns(sex=pl.when(taken).then(None).otherwise("sex"))
        sex = known_of(whole, hidden, "sex")
        assert (sex.touched, sex.known) == (taken.sum(), (taken & right).sum())
    whole = couples().drop("mother")
    for relation, told in (("spouse", 0.97), ("child", 0)):
        men = (whole["relation"] == relation) & (whole["sex"] == "m")
        hidden = whole.with_columns(sex=pl.when(men).then(None).otherwise("sex"))
        sex = known_of(whole, hidden, "sex", household="home")
        assert told * sex.touched <= sex.known <= bool(told) * sex.touched


@pytest.mark.parametrize("of_household", [True, False])
def test_a_top_code_with_one_value_beyond_is_told_by_rows_counted(of_household):
    rng = np.random.default_rng(6)
    size = rng.integers(1, 7, 600)
    home = np.repeat(np.arange(600), size)
    income = rng.normal(10, 0.6, 600).round(6)
    whole = pl.DataFrame(
        {"size": size[home], "income": income[home if of_household else rng.integers(0, 600, len(home))]}
    )
    found = known_of(whole, whole.with_columns(size=pl.col("size").clip(upper_bound=5)), "size")
    assert found.known == of_household * found.touched
    assert found.touched == (size[home] == 6).sum() > 500


@pytest.mark.parametrize("how", ["suppressed", "top-coded"])
def test_values_that_are_all_alike_are_not_told_by_what_goes_with_them(how):
    """A constant, what is missing, rows of the same kind side by side, and numbers that go with a category."""
    rng = np.random.default_rng(7)
    level = np.sort(rng.choice([0, 1, 2, 3], 900, p=[0.4, 0.4, 0.1, 0.1]))
    whole = pl.DataFrame({"level": level, "same": [1] * 900, "near": level * 3 + rng.integers(-2, 3, 900)})
    shown = pl.col("level").clip(upper_bound=2) if how == "top-coded" else pl.when(pl.col("level") != 1).then("level")
    for row, expected in ((whole["level"], how == "suppressed"), (whole["level"].shuffle(1), how == "suppressed")):
        whole = whole.with_columns(level=row)
        found = known_of(whole, whole.with_columns(level=shown), "level")
        # of the category that no record shows the list of categories tells
        assert (found.known, found.known_by) == ((found.touched, found.known_by) if expected else (0, ""))
        assert not expected or found.known_by == "level is missing where it is the category that no record shows"


@pytest.mark.parametrize("how", ["sha1", "md5", "sha256", "crc32"])
@pytest.mark.parametrize("secret", ["", "s3cret"])
def test_a_digest_without_a_secret_tells_what_it_was_made_of(how, secret):
    """By trying all dates; one with a secret tells nothing, nor does one of something that nobody can try."""
    rng = np.random.default_rng(4)
    born = pl.Series(rng.integers(-14_000, 15_000, 400)).cast(pl.Date)
    whole = pl.DataFrame(
        {"born": born, "sex": rng.choice(["f", "m"], 400), "name": [f"n{i * 7919}" for i in range(400)]}
    )

    def digest(text: str) -> str:
        data = (text + secret).encode()
        return f"{zlib.crc32(data):08x}" if how == "crc32" else hashlib.new(how, data).hexdigest().upper()

    for by in ("sex", "name"):
        texts = whole.select(pl.concat_str(by, pl.col("born").dt.to_string("%Y-%m-%d"), separator="|")).to_series()
        files = whole.with_columns(key=pl.Series([digest(text) for text in texts])).drop("name")
        decades = files.with_columns(born=pl.col("born").dt.year() // 10 * 10)
        told = recoverable_values(decades, files if by == "sex" else files.with_columns(whole["name"]), guess=False)
        known = {column.column: column.known for column in told.columns[0]}.get("born", 0)
        assert known == (400 if by == "sex" and not secret else 0)
        assert not known or "of sex, born in key" in told.columns[0][0].known_by
        assert not known or told.columns[0][0].known_remedies[0].startswith("leave out key")


ILL = np.random.default_rng(9).choice(["none", "flu", "asthma", "rare"], 1_000, p=[0.5, 0.3, 0.19, 0.01])


@pytest.mark.parametrize(
    "values",
    [ILL, ILL == "rare", (ILL == "rare") * 1, np.where(ILL == "rare", "9", "1")],
    ids=["text", "bool", "0", "9"],
)
@pytest.mark.parametrize("others", [0, 8])
def test_a_category_that_no_record_shows_is_what_is_missing(values, others):
    """But not where other values are missing as well."""
    whole = pl.DataFrame({"ill": values, "other": np.arange(1_000) % 7})
    gone = (ILL == "rare") | np.isin(np.arange(1_000), np.flatnonzero(ILL == "none")[:others])
    hidden = whole.with_columns(ill=pl.when(pl.Series(gone)).then(None).otherwise("ill"))
    ill = known_of(whole, hidden, "ill")
    assert ill.touched == (ILL == "rare").sum() + others
    assert ill.known == (0 if others else ill.touched)
    assert others or ill.known_remedies[0].startswith("put categories of ill together")


@pytest.mark.parametrize(("levels", "known"), [("abc", 0), ("aac", 1)])
def test_a_category_of_one_record_is_what_is_missing_where_there_are_two(levels, known):
    whole = pl.DataFrame({"ill": [*levels[:2] * 200, "c"]})
    assert known_of(whole, whole.with_columns(ill=pl.when(pl.col("ill") < "c").then("ill")), "ill").known == known


@pytest.mark.parametrize("banded", [True, False], ids=["bands", "ages"])
@pytest.mark.parametrize(("man", "others"), [(False, 0), (False, 8), (True, 0), (True, 60)])
def test_a_combination_that_no_record_shows_is_what_is_missing(banded, man, others):
    """Women of 80 and more in two areas that lost all keys, and one man in a third, unless others lost them as well."""
    area, female, age = np.random.default_rng(3).integers(0, [5, 2, 100], (1_200, 3)).T
    men = (female == 0) & (age >= 80) & (area == 2)
    kept = ~men | (np.cumsum(men) == 1) if man else np.ones(1_200, bool)
    ages = pl.DataFrame({"area": area, "sex": np.where(female, "f", "m"), "age": age}).filter(kept)
    bands = ages.with_columns(age=pl.when(pl.col("age") >= 80).then(pl.lit("80+")).otherwise(pl.lit("0-79")))
    women = (female == 1) & (age >= 80) & (area < 2)
    lost = pl.Series((women | (men & man) | (np.arange(1_200) % 150 < others // 8))[kept])
    hidden = bands.with_columns(pl.when(lost).then(None).otherwise(pl.col(name)).alias(name) for name in bands.columns)
    area, sex, age = (known_of(bands if banded else ages, hidden, name) for name in bands.columns)
    assert (area.known, sex.known) == (0, 0 if others else women.sum())
    assert (age.known if banded else age.narrowed) == (0 if others else women.sum() + man)
    assert others or sex.known_remedies[0].startswith("put categories of area and sex and age together")


def test_a_number_that_few_have_is_in_no_list_of_categories():
    children = np.append(np.random.default_rng(1).integers(0, 4, 500), 7)
    whole = pl.DataFrame({"children": children})
    hidden = whole.with_columns(children=pl.when(pl.col("children") < 7).then("children"))
    assert known_of(whole, hidden, "children").known == 0


@pytest.mark.parametrize("of_them", [True, False])
def test_an_item_is_told_by_the_mean_of_those_answered_and_how_many_they_are(of_them):
    rng = np.random.default_rng(5)
    items, skipped, answers = [f"q{i}" for i in range(5)], rng.random((5, 900)) < 0.06, rng.integers(1, 6, (5, 900))
    whole = pl.DataFrame(dict(zip(items, answers, strict=True)) | {"stratum": rng.integers(1, 6, 900)})
    whole = whole.with_columns(
        pl.when(pl.Series(~own)).then(name).alias(name) for name, own in zip(items, skipped, strict=True)
    )
    mean = pl.mean_horizontal(items).round(2)
    whole = whole.with_columns(
        mood=mean if of_them else mean.shuffle(seed=1),
        answered=pl.sum_horizontal(pl.col(items).is_not_null()).cast(pl.Int64),
    )
    hidden = whole.with_columns(q3=pl.when(pl.Series(rng.random(900) < 0.1)).then(None).otherwise("q3"))
    item = known_of(whole, hidden, "q3")
    assert item.touched > 60
    assert item.known == (item.touched if of_them else 0)
    assert not of_them or "answered" in item.known_remedies[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", ["top-coded", "suppressed", "left out"])
def test_the_income_of_a_household_counts_its_members(how):
    rng = np.random.default_rng(6)
    size = rng.choice([1, 2, 3, 4, 5, 6], 600)
    home = np.repeat(np.arange(600), size)
    whole = pl.DataFrame(
        {
            "size": size[home],
            "income": np.exp(rng.normal(10, 0.6, 600)).round(2)[home],
            "sex": rng.choice(["f", "m"], len(home)),
        }
    )
    large = pl.col("size") > 4
    made = Recipe([{"method": "drop_identifiers", "columns": ["size"]}]) if how == "left out" else None
    hidden = (
        whole.drop("size")
        if made
        else whole.with_columns(size=pl.when(large).then(None if how == "suppressed" else 4).otherwise("size"))
    )
    for income, holds in ((pl.col("income"), False), (pl.lit(1.0) * pl.int_range(whole.height), True)):
        scenario = Scenario(keys=["size", "sex"], insensitive=["income"], thresholds={"recoverable": 0.1}, aligned=True)
        files = [frame.with_columns(income=income) for frame in (whole, hidden)]
        (verdict,) = check(*files, scenario=scenario, recipe=made).verdicts[:1]
        assert verdict.holds is (None if holds and made else holds)
        assert holds or "the rows with the same income counted" in verdict.because


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("left_out", [True, False])
def test_coordinates_tell_the_district_they_lie_in(left_out):
    rng = np.random.default_rng(8)
    centres = np.stack(np.meshgrid(np.arange(4), np.arange(4)), -1).reshape(-1, 2) * 10
    district = rng.integers(0, 16, 1_500)
    x, y = (centres[district] + rng.uniform(-4.5, 4.5, (1_500, 2))).round(3).T
    whole = pl.DataFrame(
        {"district": [f"D{code}" for code in district], "sex": rng.choice(["f", "m"], 1_500), "x": x, "y": y}
    )
    made = Recipe([{"method": "drop_identifiers", "columns": ["district"]}]) if left_out else None
    hidden = (
        whole.drop("district")
        if left_out
        else whole.with_columns(district=pl.when(pl.Series(rng.random(1_500) < 0.1)).then(None).otherwise("district"))
    )
    for move, holds in ((pl.col("y"), False), (pl.col("y").shuffle(seed=1), True)):
        scenario = Scenario(
            keys=["district", "sex"], insensitive=["x", "y"], thresholds={"recoverable": 0.1}, aligned=True
        )
        (verdict,) = check(
            *(frame.with_columns(y=move) for frame in (whole, hidden)), scenario=scenario, recipe=made
        ).verdicts[:1]
        assert verdict.holds is (None if holds and left_out else holds)
        assert holds or "the nearest record by x and y" in verdict.because


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("of_homes", "left_out"), [(True, True), (False, True), (False, False)])
def test_ranges_of_weights_tell_the_region_of_which_far_more_were_drawn(of_homes: bool, left_out: bool) -> None:
    """No weight is one region's code, the weights of most regions overlap, and a third of the records is told."""
    rng = np.random.default_rng(8)
    homes, drawn = 1_500, np.array([4.0, 30, 31, 32, 33])
    region = rng.choice(5, homes, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    weight = (drawn[region] * rng.uniform(0.7, 1.3, homes)).round(4)
    home = np.repeat(np.arange(homes), rng.integers(1, 5, homes)) if of_homes else np.arange(homes)
    sex = rng.choice(["f", "m"], len(home))
    whole = pl.DataFrame({"region": region[home], "sex": sex, "weight": weight[home]})
    step = {"method": "drop_identifiers", "columns": ["region"]}
    made = Recipe([step]) if left_out else None
    some = pl.Series(rng.random(len(home)) < 0.1)
    hidden = whole.with_columns(region=pl.when(some).then(None).otherwise("region"))
    released = whole.drop("region") if left_out else hidden
    others = pl.Series("weight", rng.permutation(weight)[home])  # which are not those of the regions
    for own, holds in ((whole["weight"], False), (others, True)):
        scenario = Scenario(
            keys=["region", "sex"], weight="weight", household="none", thresholds={"recoverable": 0.1}, aligned=True
        )
        files = [frame.with_columns(own) for frame in (whole, released)]
        (verdict,) = check(*files, scenario=scenario, recipe=made).verdicts[:1]
        assert verdict.holds is (None if holds and left_out else holds)
        assert holds or "ranges of weight" in verdict.because


def test_rows_of_no_record_are_not_counted():
    empty = read_columns(open_frame(pl.DataFrame({"income": []}, schema={"income": pl.Int64})), ["income"])
    assert list(counted_rows(empty)) == []


COSTS = pl.DataFrame({"cost": np.random.default_rng(5).lognormal(5, 1, 1_000).round(2)})


@pytest.mark.parametrize("to", ["limit", "mean", 9_999.0])
def test_the_order_by_a_column_cut_off_tells_nothing_of_what_lies_beyond(to):
    """All beyond the limit stand there as the rows do: some of their values were counted as told, by chance."""
    coded = top_bottom_code(COSTS, column="cost", top=sorted(COSTS["cost"])[-41], to=to).data
    result = recoverable_values(coded, COSTS, aligned=True)
    (column,) = result.columns[0]
    assert (column.touched, column.known, column.told_by, result.advice) == (40, 0, "", ())


def test_the_order_by_a_column_that_keeps_it_tells_the_values_and_no_new_ids_would_help():
    moved = COSTS.with_columns(pl.col("cost").rank("ordinal") * 1.7 + np.random.default_rng(6).uniform(0, 1, 1_000))
    result = recoverable_values(moved, COSTS, aligned=True)
    assert result.columns[0][0].known == 1_000
    (words,) = result.advice
    assert words == "change cost more, or leave it out: its values stand in the order of the original ones"


MOVED = np.random.default_rng(8).integers(0, 365, 1_500)


@pytest.mark.parametrize(
    ("by", "known"),
    [(17, True), (-400, True), (np.random.default_rng(9).integers(-40, 41, 1_500), False)],
    ids=["later", "earlier", "by another number for each"],
)
@pytest.mark.parametrize("dates", [True, False])
def test_days_that_were_moved_alike_are_told_by_whoever_knows_one(by, known: bool, dates: bool) -> None:
    """All admissions were moved by 17 days: 0 % of the dates counted as told, 100 % of dates that differ all."""
    frame = pl.DataFrame({"day": 19_000 + MOVED, "moved": 19_000 + MOVED + by, "ward": MOVED % 7})
    if dates:
        frame = frame.with_columns(pl.col("day", "moved").cast(pl.Date))
    release = frame.select("ward", day="moved")
    result = recoverable_values(release, frame.select("ward", "day"), aligned=True)
    (column,) = result.columns[0]
    assert column.known == (1_500 if known else 0)
    if known:
        assert result.advice == (
            "change day more, by other amounts from person to person, or leave it out: one rule undoes it for all",
        )


def test_other_codes_for_a_column_are_no_move() -> None:
    """Which number stands for which municipality is no secret that anybody was promised, nor of few values at all."""
    codes = np.random.default_rng(8).permutation(365)
    for moved in (codes[MOVED], MOVED % 9 + 100):
        original = pl.DataFrame({"place": MOVED if moved.max() > 200 else MOVED % 9})
        result = recoverable_values(pl.DataFrame({"place": moved}), original, aligned=True)
        assert not any(column.known for column in result.columns[0])
