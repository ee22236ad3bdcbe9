"""What a release on an engine gives back, of files too large to be brought: records drawn, and what is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan  # noqa: F401 (a fixture)
from sdckit.attacks.recovery import touched_cells
from sdckit.catalogue import attacks, row
from sdckit.cells.pair import open_files
from sdckit.cells.plans import drawn_pair
from sdckit.cells.plans.drawn_pair import draw_records
from sdckit.data.memory import PER_VALUE
from sdckit.workflow.assess import assess_read
from sdckit.workflow.check import check_assessment

N, DRAWN = 2_000, 700
SCENARIO = sdc.Scenario(
    keys=["region", "sex"], sensitive=["job"], household="home", thresholds={"k": 2, "recoverable": 0.05}
)


def people() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    region = rng.integers(0, 6, N)
    return pl.DataFrame(
        {
            "pid": rng.permutation(N),
            "home": np.arange(N) // 2,
            "region": region,
            "code": region * 7 + 3,
            "sex": rng.choice(["f", "m"], N),
            "job": rng.choice(list("abcd"), N),
        }
    )


ORIGINAL = people()
BLANK = pl.when(pl.col("pid") % 10 > 0).then("region").alias("region")
MIXED = ORIGINAL.with_columns(BLANK).sample(fraction=1.0, shuffle=True, seed=1)
LEAKING, TIGHT = MIXED, MIXED.drop("code")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 2,000 records for too many, and for more than fit."""
    monkeypatch.setattr(row, "MOST_ON_ENGINE", N - 1)
    monkeypatch.setattr(attacks, "RECORDS", DRAWN)
    monkeypatch.setattr(drawn_pair, "room_of_search", lambda _: 1)


def judged(*files: Any) -> tuple[Any, dict[str, Any]]:
    assessed = quiet(sdc.assess, files[0], [files[1]], scenario=SCENARIO, id="pid", seed=1)
    return assessed, {verdict.name: verdict for verdict in assessed["default"].verdicts}


@pytest.mark.usefixtures("few")
def test_what_records_drawn_give_back_exceeds_and_nothing_holds(plan: Any, tmp_path: Path) -> None:  # noqa: F811
    assessed, verdicts = judged(plan(ORIGINAL), plan(LEAKING))
    found = assessed["default"]["recoverable_values"]
    assert found.touched == found.right > 50
    assert found.notes["targets"].startswith("of 700 records drawn by their id")
    assert not found.below_k
    assert np.isnan(found.undone_k)
    assert not verdicts["recoverable"].holds
    assert verdicts["recoverable"].value < found.recoverable == 1
    assert verdicts["recoverable"].because.startswith("code; ")
    assert verdicts["recoverable"].because.endswith(" (of records drawn: the lower end of the interval)")
    for language, words in (("en", "release (among records drawn"), ("de", "lässt (unter gezogenen Datensätzen")):
        assessed.report(tmp_path / "a.md", language=language)
        text = (tmp_path / "a.md").read_text(encoding="utf-8").replace("\\", "")
        assert words in text
        assert {"en": "worked out (among records drawn)", "de": "sind (unter gezogenen Datensätzen)"}[language] in text
    assert verdicts["k_undone"].holds is None
    assessed, verdicts = judged(plan(ORIGINAL), plan(TIGHT))
    assert assessed["default"]["recoverable_values"].right == 0
    assert verdicts["recoverable"].holds is verdicts["k_undone"].holds is None
    assert "drawn" in verdicts["recoverable"].reason
    assert not sdc.check(plan(ORIGINAL), plan(TIGHT), scenario=SCENARIO, id="pid", seed=1).passed


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("recoverable", [0.05, None])
def test_a_gate_draws_records_only_for_a_limit_that_may_be_exceeded_among_them(plan: Any, recoverable: Any) -> None:  # noqa: F811
    limits = SCENARIO.thresholds.model_copy(update={"recoverable": recoverable})
    files = plan(ORIGINAL), [plan(LEAKING)]
    assessed = quiet(assess_read, *files, scenario=SCENARIO.changed(thresholds=limits), id="pid", seed=1, gate=True)
    against = assessed["default"]
    verdicts = {verdict.name: verdict for verdict in quiet(check_assessment, assessed).verdicts}
    assert verdicts["k_undone"].holds is None
    if recoverable:
        assert not verdicts["recoverable"].holds
        assert set(against.results) == {"recoverable_values"}
    else:
        assert "recoverable" not in verdicts
        assert not against.results
        assert "2,000 records stay on the engine" in verdicts["k_undone"].reason
        assert "they do not all fit here" in verdicts["k_undone"].reason


def told_by_a_key() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Codes tell regions but for three women; beside them those of two women are taken out, who are alone with theirs.

    While their region is missing, all five may be alike.
    """
    first = pl.int_range(N) < 5
    women, regions = pl.when(first).then(pl.lit("f")), pl.when(first).then(pl.int_range(N) // 2)
    whole = ORIGINAL.with_columns(
        sex=women.when(pl.col("region") == 0).then(pl.lit("m")).otherwise("sex"),
        code=pl.when(first).then(3).otherwise("code"), region=regions.otherwise("region"),
    )  # fmt: skip
    whole = whole.with_columns(region=pl.when(pl.int_range(N).is_between(2, 4)).then(1).otherwise("region"))
    taken = (pl.int_range(N) < 2) | ((pl.col("pid") % 10 == 0) & ~first & (pl.col("region") > 1))
    return whole, whole.with_columns(region=pl.when(~taken).then("region"))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("gate", [True, False])
def test_keys_of_all_records_that_tell_each_other_exceed_k(plan: Any, gate: bool) -> None:  # noqa: F811
    whole, released = told_by_a_key()
    scenario = sdc.Scenario(keys=["region", "code", "sex"], thresholds={"k": 3})
    here = quiet(sdc.assess, whole, [released], scenario=scenario, id="pid", seed=1)
    there = quiet(assess_read, plan(whole), [plan(released)], scenario=scenario, id="pid", seed=1, gate=gate)
    (memory,), (engine,) = (
        [verdict for verdict in assessed["default"].verdicts if verdict.name == "k_undone"]
        for assessed in (here, there)
    )
    assert not memory.holds
    assert memory.n_records
    assert (engine.holds, engine.n_records) == (False, memory.n_records)
    assert "code" in memory.because
    assert engine.because == "code (by the keys of all records alone: at least)"


@pytest.mark.usefixtures("few")
def test_records_drawn_give_the_figures_of_memory(plan: Any) -> None:  # noqa: F811
    """Whole households are drawn, the same ones in whatever order rows come."""
    assessed, _ = judged(plan(ORIGINAL), plan(LEAKING))
    found = assessed["default"]["recoverable_values"]
    pair = draw_records(open_files(ORIGINAL.lazy(), LEAKING.lazy(), id="pid"), DRAWN, seed=1, household="home")
    names = pair.original["home"].to_list()
    assert len(names) == DRAWN
    assert all(names.count(home) == 2 for home in set(names))
    columns = ["region", "code", "sex", "job"]
    here = quiet(sdc.recoverable_values, pair, columns=columns, household="home", id="pid", seed=1)
    assert found.per_release[0] == pytest.approx(here.per_release[0], nan_ok=True)
    assert found.columns == here.columns


def changed_in_many_ways() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Columns suppressed, in bands, coded at the top, rounded, in groups of numbers and of words, and perturbed."""
    rng = np.random.default_rng(7)
    pay = np.round(rng.lognormal(7, 1, N), 2)
    original = ORIGINAL.with_columns(age=rng.integers(0, 90, N), pay=pay, hours=rng.integers(0, 80, N))
    job = pl.when(pl.Series(rng.random(N) < 0.2)).then(pl.lit("b")).otherwise("job").alias("job")
    released = sdc.recode(original, column="age", bands=[0, 30, 60, 90]).data.with_columns(
        BLANK, job, pl.col("pay").clip(upper_bound=3000), (pl.col("hours") / 10).round() * 10, pl.col("code") // 20,
        sex=pl.when(pl.col("sex") == "f").then(pl.lit("x")).otherwise(pl.lit("y")),
    )  # fmt: skip
    return original, released.sample(fraction=1.0, shuffle=True, seed=2)


@pytest.mark.usefixtures("few")
def test_what_was_changed_is_counted_among_all_records(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    original, released = changed_in_many_ways()
    scenario = sdc.Scenario(keys=["age", "region", "sex"], thresholds={"k": 2})
    there = quiet(sdc.assess, plan(original), plan(released), scenario=scenario, id="pid", seed=1)
    own = there["default"]["recoverable_values"].changed[0]
    here = quiet(sdc.recoverable_values, released, original, id="pid", seed=1, guess=False, pairs=False)
    expected = {column.column: (column.kinds, column.touched) for column in here.columns[0]}
    counted = {column.column: (column.kinds, column.n) for column in own if column.n}
    assert counted == expected
    assert {kind for kinds, _ in counted.values() for kind in kinds} >= {"suppressed", "rounded", "perturbed"}


@pytest.mark.parametrize("internal", [True, False])
@pytest.mark.usefixtures("few")
def test_documents_say_that_records_were_drawn(tmp_path: Any, internal: bool) -> None:
    for name, file in (("leaking", LEAKING), ("tight", TIGHT)):
        assessed, _ = judged(ORIGINAL.lazy(), file.lazy())
        assessed.report(tmp_path / f"{name}.md", internal=internal)
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "Values changed, of all records" in text
        assert "Looked at were 700 records drawn by their id" in text
        assert "drawn by their id, which tells nothing of the others" in text  # k after reconstruction
        assert ("Changed values of region can be reconstructed" in text) == (name == "leaking")


def test_all_records_that_fit_are_looked_through_as_in_memory(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Above two million, here 1,999: nothing is drawn, and k with values put back is judged."""
    monkeypatch.setattr(row, "MOST_ON_ENGINE", N - 1)
    monkeypatch.setattr(touched_cells, "MOST_KEPT", 0)
    for file in (LEAKING, TIGHT):
        here = quiet(sdc.check, ORIGINAL, file, scenario=SCENARIO, id="pid", seed=1)
        there = quiet(sdc.check, plan(ORIGINAL), plan(file), scenario=SCENARIO, id="pid", seed=1)
        assert there.verdicts == here.verdicts
        assert there.passed == here.passed == (file is TIGHT)
        found = there.assessment["default"]["recoverable_values"]
        assert "targets" not in found.notes


@pytest.mark.parametrize(("bytes_each", "shared"), [(55, False), (215, True)])
def test_who_fits_is_decided_once(bytes_each: int, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search takes memory for each value, more of it where households tell of their members."""
    rooms: list[int] = []
    monkeypatch.setattr(drawn_pair, "room_of_search", lambda _: rooms.pop())
    assert {*ORIGINAL.columns} - {*TIGHT.columns} == {"code"}
    least = N * (len(TIGHT.columns) * bytes_each + PER_VALUE)
    for room, fits in ((least, True), (least - 1, False)):
        rooms.append(room)
        pair = open_files(ORIGINAL.lazy(), TIGHT.lazy(), id="pid")
        assert drawn_pair.all_fit(pair, "home" if shared else None) is fits
        assert drawn_pair.all_fit(pair, None) is fits


def test_without_an_id_it_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row, "MOST_ON_ENGINE", N - 1)
    assessed = quiet(sdc.assess, ORIGINAL.lazy(), LEAKING.lazy(), scenario=SCENARIO, seed=1)
    assert "2,000 records stay on the engine" in dict(assessed["default"].skipped)["recoverable_values"]
