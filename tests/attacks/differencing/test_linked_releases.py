"""Releases that a column links, and one variable in several codings: what is told is what a join of the files tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import possible, together
from sdckit.attacks.differencing.linked_releases import coding_of
from sdckit.attacks.differencing.release_ledger import open_release, sketch_release
from sdckit.data.ledger.digests import Levels, Sketch
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.verdicts import judge_differencing, judge_linked

JOBS = [f"job {one}" for one in range(12)]
CODES = {job: 101 + 7 * at for at, job in enumerate(JOBS)}
KEPT = sdc.Scenario(keys=["region"], identifiers=["id"])  # the id does not go out
GROUPS = {job: f"branch {at // 3}" for at, job in enumerate(JOBS)}


def survey(n: int = 900, seed: int = 1) -> pl.DataFrame:
    """People with region and age in two codings each, a job and an exact income that nobody shares."""
    rng = np.random.default_rng(seed)
    region, age, job = (
        rng.integers(0, 20, n),
        15 + rng.exponential(16, n).astype(int) % 60,
        rng.integers(0, len(JOBS), n),
    )
    return pl.DataFrame({
        "id": rng.permutation(n) + 5000, "region": region, "part": region // 5, "age": age, "band": age // 30,
        "job": [JOBS[one] for one in job], "pay": rng.permutation(10 * n)[:n] + 0.5,
    })  # fmt: skip


def coded(data: pl.DataFrame, how: str) -> pl.DataFrame:
    """The job in another coding, under its own name or another one."""
    codings = {
        "names": pl.col("job"), "codes": pl.col("job").replace_strict(CODES),
        "codes as text": pl.format("{}.", pl.col("job").replace_strict(CODES)),
        "groups": pl.col("job").replace_strict(GROUPS), "renamed": pl.col("job").alias("work"),
        "renamed codes": pl.col("job").replace_strict(CODES).alias("work"),
        "renamed groups": pl.col("job").replace_strict(GROUPS).alias("work"),
    }  # fmt: skip
    return data.drop("job").with_columns(data.select(codings[how]).to_series())


def ledger_in(folder: Path) -> sdc.ReleaseLedger:
    return sdc.ReleaseLedger.create(folder / "ledger", key=folder / "ledger.key", survey="Survey")


def joined(first: pl.DataFrame, second: pl.DataFrame, on: str, here: list[str], there: list[str]) -> pl.Series:
    """How many people of both files share the keys of both: what anybody who joins them counts."""
    old = second.select(on, *(pl.col(key).alias(f"old {key}") for key in there))
    both = first.select(on, *here).join(old.with_columns(there=True), on=on, how="left", maintain_order="left")
    here = [*here, "there"]
    return both.select(pl.len().over([*here, *(f"old {key}" for key in there)])).to_series()


def told_by_join(
    new: pl.DataFrame, old: pl.DataFrame, keys: tuple[list[str], list[str]], names: tuple[str, str]
) -> list[bool]:
    """Whose value is certain from both files and from neither alone, by joining the rows.

    In the coding of either, or by what two levels have in common.
    """
    pairs = set(zip(new[names[0]], old[names[1]], strict=True))
    sets = [possible(file, own, name) for file, own, name in zip((new, old), keys, names, strict=True)]
    as_here = [{mine for mine, theirs in pairs if theirs in values} for values in sets[1]]
    as_there = [{theirs for mine, theirs in pairs if mine in values} for values in sets[0]]
    common = [[{pair for pair in pairs if pair[at] in values} for values in own] for at, own in enumerate(sets)]
    ways = together(sets[0], as_here), together(as_there, sets[1]), together(*common)
    in_either = zip(*ways, strict=True)
    return [any(both) for both in in_either]


# The attacks on the ledger.


@pytest.mark.parametrize("link", ["id", "pay"])
def test_two_releases_that_a_column_links_are_judged_by_the_keys_of_both(link: str, tmp_path: Path) -> None:
    """20 regions by 30 years of age, 4 parts by 5 years: each keeps k = 3, both together do not."""
    data = survey(3000).with_columns(five=pl.col("age") // 5)
    first, second = data.select(link, "region", "band"), data.select(link, "part", "five")
    for file in (first, second):
        assert file.group_by(file.columns[1:]).len()["len"].min() >= 3  # type: ignore[operator]
    ledger = ledger_in(tmp_path).add(first, name="first", keys=["region", "band"])
    found = sdc.differencing(second, ledger=ledger, keys=["part", "five"], new=["part", "five"])
    groups = joined(second, first, link, ["part", "five"], ["region", "band"])
    assert found.linked_by == {"first": (link,)}
    assert (found.linked, found.linked_uniques, found.joint_below(3)) == (3000, (groups == 1).sum(), (groups < 3).sum())
    assert found.linked_uniques > 0
    assert found.joint.frequency.tolist() == groups.to_list()  # type: ignore[union-attr]


def test_what_one_release_hides_and_another_shows_has_its_remedy() -> None:
    """Of people that an id joins, and no column that goes out: hidden alike nothing is told."""
    data = survey(600).select("id", "region", "band")
    hidden = {at: data.with_columns(band=pl.when(pl.col("id") % 50 != at).then("band")) for at in (1, 2)}
    here = {"earlier": hidden[1], "keys": ["region", "band"], "id": "id"}
    given = sdc.differencing(hidden[2].with_columns(band=pl.when(pl.col("id") % 50 != 1).then("band")), **here)
    assert (given.unprotected, given.given_back) == (0, 12)
    assert [words.split(":")[0] for words in given.remedies[-1:]] == [
        "of 12 records a value is missing that an earlier release shows"
    ]
    assert not any("hides" in words for words in given.remedies)
    shown = sdc.differencing(data, **here)
    assert "of 12 records a value goes out that an earlier release hides: take it out here, too" in shown.remedies[-1]
    assert sdc.differencing(hidden[1], **here).people == 0


@pytest.mark.parametrize("how", ["codes", "codes as text", "groups", "renamed", "renamed codes", "renamed groups"])
def test_a_sensitive_variable_in_another_coding_is_found(how: str, tmp_path: Path) -> None:
    data = survey(854)
    before = coded(data, how)
    learnt = "job" if "job" in before.columns else "work"
    ledger = ledger_in(tmp_path).add(
        before.select("id", "region", "band", learnt),
        name="first",
        keys=["region", "band"],
        sensitive=[learnt],
        id="id",
    )
    found = sdc.differencing(
        data.select("id", "part", "age", "job"), ledger=ledger, keys=["part", "age"], sensitive=["job"], id="id",
        new=["part"],
    )  # fmt: skip
    expected = told_by_join(data, before, (["part", "age"], ["region", "band"]), ("job", learnt))
    assert found.records["certain_together"].to_list() == expected
    assert any(expected)
    assert found.not_compared == ()


def in_tens(shift: int) -> pl.Expr:
    return (pl.col("hours") + shift) // 10


def in_ranges(low: int, width: int) -> pl.Expr:
    start = (pl.col("hours") - low) // width * width + low
    return pl.format("{}-{}", start, start + width - 1)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (in_tens(0), in_tens(5)), (in_tens(0), in_tens(1)), (in_tens(0), in_tens(9)),
        (in_tens(0) * 10, in_tens(5) * 10), (pl.col("hours") // 5, (pl.col("hours") + 2) // 5),
        (in_ranges(0, 10), in_ranges(5, 10)), (in_ranges(0, 10), in_ranges(3, 15)), (in_tens(0), in_ranges(4, 10)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kept", [True, False])
def test_bands_that_cross_tell_what_two_of_them_have_in_common(
    there: pl.Expr, here: pl.Expr, kept: bool, tmp_path: Path
) -> None:
    """Against all pairs of joined rows; of a file and of a ledger, which knows the limits of nobody's bands."""
    rng = np.random.default_rng(7)
    data = survey(900).with_columns(hours=20 + rng.integers(0, 60, 900)).select("id", "region", "age", "hours")
    before, now = data.with_columns(hours=there), data.with_columns(hours=here)
    keys = ["region", "age"]
    given: dict[str, Any] = {"keys": keys, "sensitive": ["hours"], "id": "id"}
    if kept:
        ledger = ledger_in(tmp_path).add(before, name="first", keys=keys, sensitive=["hours"], id="id")
        found = sdc.differencing(now, ledger=ledger, scenario=KEPT, **given)
    else:
        found = sdc.differencing(now, earlier=before, scenario=KEPT, **given)
    expected = told_by_join(now, before, (keys, keys), ("hours", "hours"))
    assert found.records["certain_together"].to_list() == expected
    assert any(expected)
    assert (found.not_compared, found.entries[0].otherwise) == ((), ("hours",))
    assert "take those that went out" in found.remedies[-1]


def test_where_some_limits_are_the_same_the_labels_tell_and_a_ledger_does_not(tmp_path: Path) -> None:
    """Tens and fifteens have every thirtieth limit in common, so that few overlap in a row, as after growth."""
    rng = np.random.default_rng(7)
    data = survey(900).with_columns(hours=20 + rng.integers(0, 60, 900)).select("id", "region", "age", "hours")
    before, now = data.with_columns(hours=in_ranges(0, 10)), data.with_columns(hours=in_ranges(0, 15))
    keys = ["region", "age"]
    given: dict[str, Any] = {"keys": keys, "sensitive": ["hours"], "id": "id", "scenario": KEPT}
    found = sdc.differencing(now, earlier=before, **given)
    assert found.records["certain_together"].to_list() == told_by_join(now, before, (keys, keys), ("hours", "hours"))
    assert found.certain_together > 0
    assert found.not_compared == ()
    ledger = ledger_in(tmp_path).add(before, name="first", keys=keys, sensitive=["hours"], id="id")
    (reason,) = sdc.differencing(now, ledger=ledger, **given).not_compared
    assert reason.startswith("hours is coded otherwise in an earlier release")


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("people", ["the same", "one other", "another job"])
def test_ranges_of_a_key_that_overlap_tell_by_the_counts_of_both(kept: bool, people: str, tmp_path: Path) -> None:
    """Whoever subtracts the counts of the same people has those of every overlap, and the jobs in it."""
    rng = np.random.default_rng(7)
    data = survey(900).with_columns(hours=20 + rng.integers(0, 60, 900)).select("id", "region", "hours", "job")
    before, now = data.with_columns(hours=in_tens(0)), data.with_columns(hours=in_tens(5))
    if people == "one other":
        now = now.with_columns(id=pl.when(pl.int_range(900) == 899).then(1).otherwise("id"))
    if people == "another job":
        now = now.with_columns(job=pl.when(pl.int_range(900) == 0).then(pl.lit("job 11")).otherwise("job"))
    keys = ["region", "hours"]
    given: dict[str, Any] = {"keys": keys, "sensitive": ["job"], "id": "id", "scenario": KEPT}
    ledger = ledger_in(tmp_path).add(before, name="first", keys=keys, sensitive=["job"], id="id") if kept else None
    found = sdc.differencing(now, **given, **({"ledger": ledger} if kept else {"earlier": before}))
    sets = [possible(file, keys, "job") for file in (now, before)]
    expected = np.array(together(*sets))
    expected[899] &= people != "one other"
    if people == "the same":
        cells = data.select(pl.col("job").n_unique().over("region", pl.col("hours") // 5))
        alone = [[len(jobs) == 1 for jobs in own] for own in sets]
        told = (cells["job"].to_numpy() == 1) & ~np.array(alone[0]) & ~np.array(alone[1])
        assert (told & ~expected).any()
        expected |= told
    assert found.records["certain_together"].to_list() == expected.tolist()
    assert ("crossed" in found.notes) == (people == "the same")


def changed(data: pl.DataFrame, how: str) -> pl.DataFrame:
    """The same people a year later, in the same coding; or a release that was perturbed."""
    rng, n = np.random.default_rng(11), data.height
    old = data["band"].to_numpy()
    some, top = rng.random(n) < 1 / 3, int(old.max())
    values = {
        "anew": np.where(some, rng.permutation(old), old),
        "a step": np.where(some, np.clip(old + rng.choice([-1, 1], n), 0, top), old),
        "up by some": np.clip(old + rng.choice([0, 0, 0, 1, 2], n), 0, top),
        "few anew": np.where(rng.random(n) < 0.01, rng.integers(0, top + 1, n), old),
        "exchanged": np.where(rng.random(n) < 0.2, np.minimum(old ^ 1, top), old),
        "one corrected": np.where(np.arange(n) < 1, np.minimum(old + 1, top), old),
        "over the limit": np.where((rng.random(n) < 0.2) & (old >= top // 2), top, old),
    }
    return data.with_columns(band=pl.Series(values[how]))


@pytest.mark.parametrize(
    "how", ["anew", "a step", "up by some", "few anew", "exchanged", "one corrected", "over the limit"]
)
def test_values_that_changed_are_no_bands_that_cross(how: str) -> None:
    """The figures are those of equal texts, by all pairs of rows, as if nobody had thought of bands."""
    data = survey(1200).select("id", "region", "job", band=pl.col("age") // 8)
    after = changed(data, how)
    keys = ["region", "job"]
    found = sdc.differencing(after, earlier=data, keys=keys, sensitive=["band"], id="id", scenario=KEPT)
    sets = [possible(file, keys, "band") for file in (after, data)]
    assert found.records["certain_together"].to_list() == together(*sets)
    assert (found.entries[0].otherwise, found.not_compared) == ((), ())
    assert "crossed" not in found.notes


def test_growth_by_a_step_is_not_told_from_bands_and_named() -> None:
    """Of three levels, each of which some rose from: other limits would look alike, so it is not judged."""
    rng = np.random.default_rng(5)
    data = survey(1200).select("id", "region", level=pl.Series(rng.integers(0, 3, 1200)))
    grown = data.with_columns(level=pl.col("level") + pl.Series(rng.random(1200) < 0.2).cast(pl.Int64))
    given: dict[str, Any] = {"keys": ["region"], "id": "id", "scenario": KEPT}
    found = sdc.differencing(grown, earlier=data, sensitive=["level"], new=["level"], **given)
    assert (found.people, found.entries[0].alike) == (0, ("region",))
    assert [reason.split(" in an")[0] for reason in found.not_compared] == ["level is coded otherwise"]
    keys = ["region", "level"]  # of a key nothing rests on it
    assert sdc.differencing(grown, earlier=data, **{**given, "keys": keys}).not_compared == ()


# Random pairs of releases: what is told is what a join of the two files tells, or it is not judged.


def grouped(at: int) -> str:
    return f"branch {at // 2}"


CODINGS: dict[str, Callable[[int], object]] = {
    "names": lambda at: f"Beruf Ä{at}", "codes": lambda at: at + 1, "text": lambda at: f"{at + 1:03}",
    "other spelling": lambda at: f"BERUF AE{at}", "floats": lambda at: at + 1.0, "groups": grouped,
    "bands": lambda at: at // 4, "shuffled codes": lambda at: (at * 3 + 2) % 8 + 1, "crossing": lambda at: at % 3,
}  # fmt: skip


@dataclass(frozen=True)
class Release:
    """A random release, the keys and the sensitive variable as it calls and codes them, and the true jobs."""

    file: pl.DataFrame
    keys: list[str]
    learnt: str
    coding: str
    true: list[int | None]

    def candidates(self, universe: set[int]) -> list[set[int]]:
        """Jobs that each person may have for somebody who knows the keys and how jobs are coded."""
        means: dict[object, set[int]] = {}
        for job in universe:
            means.setdefault(CODINGS[self.coding](job), set()).add(job)
        values = pl.DataFrame([self.file[key] for key in self.keys] + [self.file[self.learnt]])
        sets = possible(values, self.keys, self.learnt)
        hidden = possible(values.with_columns(pl.col(self.learnt).is_null()), self.keys, self.learnt)
        return [
            universe if True in unknown else set().union(*(means[value] for value in own))
            for own, unknown in zip(sets, hidden, strict=True)
        ]


def released(people: pl.DataFrame, rng: np.random.Generator, *, before: bool) -> Release:
    """Somebody's release of some of the people, in an order of its own."""
    some = people.sample(fraction=float(rng.choice([1.0, 1.0, 0.8])), shuffle=True, seed=int(rng.integers(1 << 30)))
    coding = str(rng.choice(list(CODINGS)))
    hidden = rng.random(some.height) < rng.choice([0.0, 0.0, 0.05])
    true = [None if gone else job for job, gone in zip(some["job"].to_list(), hidden, strict=True)]
    learnt = str(rng.choice(["job", "work"])) if before else "job"
    values = pl.Series(learnt, [None if job is None else CODINGS[coding](job) for job in true], strict=False)
    keys = [["region", "band"], ["part", "age"], ["region"], ["age"]][int(rng.integers(4))]
    file = some.select("id", *keys).with_columns(values)
    return Release(file.select(rng.permutation(file.columns).tolist()), keys, learnt, coding, true)


def told_by_rows(new: Release, old: Release) -> dict[str, list[bool]]:
    """What a join of two files by the id tells: what is certain together, and what is shown in one of them only."""
    universe = {job for job in (*new.true, *old.true) if job is not None}
    at = {who: row for row, who in enumerate(old.file["id"].to_list())}
    rows = [at.get(who, -1) for who in new.file["id"].to_list()]
    sets = new.candidates(universe), old.candidates(universe)
    certain = []
    for mine, row in zip(sets[0], rows, strict=True):
        pair = (mine, sets[1][row])
        ways = [[{CODINGS[coding](job) for job in jobs} for jobs in (*pair, pair[0] & pair[1])]
                for coding in (new.coding, old.coding)]  # fmt: skip
        certain.append(row >= 0 and any(len(both) == 1 < min(len(here), len(there)) for here, there, both in ways))
    shown = [(job is not None, row >= 0, row >= 0 and old.true[row] is not None)
             for job, row in zip(new.true, rows, strict=True)]  # fmt: skip
    return {
        "certain_together": certain,
        "given_back": [linked and there and not here for here, linked, there in shown],
        "unprotected": [linked and here and not there for here, linked, there in shown],
    }


def test_of_two_hundred_pairs_of_releases_a_join_tells_what_is_told_or_it_is_not_judged(tmp_path: Path) -> None:
    """Codes, names, groups, bands, other spellings, codes that mean something else; renamed, reordered, in part."""
    judged = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(60, 120))
        region, age = rng.integers(0, 4, n), rng.integers(0, 4, n)
        people = pl.DataFrame({
            "id": rng.permutation(5 * n)[:n], "region": region, "part": region // 2, "age": age, "band": age // 2,
            "job": (region + rng.integers(0, 4, n)) % 8,
        })  # fmt: skip
        old, new = released(people, rng, before=True), released(people, rng, before=False)
        kept = sdc.Scenario(keys=old.keys, sensitive=[old.learnt], identifiers=["id"])
        place = {"folder": tmp_path / str(seed), "key": tmp_path / f"{seed}.key"}
        ledger = sdc.ReleaseLedger.create(**place, survey="Survey")
        goes_out = bool(rng.random() < 0.5)
        ledger = ledger.add(old.file, name="old", id="id", scenario=kept.changed(identifiers=[]) if goes_out else kept)
        found = sdc.differencing(
            new.file, ledger=ledger, keys=new.keys, sensitive=[new.learnt], id="id",
            new=[key for key in new.keys if key not in old.keys],
        )  # fmt: skip
        expected = told_by_rows(new, old)
        verdict = judge_differencing(0.0, "", found, {})
        if verdict.holds:
            assert not any(map(any, expected.values())), seed
        if not found.not_compared:
            judged += 1
            assert {name: found.records[name].to_list() for name in expected} == expected, seed
        groups = joined(new.file, old.file, "id", new.keys, old.keys).to_list()
        in_both = new.file["id"].is_in(old.file["id"].to_list()).to_list()
        assert found.linked == (sum(in_both) if goes_out else 0)
        assert (
            found.joint_below(3) == sum(size < 3 for size, both in zip(groups, in_both, strict=True) if both) * goes_out
        )
    assert judged > 100


# What is no link, and what cannot be compared.


def test_an_entry_of_an_earlier_version_is_not_judged(tmp_path: Path) -> None:
    data, ledger = survey(200), ledger_in(tmp_path)
    opened = open_release(data, ["region", "job"], id="id", name="it", role="keys")
    sketch, _ = sketch_release(opened, [["region"]], ["job"], ledger._file.digester)
    counts = Sketch({place: part for place, part in sketch.parts.items() if place[0] == "counts"})
    ledger = sdc.ReleaseLedger(ledger._file.with_entry("old", counts))
    found = sdc.differencing(data, ledger=ledger, keys=["region"], sensitive=["job"], id="id")
    assert (found.without_levels, found.entries[0].relation, found.linked) == (("old",), "", 0)
    verdicts = [judge_differencing(0.0, "", found, {}), *judge_linked(Thresholds(k=2), "", found)]
    assert [(one.name, one.word) for one in verdicts] == [("differencing", "not judged"), ("k_linked", "not judged")]
    assert "the ledger has no levels of old" in verdicts[0].sentence


@pytest.mark.parametrize("fine", [True, False])
def test_where_several_columns_together_were_not_tried_as_a_link_it_is_not_judged(fine: bool, tmp_path: Path) -> None:
    """Each of 800 people has a combination of three columns of their own, and no column tells anybody apart."""
    rows = pl.DataFrame({"n": range(800)})
    people = rows.select(age=pl.col("n") % 20, place=pl.col("n") // 20 % 20, sex=pl.col("n") // 400)
    wave = people if fine else people.drop("place")
    ledger = ledger_in(tmp_path).add(wave, name="first", keys=["sex"])
    found = sdc.differencing(wave, ledger=ledger, keys=["sex"])
    verdict = judge_differencing(0.0, "", found, {})
    assert (found.singly, "linked" in found.notes, verdict.word) == (fine, fine, "not judged" if fine else "holds")
    assert ("not all columns were tried as links together" in verdict.sentence) is fine
    alone = [(one.name, one.word) for one in judge_linked(Thresholds(k=2), "", found)]
    assert alone == ([("k_linked", "not judged")] if fine else [])  # no other verdict would say it
    assert judge_linked(Thresholds(k=2, differencing=0.0), "", found) == ()
    assert sdc.differencing(wave.lazy(), ledger=ledger, keys=["sex"]).singly is fine


def test_a_release_at_hand_makes_up_for_what_an_earlier_version_did_not_keep(tmp_path: Path) -> None:
    data, ledger = survey(200), ledger_in(tmp_path)
    opened = open_release(data, ["region", "job"], id="id", name="it", role="keys")
    sketch, _ = sketch_release(opened, [["region"]], ["job"], ledger._file.digester)
    known = ("counts", "keys", "sensitive")
    counts = Sketch({place: part for place, part in sketch.parts.items() if place[0] in known})
    kept = sdc.ReleaseLedger(ledger._file.with_entry("old", counts))
    whole = sdc.ReleaseLedger(kept._file.with_entry("new", sketch)).without(["old"])
    asked = {"keys": ["region"], "sensitive": ["job"]}
    found = sdc.differencing(data, ledger=kept.beside({"old": data}), **asked)
    assert (found.without_levels, found.linked) == ((), 200)
    assert found.to_dict()["certain"] == sdc.differencing(data, ledger=whole, **asked).to_dict()["certain"]


def test_another_file_is_not_taken_for_a_release(tmp_path: Path) -> None:
    data = survey(200)
    ledger = ledger_in(tmp_path).add(data, name="first", keys=["region"], sensitive=["job"])
    moved = data.with_columns(job=pl.col("job").shuffle(seed=1))
    with pytest.raises(sdc.DataError, match="given as 'first' is not the release that the ledger remembers"):
        sdc.differencing(data, ledger=ledger.beside({"first": moved}), keys=["region"])
    with pytest.raises(sdc.ColumnError, match="job"):
        sdc.differencing(data, ledger=ledger.beside({"first": data.drop("job")}), keys=["region"])
    with pytest.raises(sdc.DataError, match="no release 'frist'; did you mean 'first'"):
        ledger.beside({"frist": data})


@pytest.mark.parametrize("own", [date(1950, 1, 1), Decimal("1.5"), "mixed"])
def test_dates_and_decimals_of_pandas_link_releases(own: Any, tmp_path: Path) -> None:
    """They are Python objects there, which were not tried as a link."""
    values = [[n, str(n)][n % 2] if own == "mixed" else own + (timedelta(n) if isinstance(own, date) else n)
              for n in range(100)]  # fmt: skip
    wave = pl.DataFrame({"sex": [0, 1] * 50}).to_pandas().assign(born=pl.Series(values, dtype=pl.Object).to_list())
    ledger = ledger_in(tmp_path).add(wave, name="first", keys=["sex"])
    found = sdc.differencing(wave[::-1], ledger=ledger, keys=["sex"])
    links = () if own == "mixed" else ("born",)
    assert (found.entries[0].linked_by, found.singly) == (links, not links)


@pytest.mark.parametrize("known", [True, False])
def test_ids_given_anew_from_the_same_numbers_link_nobody(known: bool, tmp_path: Path) -> None:
    """The office's own id says that equal numbers are other people's; without it the columns coded alike do."""
    data = survey(400).with_columns(row=pl.int_range(400), own=pl.format("p{}", "id"))
    first = data.select("own", "row", "region", "age")
    second = data.select("own", "region", "age").sample(fraction=1.0, shuffle=True, seed=2).with_row_index("row")
    kept = sdc.Scenario(keys=["region", "age"], identifiers=["own"])
    given = {"id": "own"} if known else {}
    ledger = ledger_in(tmp_path).add(first, name="first", scenario=kept, **given)  # type: ignore[arg-type]
    found = sdc.differencing(second, ledger=ledger, scenario=kept, **given)  # type: ignore[arg-type]
    assert (found.linked_by, found.linked) == ({}, 0)
    same = data.select("own", "row", "region", pl.col("age") // 5)
    again = sdc.differencing(same, ledger=ledger, scenario=kept, **given)  # type: ignore[arg-type]
    assert again.linked_by == {"first": ("row",)}


def test_codings_that_cross_are_told_by_nobody_and_named() -> None:
    here = Levels("job", np.array([1, 1, 2, 2] * 50, np.int32), ("a", "b"))
    there = Levels("job", np.array([1, 2, 1, 2] * 50, np.int32), ("x", "y"))
    rows = np.arange(200)
    assert coding_of(here, there, rows, alike=False) is None
    nested = Levels("job", np.array([1, 2, 3, 4] * 50, np.int32), ("1", "2", "3", "4"))
    found = coding_of(here, nested, rows, alike=False)
    assert found is not None
    assert list(zip(found.here.tolist(), found.there.tolist(), strict=True)) == [(1, 1), (1, 2), (2, 3), (2, 4)]
    assert coding_of(here, nested, rows[:6], alike=False) is None  # of so few it may be an accident
    more = Levels("job", nested.codes, (*nested.texts, "5"))
    assert coding_of(here, more, rows, alike=False) is None  # nobody tells what goes with the fifth
