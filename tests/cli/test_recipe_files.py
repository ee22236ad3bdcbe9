"""What the commands share that change files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from cli.conftest import make_survey
from recipes import STEPS
from sdckit.cli.options import ReleaseType
from sdckit.cli.recipe_files import check_format, codes_of, next_commands, refuse_old_logs, scenario_of
from sdckit.cli.source import Reading
from sdckit.errors import FileFormatError, ScenarioError
from sdckit.report.chapters.decision import TOGETHER
from sdckit.workflow.recipes.release_files import write_release


def test_the_scenario_of_the_option_wins(tmp_path: Path) -> None:
    for name, key in (("a.toml", "sex"), ("b.toml", "job")):
        (tmp_path / name).write_text(f'keys = ["{key}"]\nmissing_codes = ["-9"]\n', encoding="utf-8")
    recipe = sdc.Recipe(STEPS, scenario="a.toml", folder=tmp_path)
    own, other = scenario_of(recipe, None), scenario_of(recipe, tmp_path / "b.toml")
    assert (own.keys, other.keys) == (("sex",), ("job",))
    assert scenario_of(sdc.Recipe(STEPS), None) is None
    assert list(codes_of(None, own)) == ["-9"]
    assert list(codes_of(["NA"], own)) == ["NA"]
    assert list(codes_of(None, None)) == []


def test_formats(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("a\n1\n", encoding="utf-8")
    check_format(tmp_path / "b.csv", source, excel_safe=True)
    with pytest.raises(FileFormatError, match="never overwritten"):
        check_format(source, source, excel_safe=False)


# What a command names to go on with runs as it is printed: with the options that it was given itself.


SEMICOLONS = ("--delimiter", ";", "--missing", "N", "--missing=-9")
TYPE = ("--release-type", "scientific-use")


@pytest.mark.parametrize("command", [("recipe", "init"), ("propose",)])
@pytest.mark.parametrize("given", [(), SEMICOLONS])
@pytest.mark.parametrize("folder_of", ["", "in a folder"])
def test_the_commands_that_follow_run(
    command: tuple[str, ...], given: tuple[str, ...], folder_of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    sdckit: Runner,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path(folder_of).mkdir(exist_ok=True)
    survey = pl.DataFrame({"sex": ["f", "m", "N", "f"] * 30, "age": [20, 30, -9, 30] * 30, "income": [1, 2, 3, 4] * 30})
    survey.write_csv(Path(folder_of, "our survey.csv"), separator=";" if given else ",")
    Path(folder_of, "s.toml").write_text(
        'keys = ["sex", "age"]\nsensitive = ["income"]\nsampling_fraction = 0.1\nhousehold = "none"\n'
    )
    files = [Path(folder_of, name) for name in ("our survey.csv", "s.toml", "r.toml")]
    out = sdckit(*command, files[0], "--scenario", files[1], "--out", files[2], *given, *TYPE)
    assert out.code in (0, 1), out.out
    protect, check = (shlex.split(line)[1:] for line in out.out.splitlines() if line.startswith("  sdckit "))
    assert sdckit(*protect).code == 0
    assert Path("safe.csv").is_file()
    checked = sdckit(*check)
    assert checked.code == 0, checked.out + checked.err
    assert "limit of a scientific-use file" in " ".join(checked.out.split())
    report, public = (shlex.split(line)[1:] for line in checked.out.splitlines() if line.startswith("  sdckit "))
    for command_named in (report, public):
        done = sdckit(*command_named)
        assert done.code == 0, done.err
    assert Path("report.html").is_file()
    assert (public[1], public[-1]) == ("safe.csv", "safe-public.html")
    assert TOGETHER not in Path("safe-public.html").read_text(encoding="utf-8")
    in_the_recipe = (line[2:] for line in files[2].read_text().splitlines() if line.startswith("#   sdckit "))
    assert [*in_the_recipe] == [line for line in out.out.splitlines() if line.startswith("  sdckit ")]


def test_the_release_of_a_file_with_labels_keeps_them(sdckit: Runner, folder: Path) -> None:
    survey = pl.DataFrame({"sex": ["f", "m"] * 60, "age": [20, 30, 40, 30] * 30, "income": [1, 2, 3, 4] * 30})
    sdc.write_file(survey, "our.sav", labels={"sex": "Sex of the person"})
    roles = 'keys = ["sex", "age"]\nsensitive = ["income"]\nsampling_fraction = 0.1\nhousehold = "none"\n'
    Path("s.toml").write_text(roles)
    out = sdckit("recipe", "init", "our.sav", "--scenario", "s.toml", "--out", "l.toml", *TYPE)
    assert out.code in (0, 1), out.err
    protect, check = (shlex.split(line)[1:] for line in out.out.splitlines() if line.startswith("  sdckit "))
    assert sdckit(*protect).code == sdckit(*check).code == 0
    assert sdc.read_labels("safe.sav").variables == {"sex": "Sex of the person"}


@pytest.mark.parametrize(
    ("file", "released"), [("a.parquet", "safe.parquet"), ("a.tsv", "safe.tsv"), ("a.xpt", "safe.csv")]
)
def test_the_release_is_of_the_format_of_the_file_where_that_is_written(file: str, released: str) -> None:
    protect, check = next_commands("r.toml", Reading(file=Path(file)), ReleaseType(), Path("s.toml"))
    assert protect.endswith(f" --out {released} --log log.json")
    assert f"--released {released} " in check


def test_what_is_not_judged_is_not_said_to_hold(sdckit: Runner, folder: Path) -> None:
    Path("s.toml").write_text('keys = ["sex", "age"]\nsampling_fraction = 0.1\n')  # it says nothing of households
    proposed = sdckit("propose", "survey.csv", "--scenario", "s.toml", "--out", "p.toml", *TYPE)
    assert proposed.code == 2
    assert "p.toml has a first recipe that holds every threshold that can be judged: " in proposed.out
    assert "steps. Not judged: household_risk" in proposed.out
    begun = sdckit("recipe", "init", "survey.csv", "--scenario", "s.toml", "--out", "i.toml", *TYPE)
    assert "Not judged: household_risk" in begun.out
    assert "hold every" not in begun.out + proposed.out.replace("holds every threshold that", "")


# No log stays beside a release that it does not tell of, whatever is replaced and whatever stops the
# program.


Runner = Callable[..., Any]
RECIPE = '[[steps]]\nmethod = "pram"\ncolumns = ["income"]\npd = 0.5\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_survey().write_csv("survey.csv")
    Path("r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


PROTECT = ("protect", "r.toml", "survey.csv", "-q", "--out")


@pytest.mark.parametrize("command", [PROTECT, ("synthesize", "survey.csv", "-q", "--identifiers", "name", "--out")])
def test_a_release_is_replaced_when_forced_and_its_log_with_it(
    command: tuple[str, ...], sdckit: Runner, folder: Path
) -> None:
    assert sdckit(*command, "o.csv", "--log", "log.json").code == 0
    older = [Path(name).read_bytes() for name in ("o.csv", "log.json")]
    for more in ([], ["--log", "log.json"]):
        done = sdckit(*command, "o.csv", *more)
        assert (done.code, done.out) == (2, "")
        assert done.err == "error: o.csv exists already; --force replaces it, or name another\n"
    done = sdckit(*command, "new.csv", "--log", "log.json")
    assert done.err == "error: log.json exists already; --force replaces it, or name another\n"
    for more in ([], ["--log", "other.json"]):
        done = sdckit(*command, "o.csv", "--force", *more)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: log.json is the log of an older o.csv and would be left beside the new")
    assert [Path(name).read_bytes() for name in ("o.csv", "log.json")] == older
    assert sdckit(*command, "o.csv", "--log", "log.json", "--force").code == 0
    assert all(Path(name).read_bytes() != one for name, one in zip(("o.csv", "log.json"), older, strict=True))


def test_also_where_the_older_release_is_gone(sdckit: Runner, folder: Path) -> None:
    assert sdckit(*PROTECT, "o.csv", "--log", "log.json").code == 0
    Path("o.csv").unlink()
    done = sdckit(*PROTECT, "o.csv")
    assert done.code == 2
    assert "--log log.json replaces both, or move it away" in done.err
    assert not Path("o.csv").exists()
    assert sdckit(*PROTECT, "o.csv", "--replay", "log.json").code == 0  # it is the log of that, too


def test_logs_of_other_files_and_what_is_no_log_do_not_matter(folder: Path) -> None:
    for name, text in {
        "a.json": json.dumps({"format": "sdckit/recipe-log", "released": ["other.csv"]}),
        "b.json": json.dumps({"format": "another", "released": ["o.csv"]}),
        "c.json": '{"format": "sdckit/recipe-log", "released": [',
        "d.json": json.dumps({"format": "sdckit/recipe-log", "released": 5}),
        "e.json": json.dumps({"format": "sdckit/recipe-log"}),
    }.items():
        Path(name).write_text(text, encoding="utf-8")
    (folder / "f.json").mkdir()
    refuse_old_logs([Path("o.csv")], replaced=())
    with pytest.raises(ScenarioError, match=r"a\.json is the log of an older other\.csv"):
        refuse_old_logs([Path("o.csv"), Path("other.csv")], replaced=(None, Path("b.json")))
    refuse_old_logs([Path("other.csv")], replaced=(folder / "a.json",))


class Stopped(BaseException):
    """The program ends here."""


@pytest.mark.parametrize("log", [True, False])
def test_wherever_it_stops_no_file_has_the_log_of_another(
    log: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is stopped before each change of a name in the folder, one after the other."""
    data = make_survey().drop("name")
    frames = {"old": data, "new": data.with_columns(sex=pl.lit("x"))}
    logs = {name: sdc.Recipe.from_toml("r.toml").apply(data).log for name in frames}

    def write(name: str) -> None:
        path = Path("log.json") if log else None
        write_release(
            [frames[name]] * 2,
            Path("o.csv"),
            log=logs[name],
            log_path=path,
            sources=[],
            excel_safe=False,
            labels=sdc.FileLabels(),
        )

    stops = 0
    while True:
        write("old")
        changes = {"left": stops}
        with monkeypatch.context() as patched:
            for method in ("replace", "unlink"):
                patched.setattr(Path, method, _stopping(getattr(Path, method), changes))
            try:
                write("new")
            except Stopped:
                stops += 1
            else:
                break
        is_new = [pl.read_csv(f"o_{j}.csv")["sex"][0] == "x" for j in (1, 2) if Path(f"o_{j}.csv").exists()]
        if log:
            secret = json.loads(Path("log.json").read_text(encoding="utf-8"))["secret"]
            assert all(one == (secret == logs["new"].secret) for one in is_new)
        else:
            assert len(is_new) == 2
    assert stops >= (5 if log else 2)
    assert log or not Path("log.json").exists()


def _stopping(real: Callable[..., Any], changes: dict[str, int]) -> Callable[..., Any]:
    def changed(self: Path, *given: Any, **named: Any) -> Any:
        target = Path(given[0]) if given else self
        if target.name in {"o_1.csv", "o_2.csv", "log.json"}:
            if not changes["left"]:
                raise Stopped
            changes["left"] -= 1
        return real(self, *given, **named)

    return changed
