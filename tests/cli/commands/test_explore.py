"""``sdckit explore``: a table, a map, and a run that goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sdckit.cli.commands.explore import read_grid
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes import explore as module

Runner = Callable[..., object]
RECIPE = '[[steps]]\nmethod = "pram"\ncolumns = ["region"]\n\n[[steps]]\nmethod = "local_suppression"\nk = 2\n'


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


def test_another_loss_is_a_column_of_its_own(sdckit: Runner, files: tuple[object, ...], tmp_path: Path) -> None:
    recipe = tmp_path / "coarser.toml"
    recipe.write_text('[[steps]]\nmethod = "local_suppression"\nk = 2\n', encoding="utf-8")
    grid = ("--grid", "1.k=2,7", "--loss-figure", "loss", "--plot", tmp_path / "map.svg")
    done = sdckit("explore", recipe, *files[1:], *grid)
    assert (done.code, done.err) == (0, "")
    (heads,) = (line.split() for line in done.out.splitlines() if "pMSE" in line)
    first, second = (line.split() for line in done.out.splitlines() if line.startswith(("1 ", "2 ")))
    assert 0 < float(first[heads.index("loss")]) < float(second[heads.index("loss")])
    assert "a value stands for" in (tmp_path / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "Missing option '--grid'"),
        (("--grid", "2.k"), "--grid takes step.argument"),
        (("--grid", "2.kk=2"), "grid: 2.kk: there is no argument 'kk'"),
        (("--grid", "2.k=2,9999"), "with 2.k = 9999"),
        (("--grid", "2.k=2", "--risk-figure", "r"), "is no figure of the map"),
        (("--grid", "2.k=2", "--plot", "map.pdf"), "a map ends in one of"),
        (("--grid", "2.k=2", "--plot", "no/map.svg"), "its folder 'no' does not exist"),
        (("--grid", "2.k=2", "--plot", "."), "it is a folder"),
        (("--grid", "2.k=2", "--plot", "survey.csv"), "reads this file"),
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


@pytest.mark.parametrize("ending", ["html", "json", "png", "svg"])
def test_a_map_is_written_whole_or_not_at_all(
    sdckit: Runner, files: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    plot = tmp_path / f"map.{ending}"
    plot.write_text("before", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    done = sdckit("explore", *files, "--grid", "2.k=2", "--plot", plot, "-q")
    assert done.code == 2
    assert "could not write the map" in done.err
    assert plot.read_text(encoding="utf-8") == "before"
    assert not [one for one in tmp_path.iterdir() if one.name.endswith(".part")]
    monkeypatch.undo()
    assert sdckit("explore", *files, "--grid", "2.k=2", "--plot", plot, "-q").code == 0
    start = {"html": b"<!DOCTYPE html>", "json": b"{", "png": b"\x89PNG", "svg": b"<svg"}[ending]
    assert plot.read_bytes().startswith(start)


def test_a_map_of_few_records_is_refused_before_work(
    sdckit: Runner, files: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = Path(str(files[1]))
    lines = survey.read_text(encoding="utf-8").splitlines()[:40]
    survey.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(module, "_run_all", lambda *_: pytest.fail("it ran"))
    done = sdckit("explore", *files, "--grid", "2.k=2", "--plot", tmp_path / "map.svg")
    assert done.code == 2
    assert "too few for a map" in done.err
