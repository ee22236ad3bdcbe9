"""Intruders all of whose keys a release leaves out: what it tells of these is judged, or said to be open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.workflow.released_intruders import (
    DIFFERENCING,
    KEYLESS,
    NOT_HELD_AGAINST,
    STILL_TOLD,
    TOLD_OF,
    UNTOLD,
    _have_earlier,
)
from sdckit.workflow.verdicts import NOT_RELEASED

N = 2_000
LIMITS = {"k": 80, "risk": 0.9}
ALL = {**LIMITS, "l": 2, "recoverable": 0.0, "copied_records": 0.5}


def people() -> pl.DataFrame:
    """Districts lie in regions; what else there is has nothing to do with them."""
    rng = np.random.default_rng(3)
    region = rng.choice(6, N, p=[0.4, 0.3, 0.13, 0.09, 0.05, 0.03])
    return pl.DataFrame({
        "region": [f"R{code}" for code in region], "sex": rng.integers(0, 2, N), "educ": rng.integers(0, 3, N),
        "district": [f"D{code}" for code in 3 * region + rng.integers(0, 3, N)],
        "ill": rng.choice(["no", "yes", "no longer"], N), "other": rng.integers(0, 6, N), "home": np.arange(N) // 3,
    })  # fmt: skip


def judged(
    shown: str, *, gone: tuple[str, ...] = ("region",), intruders: dict[str, list[str]] | None = None, m: int = 1,
    lazy: bool = False, shuffled: bool = False, **declared: Any,
) -> tuple[sdc.CheckResult, dict[tuple[str, str], sdc.Verdict]]:  # fmt: skip
    """The gate of a release without the columns `gone` but with the one `shown`, and its verdicts."""
    columns = [
        "region",
        "sex",
        "educ",
        shown,
        *declared.get("sensitive", ()),
        *filter(None, [declared.get("household")]),
    ]
    data = people().select(*dict.fromkeys(columns))
    if shuffled:
        data = data.sample(fraction=1.0, shuffle=True, seed=1)
    declared = {"aligned": not shuffled, "thresholds": LIMITS} | declared
    scenario = sdc.Scenario(
        intruders=intruders or {"neighbour": ["sex", "educ"], "office": ["region"]}, insensitive=[shown], **declared
    )
    recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": list(gone)}])
    released = recipe.apply(data, scenario=scenario, seed=1).data
    files = [frame.with_row_index("id").lazy() if lazy else frame for frame in (data, *[released] * m)]
    result = sdc.check(files[0], files[1:], scenario=scenario, recipe=recipe, id="id" if lazy else None)
    return result, {(verdict.intruder, verdict.name): verdict for verdict in result.verdicts}


@pytest.mark.filterwarnings("ignore")
class TestVerdicts:
    @pytest.mark.parametrize("how", [{}, {"m": 2}, {"lazy": True}])
    def test_what_tells_the_keys_is_held_against_the_limits(self, how):
        result, verdicts = judged("district", **how)
        assert not result.passed
        assert verdicts["office", "k"].keyless == TOLD_OF
        undone = verdicts["office", "k_undone"]
        assert (undone.holds, undone.because) == (False, "district")
        assert undone.n_records == sdc.k_anonymity(people(), keys=["region"], k=[80]).violations[80] > 0
        assert verdicts["office", "risk_undone"].holds

    def test_where_nothing_tells_them_it_says_so(self):
        result, verdicts = judged("other", sensitive=["ill"], thresholds={**LIMITS, "l": 2, "global_risk": 0.5})
        assert result.passed
        own = [verdict for (name, _), verdict in verdicts.items() if name == "office"]
        assert {verdict.name for verdict in own} == {"k", "risk", "l", "global_risk"}
        assert {verdict.keyless for verdict in own} == {UNTOLD}
        assert all(UNTOLD in verdict.sentence for verdict in own)

    def test_limits_that_are_not_measured_on_what_is_told_are_open(self):
        _, verdicts = judged("district", thresholds={"k": 2, "global_risk": 0.5, "match_risk": 0.9})
        assert verdicts["office", "k_undone"].holds
        for name in ("global_risk", "match_risk"):
            assert verdicts["neighbour", name].holds
            assert verdicts["office", name].holds is None
            assert verdicts["office", name].reason == STILL_TOLD.format("district")

    @pytest.mark.parametrize("intruders", [None, {"office": ["region", "sex"]}])
    @pytest.mark.parametrize(("shown", "how"), [("district", {}), ("other", {}), ("other", {"shuffled": True})])
    def test_a_limit_on_keys_alone_makes_the_gate_look(self, intruders, shown, how):
        """Also of an intruder who has another key left: that limit is on this one alone."""
        _, verdicts = judged(shown, intruders=intruders, thresholds={"global_risk": 0.9}, **how)
        verdict = verdicts["office", "global_risk"]
        assert verdict.holds is (True if shown == "other" and not how else None)
        assert verdict.holds or ("aligned" if how else "rule: district") in verdict.reason

    @pytest.mark.parametrize("limit", [{"l": 2}, {"household_risk": 0.9}, {"household_uniques": 0.9}])
    def test_with_a_key_left_no_limit_on_groups_holds_where_nobody_looked(self, limit):
        office, home = {"office": ["region", "sex", "educ"]}, "home" if "l" not in limit else None
        result, verdicts = judged(
            "district", intruders=office, shuffled=True, thresholds=limit, household=home, sensitive=["ill"]
        )
        assert not result.passed
        assert verdicts["office", next(iter(limit))].holds is None

    @pytest.mark.parametrize("gone", [("region",), ("other",)])
    def test_numbers_that_go_out_are_judged_whatever_became_of_the_keys(self, gone):
        rng = np.random.default_rng(0)
        data = people().with_columns(income=pl.Series(np.round(np.exp(rng.normal(8, 2.5, N)), 2)), turnover=900.0)
        data = data.select("sex", "region", "income", "turnover", "other", industry=pl.int_range(N) // 30)
        scenario = sdc.Scenario(
            intruders={"owner": ["sex", "income"], "office": ["region"]}, thresholds={"exact_numbers": 0.0},
            aligned=True, insensitive=["industry", "other"], numeric=["income"], number_groups=["industry"],
            magnitudes=["turnover"],
        )  # fmt: skip
        recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": [*gone]}])
        verdicts = sdc.check(data, data.drop(gone), scenario=scenario, recipe=recipe).verdicts
        own = {verdict.intruder: verdict for verdict in verdicts if verdict.name == "exact_numbers"}
        assert (own["office"].holds, own["office"].variable) == (False, "income")

    def test_a_variable_that_was_left_out_too_is_in_no_group(self):
        _, verdicts = judged("district", gone=("region", "ill"), sensitive=["ill"], thresholds={"l": 2})
        assert verdicts["office", "l"].sentence == f"l = 2: {NOT_RELEASED}"

    def test_a_release_that_does_not_tell_the_keys_has_no_groups_of_them(self):
        data = people().select("region", "sex", "district", "ill")
        scenario = sdc.Scenario(
            intruders={"neighbour": ["sex"], "office": ["region"]}, sensitive=["ill"], insensitive=["district"],
            aligned=True, thresholds={"l": 3},
        )  # fmt: skip
        recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": ["region"]}])
        released = [data.drop("region", "district"), data.drop("region")]
        verdicts = sdc.check(data, released, scenario=scenario, recipe=recipe).verdicts
        assert [(verdict.intruder, verdict.holds) for verdict in verdicts] == [("neighbour", True), ("office", True)]

    @pytest.mark.parametrize(("least", "holds"), [(2, True), (4, None)])
    def test_groups_of_what_is_told_need_values_enough(self, least, holds):
        _, verdicts = judged("district", sensitive=["ill"], thresholds={"l": least})
        assert verdicts["office", "l"].holds is holds

    def test_they_are_open_where_nobody_looked(self):
        result, verdicts = judged("district", shuffled=True)
        assert not result.passed
        for name in ("k", "risk", "k_undone", "risk_undone"):
            assert verdicts["office", name].holds is None
            assert "say aligned = true" in verdicts["office", name].reason

    def test_households_are_measured_with_what_is_told(self):
        limits = {"k": 2, "household_risk": 0.01}
        _, verdicts = judged("district", household="home", thresholds=limits)
        assert verdicts["office", "household_risk"].keyless == TOLD_OF
        assert verdicts["office", "household_risk_undone"].holds is False
        _, verdicts = judged("other", household="home", thresholds=limits)
        assert verdicts["office", "household_risk"].keyless == UNTOLD
        assert ("office", "household_risk_undone") not in verdicts

    def test_one_with_a_key_left_is_judged_as_ever(self):
        _, verdicts = judged("district", intruders={"neighbour": ["sex", "region"], "office": ["region"]})
        assert (verdicts["neighbour", "k"].keyless, verdicts["neighbour", "k_undone"].holds) == ("", False)
        assert verdicts["office", "k_undone"].holds is False

    def test_of_a_synthetic_file_no_record_is_looked_at(self):
        data = people().select("region", "sex", "educ")
        scenario = sdc.Scenario(
            intruders={"neighbour": ["sex", "educ"], "office": ["region"]}, release="synthetic", thresholds={"k": 2}
        )
        recipe = sdc.Recipe([
            {"method": "synthesize"},
            {"method": "drop_identifiers", "columns": ["region"]},
        ])  # fmt: skip
        made = recipe.apply(data, scenario=scenario, seed=1).data
        verdicts = sdc.check(data, made, scenario=scenario, recipe=recipe).verdicts
        assert [v.keyless for v in verdicts if v.intruder == "office" and v.name == "k"] == [KEYLESS]

    def test_it_is_not_held_against_earlier_releases(self, tmp_path):
        place = {"folder": tmp_path / "ledger", "key": tmp_path / "key"}
        ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="wave")
        ledger.add(people().select("region", "educ"), name="first", keys=["region", "educ"], sensitive=[], date="2020")
        _, verdicts = judged("other", ledger={name: str(path) for name, path in place.items()})
        assert verdicts["office", "k_linked"].reason == NOT_HELD_AGAINST


@pytest.mark.filterwarnings("ignore")
def test_documents_say_what_is_judged_and_how_to_repeat_it(tmp_path):
    result, _ = judged("district", thresholds=LIMITS)
    result.assessment.report(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for words in (
        TOLD_OF,
        "“office” knows: **region**",
        "All of it was left out of the release",
        '"office": ["region"]',
    ):
        assert words in text or words.replace('"', "'") in text
    assert "[intruders.office]" in text
    assert any(TOLD_OF in sentence for sentence in result.told().sentences)
    assert result.assessment._repr_html_().count("office")
    assert "office" not in result.assessment.released[0]


@pytest.mark.filterwarnings("ignore")
class TestWhereNobodyHasAKeyLeft:
    """One intruder, or several, all of whose keys are left out: what is judged without keys is judged."""

    @pytest.mark.parametrize("how", [{}, {"m": 2}, {"lazy": True}])
    def test_what_is_told_is_held_against_the_limits(self, how):
        both = {"office": ["region"], "neighbour": ["region", "sex"]}
        _, beside = judged("district", thresholds=ALL, sensitive=["ill"], **how)
        result, verdicts = judged(
            "district", intruders={"office": ["region"]}, thresholds=ALL, sensitive=["ill"], **how
        )
        assert {name for _, name in verdicts} == {*ALL, "k_undone", "risk_undone"}
        for (_, name), verdict in verdicts.items():  # as where another intruder has a key left
            assert verdict.sentence == beside["office", name].sentence
        assert (result.passed, verdicts["office", "recoverable"].holds) == (False, False)
        _, several = judged("other", intruders=both, gone=("region", "sex"), thresholds=ALL, sensitive=["ill"])
        assert several["neighbour", "k"].keyless == several["office", "k"].keyless == UNTOLD

    def test_nothing_holds_where_nobody_looked(self):
        result, verdicts = judged("other", intruders={"office": ["region"]}, shuffled=True)
        assert result.undefined == tuple(verdicts.values())
        assert {verdict.reason.partition(",")[0] for verdict in verdicts.values()} == {
            "nothing says which records of the release and of the original belong together"
        }

    def test_documents_have_it(self, tmp_path):
        result, _ = judged("district", intruders={"office": ["region"]}, sensitive=["ill"], household="home")
        told = result.told()
        assert [verdict.holds for verdict in told.verdicts] == [verdict.holds for verdict in result.verdicts]
        data = people().select("region", "sex", "district", "ill")
        scenario = sdc.Scenario(
            intruders={"office": ["region"]},
            aligned=True,
            sensitive=["ill"],
            thresholds={**LIMITS, "residual_risk": 0.1},
        )
        recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": ["region"]}])
        control = data.sample(300, seed=2)
        made = sdc.assess(data, data.drop("region"), scenario=scenario, recipe=recipe, control=control, seed=1)
        open_verdict = next(verdict for verdict in made.verdicts if verdict.name == "residual_risk")
        assert (open_verdict.holds, open_verdict.reason) == (None, "no attack with a residual risk could be made")
        for kind in ("html", "md"):
            made.report(tmp_path / f"out.{kind}")
            made.report(tmp_path / f"inside.{kind}", internal=True)
        assert "All of it was left out of the release" in (tmp_path / "out.md").read_text()
        plans = [frame.with_row_index("id").lazy() for frame in (data, data.drop("region"))]
        on_engine = sdc.assess(*plans, scenario=scenario.changed(aligned=False), recipe=recipe, id="id")
        on_engine.report(tmp_path / "engine.md")


class Judged(dict):
    """What was measured against each intruder, and of a scenario only whether it names a ledger."""

    def __init__(self, ledger: str | None, result: object) -> None:
        super().__init__(office={DIFFERENCING.name: result})
        self.scenario = SimpleNamespace(ledger=ledger)


@pytest.mark.parametrize(
    ("ledger", "result", "expected"),
    [
        ("ledger", SimpleNamespace(entries=()), False),
        ("ledger", SimpleNamespace(entries=("spring",)), True),
        ("ledger", None, True),  # nobody knows
        (None, SimpleNamespace(entries=("spring",)), False),
    ],
)
def test_an_empty_ledger_has_no_earlier_releases(ledger: str | None, result: object, expected: bool) -> None:
    assert _have_earlier([Judged(ledger, result)], "office") is expected
