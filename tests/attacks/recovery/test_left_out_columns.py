"""Columns that were left out of a release although what goes out tells them: the gate looks at them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.attacks.recovery.left_out_columns import with_left_out

N = 2_000


def people(seed=3):
    """Records of unrelated columns; weights are those of region × sex, districts lie in regions."""
    rng = np.random.default_rng(seed)
    region, sex = rng.choice(8, N, p=[0.4, 0.3, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02]), rng.integers(0, 2, N)
    weights = rng.permutation(np.arange(16) * 7 + 30)
    return pl.DataFrame({
        "region": [f"R{code}" for code in region],
        "district": [f"D{code}" for code in 3 * region + rng.integers(0, 3, N)],
        "sex": sex, "educ": rng.integers(0, 3, N), "weight": weights[2 * region + sex],
        "income": np.round(np.exp(rng.normal(8, 1, N))), "ill": rng.choice(["no", "yes", "no longer"], N),
        "other": rng.integers(0, 6, N),
    })  # fmt: skip


def judged(data, gone, *, recipe=True, **said):
    """Verdicts by name of the release without the columns `gone`."""
    made = sdc.Recipe([{"method": "drop_identifiers", "columns": list(gone)}])
    scenario = sdc.Scenario(aligned=True, **said)
    released = made.apply(data, scenario=scenario, seed=1).data
    result = sdc.check(data, released, scenario=scenario, recipe=made)
    return {verdict.name: verdict for verdict in result.verdicts}


@pytest.mark.filterwarnings("ignore")
class TestKeys:
    KEYS = ("region", "sex", "educ")

    @pytest.mark.parametrize(
        ("shown", "roles"),
        [
            ("weight", {"weight": "weight"}),
            ("district", {"insensitive": ["district"]}),
            ("district", {"sensitive": ["district"]}),
        ],
    )
    def test_what_tells_a_key_left_out_is_held_against_k(self, shown, roles):
        data = people().select(*self.KEYS, shown)
        verdicts = judged(data, ["region"], keys=self.KEYS, thresholds={"k": 50, "recoverable": 0.0}, **roles)
        assert verdicts["k"].holds
        assert verdicts["k_undone"].holds is False
        assert shown in verdicts["k_undone"].because
        below = sdc.k_anonymity(data, keys=self.KEYS, k=[50]).violations[50]
        assert verdicts["k_undone"].n_records == below
        assert verdicts["recoverable"].variable == "region"
        assert "it tells region" in verdicts["recoverable"].remedy

    @pytest.mark.parametrize("role", ["insensitive", "sensitive"])
    def test_two_columns_tell_one_that_neither_does(self, role):
        data = people().select(*self.KEYS, "other")
        data = data.with_columns(part=(pl.col("other") + pl.col("region").str.slice(1).cast(int)) % 8)
        said = {"keys": self.KEYS, role: ["other", "part"], "thresholds": {"k": 50}}
        assert judged(data, ["region"], **said)["k_undone"].because == "other with part"
        assert "k_undone" not in judged(data.with_columns(pl.col("part").shuffle(seed=1)), ["region"], **said)

    def test_districts_tell_their_region_however_few_records_they_have(self):
        data = people().select("sex", "region", "district").with_row_index("row")
        few = pl.col("row") < 24
        data = data.select(
            "sex", region=pl.when(few).then(pl.lit("R9")).otherwise("region"),
            district=pl.when(few).then(pl.format("D9{}", pl.col("row") % 8)).otherwise("district"),
        )  # fmt: skip
        keys = ("region", "sex")
        verdicts = judged(data, ["region"], keys=keys, insensitive=["district"], thresholds={"k": 30})
        assert verdicts["k_undone"].n_records == sdc.k_anonymity(data, keys=keys, k=[30]).violations[30] >= 24

    def test_the_order_of_the_rows_tells_it(self):
        data = people().select(self.KEYS).sort("region")
        assert judged(data, ["region"], keys=self.KEYS, thresholds={"k": 50})["k_undone"].holds is False

    @pytest.mark.parametrize("shown", [[], ["other"]])
    def test_it_is_not_judged_where_rows_are_not_brought_together_and_others_go_out(self, shown):
        data = people().select(*self.KEYS, *shown).sample(fraction=1.0, shuffle=True, seed=1)
        scenario = sdc.Scenario(keys=self.KEYS, insensitive=shown, thresholds={"k": 2, "risk": 0.9})
        made = sdc.Recipe([{"method": "drop_identifiers", "columns": ["region"]}])
        verdicts = sdc.check(data, data.drop("region"), scenario=scenario, recipe=made).verdicts
        assert {verdict.name: verdict.holds for verdict in verdicts} == {
            "k": True, "risk": True, **dict.fromkeys(["k_undone", "risk_undone"] if shown else [])
        }  # fmt: skip

    @pytest.mark.parametrize("seed", range(3))
    def test_what_has_nothing_to_do_with_it_does_not(self, seed):
        data = people(seed).select(*self.KEYS, "other", "income", "ill")
        verdicts = judged(
            data, ["region"], keys=self.KEYS, insensitive=["other", "income", "ill"], thresholds={"k": 50}
        )
        assert {name: verdict.holds for name, verdict in verdicts.items()} == {"k": True}


@pytest.mark.filterwarnings("ignore")
class TestNumbers:
    @pytest.mark.parametrize("make", [lambda x: x, lambda x: (x / 100).round(), np.log])
    def test_a_number_that_another_column_is_or_nearly_is(self, make):
        data = people().select("sex", "educ", "income", other=make(pl.col("income")))
        verdicts = judged(
            data, ["income"], keys=["sex", "educ"], magnitudes=["income"], insensitive=["other"],
            thresholds={"exact_numbers": 0.0},
        )  # fmt: skip
        assert verdicts["exact_numbers_undone"].holds is False

    def test_one_that_none_tells(self):
        data = people().select("sex", "educ", "income", "other", "weight")
        verdicts = judged(
            data, ["income"], keys=["sex", "educ"], magnitudes=["income"], insensitive=["other", "weight"],
            thresholds={"exact_numbers": 0.0},
        )  # fmt: skip
        assert [verdict.word for verdict in verdicts.values()] == ["holds"]

    @pytest.mark.parametrize("shown", [[], ["other"]])
    def test_one_is_not_judged_where_rows_are_not_brought_together_and_other_numbers_go_out(self, shown):
        named = [pl.format("no {}", name).alias(name) for name in ("sex", "educ")]
        data = people().select(*named, "income", *shown)
        scenario = sdc.Scenario(
            keys=["sex", "educ"], magnitudes=["income"], insensitive=shown, thresholds={"exact_numbers": 0.0}
        )
        verdicts = sdc.check(data, data.drop("income"), scenario=scenario).verdicts
        assert {verdict.name: verdict.holds for verdict in verdicts} == {
            "exact_numbers": True, **({"exact_numbers_undone": None} if shown else {})
        }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
class TestSensitive:
    def data(self):
        return people().with_columns(ill=pl.when(pl.col("educ") == 2).then(pl.lit("yes")).otherwise("ill")).select(
            "sex", "educ", "ill", code=pl.col("ill").replace_strict({"no": 5, "yes": 2, "no longer": 9})
        )  # fmt: skip

    def test_l_is_open_where_a_code_tells_the_variable_and_groups_have_one_value(self):
        said = {"keys": ["sex", "educ"], "sensitive": ["ill"], "thresholds": {"l": 2}}
        verdicts = judged(self.data(), ["ill"], insensitive=["code"], **said)
        assert verdicts["l"].holds is None
        assert "code" in verdicts["l"].reason
        verdicts = judged(self.data(), ["ill", "code"], insensitive=["code"], **said)
        assert verdicts["l"].holds

    def test_l_is_open_where_the_order_of_the_rows_tells_the_variable(self):
        said = {"keys": ["sex", "educ"], "sensitive": ["ill"], "thresholds": {"l": 2}}
        verdicts = judged(self.data().drop("code").sort("ill"), ["ill"], **said)
        assert verdicts["l"].holds is None
        assert "order" in verdicts["l"].reason

    def test_l_is_open_where_nobody_looked_since_rows_are_not_brought_together(self):
        data, keys = self.data().sample(fraction=1.0, shuffle=True, seed=1), ["sex", "educ"]
        scenario = sdc.Scenario(keys=keys, sensitive=["ill"], insensitive=["code"], thresholds={"l": 2})
        assert [verdict.holds for verdict in sdc.check(data, data.drop("ill"), scenario=scenario).verdicts] == [None]
        (verdict,) = sdc.check(data, data.select(keys), scenario=scenario).verdicts  # nothing that could tell it
        assert verdict.holds

    def test_what_a_column_of_its_own_limit_tells_is_no_value_given_back(self):
        data = people().select("sex", "educ", "ill", school=pl.col("educ").replace_strict({0: "a", 1: "b", 2: "c"}))
        verdicts = judged(
            data, ["school"], keys=["sex", "educ"], sensitive=["ill", "school"],
            thresholds={"k": 5, "recoverable": 0.1},
        )  # fmt: skip
        assert verdicts["recoverable"].holds is None  # nothing was changed


@pytest.mark.filterwarnings("ignore")
def test_a_column_of_shares_beside_one_that_was_left_out_has_no_totals_of_that():
    shares = np.random.default_rng(1).random(N)
    data = people().select("sex", "educ", "income", rate=pl.Series(shares))
    verdicts = judged(
        data, ["income"], keys=["sex", "educ"], magnitudes=["income"], insensitive=["rate"],
        thresholds={"exact_numbers": 0.0},
    )  # fmt: skip
    assert verdicts["exact_numbers"].holds


@pytest.mark.filterwarnings("ignore")
def test_rows_of_one_person_that_stand_together_do_not_tell_what_is_hers():
    people_of = np.repeat(np.arange(250), 8)
    rng = np.random.default_rng(2)
    data = pl.DataFrame({
        "person": people_of, "race": rng.choice(["a", "b"], 250, p=[0.85, 0.15])[people_of],
        "year": np.tile(np.arange(8), 250), "job": rng.integers(0, 5, 2_000),
    })  # fmt: skip
    verdicts = judged(data, ["race"], keys=["race", "job"], insensitive=["person", "year"], thresholds={"k": 3})
    assert {name: verdict.holds for name, verdict in verdicts.items()} == {"k": True}


def test_nothing_is_looked_for_where_nothing_was_left_out():
    data = people().select("region", "sex", "educ")
    result = sdc.recoverable_values(data, data, keys=["region", "sex"])
    same = with_left_out(result, ["income"], keys=(), judged=(), time=None, seed=0, k=[3], risk=None)
    assert same is result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("told", [True, False])
def test_l_is_open_where_a_suppressed_key_that_is_given_back_leaves_groups_with_one_value(told: bool) -> None:
    """All of the last region are ill alike, and it is suppressed with half of another: its districts part them."""
    rng = np.random.default_rng(5)
    region, sex = rng.choice(6, 3_000, p=[0.4, 0.3, 0.15, 0.1, 0.03, 0.02]), rng.integers(0, 2, 3_000)
    data = pl.DataFrame({
        "region": [f"R{code}" for code in region], "sex": sex,
        "ill": np.where(region == 5, "c", rng.choice(["a", "b", "c"], 3_000)),
        "district": [f"D{code}" for code in 3 * region + rng.integers(0, 3, 3_000)],
    }).drop([] if told else ["district"])  # fmt: skip
    hidden = (pl.col("region") == "R5") | ((pl.col("region") == "R4") & (pl.int_range(pl.len()) % 2 == 0))
    released = data.with_columns(region=pl.when(~hidden).then("region"))
    scenario = sdc.Scenario(
        keys=["region", "sex"], sensitive=["ill"], insensitive=["district"] if told else [], aligned=True,
        thresholds={"k": 3, "l": 2},
    )  # fmt: skip
    verdicts = {verdict.name: verdict for verdict in sdc.check(data, released, scenario=scenario).verdicts}
    assert verdicts["k"].holds
    assert verdicts["l"].holds is (None if told else True)
    assert not told or "district" in verdicts["l"].reason
    alone = sdc.check(data, released, scenario=scenario.changed(thresholds={"l": 2})).verdicts
    assert [verdict.holds for verdict in alone] == [verdicts["l"].holds]
