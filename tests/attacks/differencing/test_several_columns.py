"""Columns that lead from one release to another only together: who is linked, and that other people are not."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.attacks.differencing import release_ledger, several_columns
from sdckit.attacks.differencing.several_columns import link_by_several, shared_codes
from sdckit.data.ledger.digests import Levels
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.numerics.array_types import Ints
from sdckit.workflow.verdicts import judge_differencing, judge_linked

NAMES = ("region", "birth", "sex", "job", "children", "school", "band", "month")


def people(rng: np.random.Generator, n: int) -> list[Ints]:
    """A sample of one population, whose columns depend on each other."""
    birth, school = (65 * rng.beta(2, 2, n)).astype(np.int64), rng.integers(0, 5, n)
    children = rng.poisson(np.where(birth > 50, 0.2, 1.6))
    job = np.where(birth < 10, 60, np.minimum(9 * school + rng.geometric(0.2, n), 59))
    columns = [rng.choice(16, n, p=np.arange(1, 17) / 136), birth, rng.integers(0, 2, n), job, children, school,
            np.minimum(children + rng.integers(0, 3, n), 7), rng.integers(0, 12, n)]  # fmt: skip
    return [column + 1 for column in columns]  # 0 is a missing value


def next_wave(rng: np.random.Generator, wave: list[Ints], changing: dict[int, float]) -> tuple[list[Ints], Ints]:
    """The same people in another order, some of whose values are new; and who they are."""
    n = len(wave[0])
    who, others = rng.permutation(n), people(rng, n)
    drawn = [rng.random(n) < changing.get(at, 0.0) for at in range(len(wave))]
    later = [np.where(hit, new, old)[who] for hit, new, old in zip(drawn, others, wave, strict=True)]
    return later, who


def frame(columns: list[Ints]) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(NAMES, columns, strict=True)))


def alone_in_both(here: list[Ints], there: list[Ints]) -> dict[int, int]:
    """Rows whose joint values one row of each file has, by counting."""
    files = [list(zip(*(column.tolist() for column in file), strict=True)) for file in (here, there)]
    times = [Counter(rows) for rows in files]
    at = [{row: place for place, row in enumerate(rows)} for rows in files]
    return {at[0][row]: at[1][row] for row in at[0] if times[0][row] == times[1][row] == 1}


@pytest.mark.parametrize("seed", range(6))
def test_people_alone_in_both_with_the_columns_are_linked_and_no_set_links_more(seed: int) -> None:
    """Of 250 people all sets of columns are tried by counting."""
    rng = np.random.default_rng(seed)
    here = people(rng, 250)
    there, who = next_wave(rng, here, {3: 0.2, 6: 0.4, 7: 1.0})
    found, sure = link_by_several(here, there)
    assert found is not None
    assert sure
    chosen = [[file[at] for at in found.columns] for file in (here, there)]
    assert dict(zip(found.here.tolist(), found.there.tolist(), strict=True)) == alone_in_both(*chosen)
    right = int((who[found.there] == found.here).sum())
    assert abs(right / len(found.here) - found.right) < 0.05
    most = 0
    for size in range(1, 9):
        for some in combinations(range(8), size):
            pairs = alone_in_both([here[at] for at in some], [there[at] for at in some])
            most = max(most, sum(who[j] == i for i, j in pairs.items()))
    assert right >= 0.95 * most


@pytest.mark.parametrize("n", [200, 3000])
def test_samples_of_other_people_of_one_population_are_never_linked(n: int) -> None:
    for seed in range(25):
        rng = np.random.default_rng([n, seed])
        here, there = people(rng, n), people(rng, n * (1 + seed % 3))
        if seed % 2:  # a later population: older, with more children
            there[1], there[4] = np.minimum(there[1] + 3, 64), there[4] + (rng.random(len(there[4])) < 0.2)
        assert link_by_several(here, there) == (None, True)


def test_numbers_given_anew_within_regions_link_nobody() -> None:
    """With the region they are one to one, but people so linked agree on nothing else."""
    rng = np.random.default_rng(4)
    files = [people(rng, 2000) for _ in range(2)]
    for file in files:
        number = np.zeros(2000, np.int64)
        for region in range(16):
            own = np.flatnonzero(file[0] == region)
            number[own] = np.arange(len(own))
        file.append(number)
    assert link_by_several(*files)[0] is None


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_most_links_are_right_and_their_share_is_known(share: float) -> None:
    rng = np.random.default_rng(8)
    here = people(rng, 6000)
    there, who = next_wave(rng, here, {3: 0.1, 4: 0.1, 6: 0.3, 7: 1.0})
    kept = rng.permutation(6000)[: int(share * 6000)]
    found, _ = link_by_several(here, [column[kept] for column in there])
    assert found is not None
    assert len(found.here) > 0.3 * len(kept)
    right = float((who[kept][found.there] == found.here).mean())
    assert right > 0.8
    assert abs(right - found.right) < 0.05


def test_whom_a_file_hides_a_value_of_is_linked_by_the_other_columns() -> None:
    """Counted: alone in both with all other columns that link, and hidden in one of the files."""
    rng = np.random.default_rng(9)
    wave = people(rng, 400)
    later, who = next_wave(rng, wave, {7: 1.0})
    here, there = ([file[at] + 1 for at in (0, 1, 2, 4, 7)] for file in (wave, later))
    here[1] = np.where(rng.random(400) < 0.3, 0, here[1])
    found, _ = link_by_several(here, there)
    assert found is not None
    assert 1 in found.columns
    whole, rest = (
        alone_in_both([here[at] for at in columns], [there[at] for at in columns])
        for columns in (found.columns, [at for at in found.columns if at != 1])
    )
    more = {i: j for i, j in rest.items() if here[1][i] == 0 and i not in whole and j not in whole.values()}
    linked = dict(zip(found.here.tolist(), found.there.tolist(), strict=True))
    assert linked == whole | more
    assert len(more) > 8
    assert np.mean([who[j] == i for i, j in linked.items()]) > 0.95


# Through the ledger: what is disclosed by the releases that several columns link.


def test_two_waves_are_judged_by_the_keys_of_both_and_a_wave_of_others_is_not() -> None:
    """Each wave keeps k = 3 on its two keys; anybody may link them by all that goes out."""
    rng = np.random.default_rng(2)
    wave = people(rng, 3000)
    later, who = next_wave(rng, wave, {4: 0.1, 7: 1.0})
    first, second, others = frame(wave), frame(later), frame(people(rng, 3000))
    hidden = pl.Series(rng.random(3000) < 0.05)
    second = second.with_columns(children=pl.when(hidden).then(None).otherwise("children"))
    found = sdc.differencing(
        second, earlier={"first": first}, keys=["region", "sex"], earlier_keys=["school", "job"], sensitive=["children"]
    )
    (entry,) = found.entries
    assert entry.searched
    assert not found.singly
    assert entry.right is not None
    assert entry.right > 0.95
    assert len(entry.linked_by) > 2
    assert entry.linked == found.linked > 1000
    keys = [later[0], later[2], wave[5][who], wave[3][who]]
    joint = pl.DataFrame({str(at): key for at, key in enumerate(keys)})
    of_all = joint.select(pl.len().over(joint.columns)).to_series()
    assert found.joint is not None
    reached = found.joint.frequency[found.joint.linked]
    assert (reached >= of_all.to_numpy()[found.joint.linked] * 0.99).mean() > 0.95
    (k,) = judge_linked(Thresholds(k=30), "", found)
    assert k.word == "exceeded"
    assert f"(linked by {', '.join(entry.linked_by)} together)" in k.sentence
    assert "make some of them coarser, or leave some out" in k.sentence
    assert found.given_back > 0.8 * hidden.sum()
    assert judge_differencing(0.0, "", found, {}).word == "exceeded"
    other = sdc.differencing(others, earlier={"first": first}, keys=["region", "sex"], earlier_keys=["school", "job"])
    assert (other.linked, other.linked_by, other.singly, other.entries[0].searched) == (0, {}, False, True)
    assert not judge_linked(Thresholds(k=30), "", other)
    assert "several columns together" not in judge_differencing(0.0, "", other, {}).sentence


def test_the_same_keys_in_both_waves_tell_no_more_than_one_of_them() -> None:
    """Who is linked to nobody may be in the other wave, too: groups do not shrink to the people linked."""
    rng = np.random.default_rng(3)
    wave = people(rng, 2000)
    later, _ = next_wave(rng, wave, {3: 0.2, 7: 1.0})
    found = sdc.differencing(frame(later), earlier=frame(wave), keys=["region", "sex"])
    alone = frame(later).select(pl.len().over(["region", "sex"])).to_series().to_numpy()
    assert found.joint is not None
    assert 500 < found.linked < 2000
    unchanged = found.joint.linked & (found.joint.frequency == alone)
    assert unchanged.sum() > 0.95 * found.linked


def test_a_column_in_ranges_in_one_release_links_with_exact_values_in_the_other() -> None:
    rng = np.random.default_rng(5)
    wave = people(rng, 2500)
    later, _ = next_wave(rng, wave, {7: 1.0})
    low = later[1] // 5 * 5
    second = frame(later).with_columns(birth=pl.format("{}-{}", pl.Series(low), pl.Series(low + 4)))
    found = sdc.differencing(second, earlier=frame(wave), keys=["region"])
    assert "birth" in found.entries[0].linked_by
    assert found.linked > 500
    codes = shared_codes(
        Levels("age", np.array([1, 2, 0], np.int32), ("31", "45")), Levels("age", np.array([1], np.int32), ("30-39",))
    )
    assert codes is not None
    assert (codes[0][0], codes[0][2]) == (1, 0)
    assert codes[0][1] not in (0, 1)
    words = Levels("age", np.array([1], np.int32), ("young",))
    assert shared_codes(Levels("age", np.array([1], np.int32), ("31",)), words) is None


@pytest.mark.parametrize(("width", "form"), [(5.0, "[{}, {})"), (5.0, "({}, {}]"), (0.1, "[{}, {})"), (0.5, "{}-{}")])
def test_ranges_of_numbers_with_decimals_that_share_their_ends_are_compared(width: float, form: str) -> None:
    """None is lost at an end: what an oracle puts into each range by its ends is what has its code."""
    rng = np.random.default_rng(6)
    values = np.round(rng.uniform(0.001, 10 * width - 0.001, 300), 3)
    at = np.floor(values / width) if form[0] == "[" else np.ceil(values / width) - 1
    if form == "{}-{}":
        ends = [f"{i * width}-{(i + 1) * width - 0.001:.3f}" for i in range(10)]
    else:
        ends = [form.format(round(i * width, 3), round((i + 1) * width, 3)) for i in range(10)]
    exact, codes = np.unique(values, return_inverse=True)
    number = codes.reshape(-1).astype(np.int32) + 1
    fine = Levels("x", number, tuple(str(value) for value in exact.tolist()))
    coarse = Levels("x", np.arange(1, 11, dtype=np.int32), tuple(ends))
    for pair in ((fine, coarse), (coarse, fine)):
        compared = shared_codes(*pair)
        assert compared is not None
        assert compared[pair[0] is coarse].tolist() == (at + 1).astype(int).tolist()


def test_columns_that_cannot_be_compared_lists_and_a_handful_of_people_are_not_searched() -> None:
    """Each value has another name in the second wave: nobody knows whether the columns link, and that is said."""
    rng = np.random.default_rng(11)
    wave = people(rng, 600)
    first, second = frame(wave), frame(next_wave(rng, wave, {7: 1.0})[0])
    named = second.with_columns(pl.format("no {}", pl.col("birth", "job", "children", "band", "month").name.keep()))
    found = sdc.differencing(named, earlier=first, keys=["region"])
    assert (found.linked, found.singly, found.entries[0].searched) == (0, True, False)
    lists = [file.with_columns(month=pl.concat_list("month")) for file in (first, second)]
    assert not sdc.differencing(lists[1], earlier=lists[0], keys=["region"]).entries[0].searched
    anew = [
        file.with_columns(home=pl.Series(rng.permutation(600) // 3 + at)) for at, file in ((0, first), (900, second))
    ]
    assert sdc.differencing(anew[1], earlier=anew[0], keys=["region"]).entries[0].searched
    assert not sdc.differencing(second, earlier=first.head(20), keys=["region"]).entries[0].searched


def test_of_a_ledger_keys_and_sensitive_variables_are_tried_and_the_rest_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    wave = people(rng, 2000)
    later, _ = next_wave(rng, wave, {7: 1.0})
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    few, many = ["sex", "school"], ["region", "birth", "sex", "job", "school"]
    ledger = ledger.add(frame(wave), name="many", keys=many).add(frame(wave), name="few", keys=few)
    found = sdc.differencing(frame(later), ledger=ledger, keys=many)
    assert {entry.name: entry.linked_by != () for entry in found.entries} == {"many": True, "few": False}
    assert found.singly
    assert not any(entry.searched for entry in found.entries)


def test_what_is_too_large_is_not_searched_and_a_plan_is(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    wave = people(rng, 600)
    first, second = frame(wave), frame(next_wave(rng, wave, {7: 1.0})[0])
    assert not sdc.differencing(second, earlier=first, keys=["region"]).singly
    assert not sdc.differencing(second.lazy(), earlier=first, keys=["region"]).singly
    assert not sdc.differencing(second, earlier=first.lazy(), keys=["region"]).singly
    monkeypatch.setattr(release_ledger, "MOST_SEARCHED", 1000)
    assert sdc.differencing(second, earlier=first, keys=["region"]).singly


# Households, by what all of their members are.


def homes_of_waves(rng: np.random.Generator, n: int, *, changed: float = 0.1) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two waves of n households under new numbers and in other orders; ages are in wider ranges in the second."""
    size = rng.choice([1, 2, 3, 4, 5], n, p=[0.2, 0.3, 0.25, 0.15, 0.1])
    home, m = np.repeat(np.arange(n), size), int(size.sum())
    age, status = rng.integers(0, 6, m), rng.integers(0, 4, m)
    first = pl.DataFrame(
        {
            "person": np.arange(m),
            "home": home,
            "region": rng.integers(0, 3, n)[home],
            "sex": rng.integers(0, 2, m),
            "age": pl.Series([f"{15 * at}-{15 * at + 14}" for at in age]),
            "educ": rng.integers(0, 3, m),
            "status": status,
        }
    )
    later = np.where(rng.random(m) < changed, rng.integers(0, 4, m), status)
    second = first.with_columns(
        home=rng.permutation(n)[home],
        age=pl.Series([f"{30 * at}-{30 * at + 29}" for at in (age // 2).tolist()]),
        status=pl.Series(later),
    )
    return first.sample(fraction=1, shuffle=True, seed=1), second.sample(fraction=1, shuffle=True, seed=2)


def wide(first: pl.DataFrame) -> pl.DataFrame:
    """The first wave with its ages in the ranges of the second."""
    low = first["age"].str.extract(r"^(\d+)").cast(pl.Int64) // 30 * 30
    return first.with_columns(age=pl.format("{}-{}", low, low + 29))


HOME = sdc.Scenario(keys=["region", "sex", "age"], household="home", sensitive=["status"])


def whole_homes(file: pl.DataFrame, columns: tuple[str, ...]) -> dict[tuple[tuple[int, ...], ...], list[set[int]]]:
    """The people of the households with the same members, by counting."""
    alike: dict[tuple[tuple[int, ...], ...], list[set[int]]] = {}
    for _, home in file.group_by("home"):
        alike.setdefault(tuple(sorted(home.select(columns).rows())), []).append({*home["person"].to_list()})
    return alike


@pytest.mark.parametrize("seed", range(4))
def test_households_alone_in_both_with_what_their_members_are_are_linked_and_hardly_a_person_is(seed: int) -> None:
    """The attack: who has both files finds most households again, though every person is like many others."""
    first, second = homes_of_waves(np.random.default_rng(seed), 240)
    here, there = (file.drop("person") for file in (second, first))
    bare = sdc.differencing(here, earlier=there, scenario=HOME.changed(household=None))
    found = sdc.differencing(here, earlier=there, scenario=HOME)
    (entry,) = found.entries
    assert entry.together == " of all members of a household together"
    alike = [whole_homes(file, entry.linked_by) for file in (second, wide(first))]
    pairs = [
        (homes[0], alike[1][members][0])
        for members, homes in alike[0].items()
        if len(homes) == len(alike[1].get(members, ())) == 1
    ]
    claimed = sum(len(here) for here, _ in pairs)
    assert found.linked >= claimed > bare.linked + len(first) // 3
    right = sum(len(here) for here, there in pairs if here == there) / claimed
    assert entry.right is not None
    assert abs(entry.right - right) < 0.08


def test_each_member_is_linked_to_the_one_who_is_alike() -> None:
    rng = np.random.default_rng(7)
    first, second = homes_of_waves(rng, 300, changed=0.0)
    columns = ["region", "sex", "age", "educ", "status"]
    here, there = (
        [np.unique(file[name].to_numpy(), return_inverse=True)[1] + 1 for name in columns if name != "age"]
        for file in (second, first)
    )
    homes = [np.unique(file["home"].to_numpy(), return_inverse=True)[1] for file in (second, first)]
    found, sure = several_columns.link_households(here, there, (homes[0], homes[1]))
    assert found is not None
    assert sure
    for a, b in zip(here, there, strict=True):
        assert (a[found.here] == b[found.there]).all()
    person = [file["person"].to_numpy() for file in (second, first)]
    assert (person[0][found.here] == person[1][found.there]).mean() > 0.9
    assert len({*found.here.tolist()}) == len({*found.there.tolist()}) == len(found.here) > 500


def test_a_household_of_which_a_file_hides_a_value_is_linked_by_the_other_columns() -> None:
    rng = np.random.default_rng(8)
    first, second = homes_of_waves(rng, 300, changed=0.0)
    gone = pl.Series(rng.random(len(second)) < 0.02)
    hidden = second.with_columns(educ=pl.when(gone).then(None).otherwise("educ"))
    scenario = HOME.changed(sensitive=["educ"])
    blank, whole = (
        sdc.differencing(file.drop("person"), earlier=first.drop("person"), scenario=scenario)
        for file in (hidden, second)
    )
    assert "educ" in blank.entries[0].linked_by
    assert 0.9 * whole.linked < blank.linked
    assert hidden["educ"].null_count() >= blank.given_back > 0.5 * hidden["educ"].null_count() > 2
    verdict = judge_differencing(0.001, "", blank, {})
    assert verdict.word == "exceeded"
    assert "leave out the number of the household" in verdict.remedy
    assert f"of {blank.given_back:,} records a value is missing that an earlier release shows" in verdict.remedy
    apart = sdc.differencing(hidden.drop("person", "home"), earlier=first.drop("person"), scenario=scenario)
    assert (apart.linked, apart.people) == (0, 0)


def test_households_of_other_people_are_never_linked() -> None:
    """Samples of one population, of one size and of others: households alike by chance are alike in one file, too."""
    for seed in range(15):
        first, _ = homes_of_waves(np.random.default_rng([1, seed]), 150 * (1 + seed % 3))
        _, second = homes_of_waves(np.random.default_rng([2, seed]), 300)
        found = sdc.differencing(second.drop("person"), earlier=first.drop("person"), scenario=HOME)
        assert (found.linked, found.linked_by) == (0, {})


def test_a_ledger_links_households_as_the_file_does_and_says_where_it_does_not_know_them(tmp_path: Path) -> None:
    waves = homes_of_waves(np.random.default_rng(3), 240)
    first, second = wide(waves[0]).drop("person"), waves[1].drop("person")
    keys = ["region", "sex", "age", "educ"]
    scenario = HOME.changed(intruders={"default": keys}, thresholds=Thresholds(k=60, differencing=0.5))
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    known = ledger.add(first, name="known", scenario=scenario)
    found = sdc.differencing(second, ledger=known, scenario=scenario, first=True)
    file = sdc.differencing(second, earlier=first.select("home", *keys, "status"), scenario=scenario, first=True)
    assert found.linked == file.linked > 200
    assert (
        found.linked_words
        == f"known (linked by {', '.join(found.linked_by['known'])} of all members of a household together)"
    )
    (k,) = judge_linked(scenario.thresholds, "", found)
    assert k.word == "exceeded"
    bare = sdc.ReleaseLedger.create(tmp_path / "other", key=tmp_path / "other key", survey="Survey")
    bare = bare.add(first, name="bare", keys=keys, sensitive=["status"])
    unknown = sdc.differencing(second, ledger=bare, scenario=scenario)
    assert (unknown.without_homes, unknown.linked) == (("bare",), 0)
    verdict = judge_differencing(0.5, "", unknown, {})
    assert verdict.word == "not judged"
    assert "who lives together in bare" in verdict.sentence
    none = ledger.without(["known"]).add(first.drop("home"), name="none", scenario=scenario).without(["known"])
    assert sdc.differencing(second, ledger=none, scenario=scenario).without_homes == ()
