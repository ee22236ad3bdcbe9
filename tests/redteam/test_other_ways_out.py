"""What leaves the room besides a release and its documents: a second release, a log for others, a published matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.cli.app import run
from sdckit.errors import DataError
from sdckit.workflow.sessions import taking_away
from sdckit.workflow.sessions.answering import Desk

SECRET = "5a" * 32
PLAIN: dict[str, Any] = {"keys": ["sex"], "sensitive": ["ill"], "household": "none", "magnitudes": []}


def hospital(n: int = 400) -> pl.DataFrame:
    """Patients with a number, an exact cost and an illness; two have the rarest."""
    rng = np.random.default_rng(3)
    return pl.DataFrame({
        "patient": rng.permutation(n) + 1001, "sex": rng.choice(["f", "m"], n), "w": rng.integers(5, 40, n) / 1.0,
        "ill": [*["rare"] * 2, *rng.choice(["no", "flu", "hiv"], n - 2, p=[0.7, 0.25, 0.05])],
        "cost": rng.lognormal(8, 1, n).round(2),
    })  # fmt: skip


def noisy(level: float) -> list[dict[str, Any]]:
    return [
        {"method": "new_ids", "column": "patient"},
        {"method": "add_noise", "columns": ["cost"], "noise": level},
        {"method": "random_order"},
    ]


def given_back(first: pl.DataFrame, second: pl.DataFrame, original: pl.DataFrame) -> tuple[float, int]:
    """Of a release with twice the noise of another: exact costs as both give them, and new numbers that both have."""
    costs = set(original["cost"].to_list())
    without = (2 * first["cost"] - second["cost"]).round(2).to_list()
    return float(np.mean([cost in costs for cost in without])), len({*first["patient"]} & {*second["patient"]})


def taken(desk: Desk, scenario: dict[str, Any], steps: list[dict[str, Any]]) -> pl.DataFrame:
    plain = [
        {"method": step["method"], "arguments": {name: entry for name, entry in step.items() if name != "method"}}
        for step in steps
    ]
    how: dict[str, Any] = {"scenario": scenario, "secret": SECRET, "accepted": True, "kind": ".parquet"}
    found = taking_away.prepare(desk, lambda _: None, steps=plain, **how)
    return pl.read_parquet(found["files"][0]["path"])


def test_two_releases_of_one_session_give_no_value_back_and_are_not_joined(tmp_path: Path) -> None:
    """One for everybody with more noise, one under contract with less: both told 400 of 400 costs, row by row."""
    original = hospital()
    original.write_parquet(tmp_path / "hospital.parquet")
    (desk := Desk(tmp_path)).open(str(tmp_path / "hospital.parquet"))
    first, second = (taken(desk, PLAIN, noisy(level)) for level in (20.0, 40.0))
    back, shared = given_back(first, second, original)
    assert back < 0.05
    assert shared == 0
    assert taken(desk, PLAIN, noisy(20.0)).equals(first)  # the same steps draw the same


def test_two_releases_of_one_recipe_under_other_roles_or_of_another_file_are_not_joined(tmp_path: Path) -> None:
    original = hospital()
    original.write_parquet(tmp_path / "hospital.parquet")
    (desk := Desk(tmp_path)).open(str(tmp_path / "hospital.parquet"))
    first, other_roles = (taken(desk, scenario, noisy(20.0)) for scenario in (PLAIN, {**PLAIN, "numeric": ["cost"]}))
    original.with_columns(cost=pl.col("cost") + 1).write_parquet(tmp_path / "later.parquet")
    desk.open(str(tmp_path / "later.parquet"))
    later = taken(desk, PLAIN, noisy(20.0))
    for other in (other_roles, later):
        assert not {*first["patient"]} & {*other["patient"]}
        assert (first["ill"] == other["ill"]).mean() < 0.9


def test_one_secret_for_two_recipes_gives_the_values_back_and_the_page_says_so(tmp_path: Path) -> None:
    """In Python a secret can be given; where it no longer tells the values, the page need not warn."""
    original = hospital()
    with quiet():
        made = [sdc.Recipe(noisy(level)[1:]).apply(original, secret=SECRET, watch=False).data for level in (20.0, 40.0)]
    assert given_back(*made, original)[0] > 0.99
    page = (Path(__file__).parents[2] / "docs" / "seeds.md").read_text(encoding="utf-8")
    assert "A secret is for one release" in page


NOT_WEIGHTS = {"missing": (None, "missing"), "negative": (-1.0, "zero or negative")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", NOT_WEIGHTS)
def test_an_error_of_a_log_for_others_tells_no_small_count_and_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    value, words = NOT_WEIGHTS[how]
    frame = hospital().with_columns(w=pl.when(pl.int_range(pl.len()).is_in([3, 9])).then(value).otherwise("w"))
    frame.write_csv(tmp_path / "hospital.csv")
    scenario = sdc.Scenario(**PLAIN, weight="w", thresholds={"risk": 0.1})
    (tmp_path / "s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    line = ["check", "hospital.csv", "--scenario", "s.toml"]
    assert (run(line), run([*line, "--protected"])) == (2, 2)
    exact, protected = capfd.readouterr().err.strip().splitlines()
    assert f"'w': 2 {words}" in exact
    assert "rows 4, 10" in exact
    with pytest.raises(DataError) as raised:
        sdc.assert_within_limits(frame, scenario=scenario)
    for text in (protected, str(raised.value)):
        assert f"'w': <5 {words}" in text
        assert "rows not shown" in text


def test_a_refused_matrix_of_masked_categories_names_none_of_them() -> None:
    frame = hospital().with_columns(masked="ill")
    with pytest.raises(DataError, match="4 rows of 4 that sum to 1") as raised:
        sdc.impute_masked(frame, masked={"ill": "masked"}, error={"ill": [[1.0]]})
    assert not [level for level in frame["ill"].unique() if level in str(raised.value).split("; ")[1]]


@pytest.mark.filterwarnings("ignore")
def test_new_identifiers_of_sorted_records_are_said_to_be_told_by_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever knows the numbers of all patients finds everybody by their rank; mixed, hardly anybody."""
    monkeypatch.chdir(tmp_path)
    original, step = hospital(), '[[steps]]\nmethod = "new_ids"\ncolumn = "patient"\n'
    original.write_csv("drawn.csv")
    original.sort("patient").write_csv("upwards.csv")
    original.sort("patient", descending=True).write_csv("downwards.csv")
    Path("plain.toml").write_text(step, encoding="utf-8")
    Path("mixed.toml").write_text(f'{step}[[steps]]\nmethod = "random_order"\n', encoding="utf-8")

    def by_rank(recipe: str, file: str) -> tuple[float, bool]:
        assert run(["protect", f"{recipe}.toml", f"{file}.csv", "--out", "made.csv", "--force"]) == 0
        ranked = original.sort("patient", descending=file == "downwards")["cost"]
        said = "in the order of the old patient" in capfd.readouterr().out
        return float((pl.read_csv("made.csv")["cost"] == ranked).mean() or 0), said

    assert by_rank("plain", "upwards") == by_rank("plain", "downwards") == (1.0, True)
    for recipe, file in (("mixed", "upwards"), ("plain", "drawn")):
        known, said = by_rank(recipe, file)
        assert known < 0.05
        assert not said


def test_an_invariant_matrix_tells_the_count_of_every_level_and_the_page_says_so() -> None:
    """So its place is the secret alone; one that is made without the data tells none."""
    original = hospital()
    true = dict(original["ill"].value_counts().rows())
    change = sdc.pram(original, columns=["ill"]).change
    (rows,) = change.secret["matrix"]["ill"]
    values, vectors = np.linalg.eig(np.array([[rows[level][to] for to in rows] for level in rows]).round(6).T)
    shares = vectors[:, np.abs(values - 1).argmin()].real
    assert dict(zip(rows, (400 * shares / shares.sum()).round().astype(int).tolist(), strict=True)) == true
    assert true["rare"] == 2
    assert change.to_dict()["parameters"]["matrix"] == "drawn"
    assert "secret" not in change.to_dict()
    page = (Path(__file__).parents[2] / "docs" / "protect" / "pram.md").read_text(encoding="utf-8")
    assert "An invariant matrix, the default, must not be published" in page
    staying = dict.fromkeys(true, 0.8)
    both = [
        sdc.pram(frame, columns=["ill"], pd={"ill": staying}, invariant=False).change.secret["matrix"]
        for frame in (original, original.head(200))
    ]
    assert both[0] == both[1]


def test_sarif_of_a_comparison_is_tried_beside_the_release_and_the_page_warns_of_it(tmp_path: Path) -> None:
    """Of a value that was taken out, the others known, the true one alone gives this log in some cases."""
    rng, n, keys = np.random.default_rng(2), 200, ["sex", "age", "region"]
    original = pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "age": rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]),
        "region": rng.choice(list("NSEW"), n, p=[0.5, 0.3, 0.15, 0.05]),
        "ill": rng.choice(["no", "flu", "hiv"], n, p=[0.7, 0.25, 0.05]),
    })  # fmt: skip
    limits = {"match_risk": 0.01, "few_matches": 0.001, "replicated_uniques": 0.001, "correctly_disclosed": 0.01}
    scenario = sdc.Scenario(
        keys=keys, household="none", magnitudes=[], sensitive=["ill"], aligned=True, thresholds=limits
    )
    released = sdc.local_suppression(original, keys=keys, k=3).data

    def log(frame: pl.DataFrame) -> str:
        with quiet():
            sdc.check(frame, released, scenario=scenario, seed=1).to_sarif(tmp_path / "log.sarif", file="a.csv")
        return (tmp_path / "log.sarif").read_text(encoding="utf-8")

    true, alone = log(original), 0
    gone = [(row, name) for name in keys for row in np.flatnonzero(released[name].is_null().to_numpy()).tolist()]
    for row, name in gone:
        others = [value for value in original[name].unique().sort() if value != original[name][row]]
        at_row = pl.int_range(pl.len()) == row
        tried = [original.with_columns(pl.when(at_row).then(pl.lit(value)).otherwise(name).alias(name))
                 for value in others]  # fmt: skip
        alone += all(log(other) != true for other in tried)
    page = (Path(__file__).parents[2] / "docs" / "gates.md").read_text(encoding="utf-8")
    assert alone > 0  # where a log tells none of them any more, the page need not say it
    assert "A comparison with the original is a document of the original, in SARIF" in page
