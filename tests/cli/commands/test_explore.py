"""``sdckit explore``: a table, a map, and a run that goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sdckit.cli.commands.explore import read_grid
from sdckit.errors import ScenarioError

Runner = Callable[..., object]
RECIPE = (
    '[[steps]]\nmethod = "pram"\ncolumns = ["region"]\n\n[[steps]]\nmethod = "local_suppression"\nk = 2\n'
)


@pytest.fixture
def files(tmp_path: Path, survey: Path) -> tuple[object, ...]:
    (tmp_path / "s.toml").write_text('keys = ["sex", "age", "region"]\nweight = "w"\n', encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "recipe.toml", survey, "--scenario", tmp_path / "s.toml"


def test_a_table_a_map_and_its_runs(sdckit: Runner, files: tuple[object, ...], tmp_path: Path) -> None:
    grid = ("--grid", "2.k=2,3", "--grid", "pram.pd=0.5,1.0", "--seed", 1)
    out, plot, runs = tmp_path / "t.csv", tmp_path / "map.svg", tmp_path / "runs.jsonl"
    done = sdckit("explore", *files, *grid, "--out", out, "--plot", plot, "--resume", runs)
    assert (done.code, done.err) == (0, "")
    table = pl.read_csv(out)
    assert table.select("2.k", "pram.pd").rows() == [(2, 0.5), (2, 1.0), (3, 0.5), (3, 1.0)]
    assert out.stat().st_mode & 0o777 == 0o600
    assert "<svg" in plot.read_text(encoding="utf-8")
    assert len(runs.read_text(encoding="utf-8").splitlines()) == 4
    assert "4 recipes" in done.out
    again = sdckit("explore", *files, *grid, "--resume", runs, "--out", tmp_path / "u.csv", "-q")
    assert (again.code, again.out) == (0, "")
    assert (tmp_path / "u.csv").read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "Missing option '--grid'"),
        (("--grid", "2.k"), "--grid takes step.argument"),
        (("--grid", "2.kk=2"), "grid: 2.kk: there is no argument 'kk'"),
        (("--grid", "2.k=2,9999"), "with 2.k = 9999"),
        (("--grid", "2.k=2", "--risk", "r"), "is no figure of the map"),
        (("--grid", "2.k=2", "--plot", "map.pdf"), "a map ends in one of"),
        (("--grid", "2.k=2", "--out", "survey.csv"), "reads this file"),
        (("--grid", "2.k=2", "--resume", "survey.csv"), "reads this file"),
        (("--grid", "2.k=2", "--resume", "r.jsonl"), "needs a seed"),
    ],
)
def test_bad_options(
    sdckit: Runner, files: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    done = sdckit("explore", *files, *more)
    assert done.code == 2
    assert said in done.err


def test_a_grid_is_read_as_toml_or_as_words() -> None:
    assert read_grid(["a.b=true, 'x y'", "c.d=log"]) == {"a.b": [True, "x y"], "c.d": ["log"]}
    with pytest.raises(ScenarioError, match="twice"):
        read_grid(["a.b=1", "a.b=2"])
