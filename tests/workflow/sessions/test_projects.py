"""Project files: written with their hierarchies and read again elsewhere; a hostile one is one clear error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit.errors import SdcError
from sdckit.workflow.sessions.answering import Desk
from sdckit.workflow.sessions.hierarchies import by_bands, by_codes, by_values, merge, write_hierarchy
from sdckit.workflow.sessions.projects import FORMAT, LARGEST, load, project_text, read_project, save
from sdckit.workflow.sessions.protecting import make_recipe
from session_files import MARKER, SCENARIO, SECRET, a_desk, make_file

STEP = {"method": "round_to", "arguments": {"column": "age", "base": 5}, "on": False}
SAVED: dict[str, Any] = {"name": "a.csv", "scenario": {"keys": ["age"]}, "steps": [STEP]}
SAVED["versions"] = [{"name": "mine", "why": "", "time": "", "scenario": None, "steps": [STEP], "secret": "5ec4e7"}]


def test_a_project_is_read_as_it_was_written_and_holds_no_secret(tmp_path: Path) -> None:
    text = project_text({**SAVED, "secret": "5ec4e7", "release": {"path": "x"}})
    assert "5ec4e7" not in text
    assert "release" not in text
    file = tmp_path / "project.sdckit"
    file.write_text(text, encoding="utf-8")
    project = read_project(file)
    assert {name: project[name] for name in ("name", "scenario", "steps")} == {
        name: SAVED[name] for name in ("name", "scenario", "steps")
    }
    assert project["versions"][0]["name"] == "mine"
    assert project_text(project) == text
    assert load(Desk(tmp_path), lambda _: None, path=str(file)) == {"waits": True}


def test_a_project_names_no_folder_of_this_machine() -> None:
    files = {
        "ledger": {"folder": "/survey/ledger", "key": "C:\\survey\\key"}, "tables": [{"file": "../survey/counts.csv"}],
        "children": {"file": "/survey/visits.csv", "key": "id", "keys": ["ward"]},
        "hierarchies": {"age": "/survey/a.csv"},
    }  # fmt: skip
    text = project_text({**SAVED, "scenario": {"keys": ["age"], **files}})
    assert "survey" not in text
    assert all(name in text for name in ("ledger", "key", "counts.csv", "visits.csv", "a.csv"))


def test_columns_are_no_files_and_keep_their_names(tmp_path: Path) -> None:
    """``v:id`` reads like a file on a drive of Windows."""
    columns = {"key": "v:id", "keys": ["a:\\ward", "../b"], "time": "t:1"}
    files = {"children": {"file": "/survey/visits.csv", "released": "/out/visits.csv", **columns}}
    files |= {"ledger": {"folder": "/survey/ledger", "key": "/survey/key", "survey": "s:1"}}
    file = tmp_path / "project.sdckit"
    file.write_text(project_text({**SAVED, "scenario": {"keys": ["age"], **files}}), encoding="utf-8")
    scenario = read_project(file)["scenario"]
    assert scenario["children"] == {"file": "visits.csv", "released": ["visits.csv"], **columns}
    assert scenario["ledger"] == {"folder": "ledger", "key": "key", "survey": "s:1"}


OUTSIDE = ("../a.csv", "/etc/passwd", "in/a.csv", "..\\a.csv", "C:\\a.csv", "..", "a\0.csv")
PACKED = {"levels": 1, "lines": [["a", "b"]], "groups": [], "rule": "", "left_out": False}


def up(path: str) -> dict[str, Any]:
    """A step that goes up the hierarchy of a file."""
    return {"method": "recode", "arguments": {"column": "job", "hierarchy": path, "level": 1}, "on": True}


def text_of(**changed: Any) -> str:
    return json.dumps({"format": FORMAT, **SAVED, **changed})


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "3", "[]", "{", "{}", "[" * 100_000, "\ud800" * 0 + '{"format": 3}',
        text_of(scenario=3), text_of(scenario={"no such": 1}), text_of(scenario={"keys": 3}), text_of(steps=3),
        text_of(steps=[3]), text_of(steps=[{**STEP, "method": "nothing"}]), text_of(steps=[{**STEP, "method": 3}]),
        text_of(steps=[{**STEP, "arguments": {"seed": 5}}]), text_of(steps=[{**STEP, "arguments": {"method": "x"}}]),
        text_of(versions=[3]), text_of(versions=None), text_of(versions={"a": 1}), " " * (LARGEST + 1),
        *(text_of(steps=[up(path)]) for path in OUTSIDE),
        *(text_of(versions=[{**SAVED["versions"][0], "steps": [up(path)]}]) for path in OUTSIDE),
        *(text_of(scenario={"keys": ["job"], "hierarchies": {"job": path}}) for path in OUTSIDE),
        *(text_of(hierarchies={path: PACKED}) for path in OUTSIDE),
        text_of(scenario={"keys": ["job"], "tables": {"job": {"file": "../a.csv"}}}),
        text_of(hierarchies=3), text_of(hierarchies=[PACKED]), text_of(hierarchies={"a.csv": 3}),
        text_of(hierarchies={"a.csv": {}}), text_of(hierarchies={"a.csv": {**PACKED, "lines": 3}}),
        *(text_of(hierarchies={"a.csv": {**PACKED, "lines": [line]}}) for line in (3, "ab", ["a"], ["a", 3])),
        text_of(hierarchies={"a.csv": {**PACKED, "groups": [["a", "b"]]}}),
        *(text_of(hierarchies={"a.csv": {**PACKED, "lines": [], "levels": levels}}) for levels in (0, "x", [], None)),
    ],
)  # fmt: skip
def test_what_is_no_project_is_one_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "project.sdckit"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SdcError):
        read_project(file)


def test_a_file_that_is_no_text_or_not_there_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.sdckit").write_bytes(b"PK\x03\x04\xff")
    for name in ("a.sdckit", "none.sdckit", "."):
        with pytest.raises(SdcError):
            read_project(tmp_path / name)


# Hierarchies: what goes, what is built again, what is said to lack.


def tell(_: str) -> None:
    """Nobody listens."""


def moved(desk: Desk, saved: dict[str, Any], folder: Path, **how: Any) -> tuple[dict[str, Any], Desk, dict[str, Any]]:
    """What saving said, a desk of another session with the same file, and the project as that took it up."""
    written = save(desk, tell, saved={"name": "a", "scenario": None, "versions": [], **saved}, **how)
    folder.mkdir()
    other = Desk(folder)
    other.open(str(make_file(folder)), {})
    return written, other, load(other, tell, path=written["path"])


def released(desk: Desk, steps: list[dict[str, Any]]) -> Any:
    """The file that the steps make."""
    return make_recipe(desk, steps).apply(desk.data, secret=SECRET, watch=False).data


def test_lines_of_few_records_stay_out_and_those_of_bands_are_built_again(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    job = write_hierarchy(tmp_path, "job", merge(by_values(desk.data, "job"), 1, ["cook", "smith"], "hands"))
    ages = write_hierarchy(tmp_path, "age", by_bands(desk.data, "age"))
    steps = [up(job), {**up(ages), "arguments": {"column": "age", "hierarchy": ages, "level": 1}}]
    written, other, project = moved(desk, {"scenario": SCENARIO, "steps": steps}, tmp_path / "other")
    text = Path(written["path"]).read_text(encoding="utf-8")
    assert MARKER not in text
    assert Path(written["path"]).name == "project.sdckit"
    assert Path(written["path"]).stat().st_mode & 0o777 == 0o600
    assert not json.loads(text)["confidential"]
    said = f"hierarchy '{job}': <5 of its <5 lines are of values that few records have; they are built again"
    assert written["left_out"][0].startswith(said)
    rare = {age for age, n in desk.data["age"].value_counts().rows() if n < 5}
    assert rare
    kept = [line[0] for line in json.loads(text)["hierarchies"][ages]["lines"]]
    assert not {str(age) for age in rare} & set(kept)
    assert project["notes"] == []
    assert project["steps"] == steps
    assert released(other, project["steps"]).equals(released(desk, steps))


def test_a_version_and_the_scenario_bring_theirs_and_k_may_ask_for_more(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "sexes.csv"
    file.write_text("f;both\nm;both\n", encoding="utf-8")
    scenario = {**SCENARIO, "hierarchies": {"sex": str(file), "ill": "/nowhere/ill.csv"}, "thresholds": {"k": 60}}
    inline = {name: ["work"] for name in desk.data["job"].unique()}
    version = {"name": "v", "why": "", "time": "", "scenario": None, "steps": [up(inline)]}  # type: ignore[arg-type]
    saved = {"scenario": scenario, "steps": [], "versions": [version]}
    written, other, project = moved(desk, saved, tmp_path / "other")
    text = Path(written["path"]).read_text(encoding="utf-8")
    assert MARKER not in text
    assert "nowhere" not in text
    counts = dict(desk.data["job"].value_counts().rows())
    lines = json.loads(text)["hierarchies"]["hierarchy-job.csv"]["lines"]
    assert {line[0] for line in lines} == {name for name, n in counts.items() if n >= 60}
    assert project["scenario"]["hierarchies"] == {"sex": "hierarchy-sexes.csv", "ill": "ill.csv"}
    assert (other.folder / "hierarchy-sexes.csv").is_file()
    (note,) = project["notes"]
    assert note.startswith("hierarchy 'hierarchy-job.csv' lacks values of the file")
    with pytest.raises(SdcError, match="no line of the hierarchy"):
        released(other, project["versions"][0]["steps"])


def test_with_the_rare_lines_it_is_confidential_and_whole(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    job = write_hierarchy(tmp_path, "job", merge(by_values(desk.data, "job"), 1, ["cook", MARKER], "others"))
    written, other, project = moved(desk, {"steps": [up(job)]}, tmp_path / "other", rare=True)
    assert Path(written["path"]).name == "project-confidential.sdckit"
    entries = json.loads(Path(written["path"]).read_text(encoding="utf-8"))
    assert entries["confidential"]
    assert written["left_out"]
    assert project["notes"] == []
    assert (other.folder / job).read_bytes() == (tmp_path / job).read_bytes()
    (other.folder / job).write_text("x;y\n", encoding="utf-8")  # another of that name is left alone
    again = load(other, tell, path=written["path"])
    assert again["steps"][0]["arguments"]["hierarchy"] == "hierarchy-job-2.csv"


def test_codes_are_built_again_also_behind_another_hierarchy_and_without_a_file_all_stays_out(tmp_path: Path) -> None:
    def at(folder: Path) -> Desk:
        folder.mkdir()
        path, desk = folder / "places.csv", Desk(folder)
        places = [1101] * 9 + [1102] * 9 + [1201] * 9 + [2101, 2102, 2201]
        pl.DataFrame({"place": places}).write_csv(path)
        desk.open(str(path))
        return desk

    def step(name: str, level: int) -> dict[str, Any]:
        return {**up(name), "arguments": {"column": "place", "hierarchy": name, "level": level}}

    desk = at(tmp_path / "one")
    first = write_hierarchy(desk.folder, "place", by_codes(desk.data, "place"))
    after = released(desk, [step(first, 1)])
    second = write_hierarchy(desk.folder, "coarser", by_codes(after, "place"))
    steps = [step(first, 1), step(second, 2)]
    saved = {"name": "a", "scenario": None, "steps": steps, "versions": []}
    written = save(desk, tell, saved=saved)
    text = Path(written["path"]).read_text(encoding="utf-8")
    assert not any(code in text for code in ("2101", "2102", "2201", '"220"'))
    other = at(tmp_path / "two")
    project = load(other, tell, path=written["path"])
    assert project["notes"] == []
    assert released(other, project["steps"]).equals(released(desk, steps))
    closed = Desk(desk.folder)
    packed = json.loads(Path(save(closed, tell, saved=saved)["path"]).read_text(encoding="utf-8"))["hierarchies"]
    assert [made["lines"] for made in packed.values()] == [[], []]


def test_lines_that_are_no_hierarchy_are_refused_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "project.sdckit"
    uneven = {**PACKED, "levels": 2, "lines": [["a", "x", "1"], ["b", "x", "2"]]}
    file.write_text(text_of(hierarchies={"a.csv": uneven}), encoding="utf-8")
    desk = a_desk(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SdcError):
        load(desk, tell, path=str(file))
    assert sorted(tmp_path.iterdir()) == before
