"""README and every page of the documentation run from top to bottom, each in a folder of its own.

Examples print what the page says, programs and commands end as they should and write what they name, tables
of TOML are scenarios. What a page supposes to be there is made by its stage (`stages.py`).
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit
from pages import FENCED, PAGES, Part, arguments, named_commands, parts, run_example, written
from sdckit.cli.app import command_tree, run
from stages import STAGES, Names
from tree import ROOT, none_offends

# The gallery's calls are run, and drawn, by `test_site.py`.
RUN = [page for page in PAGES if parts(page) and page.stem != "gallery"]
GUIDES = sorted((ROOT / "docs").glob("*.md"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# How the gates of a page end: 1, a limit exceeded; 2, a scenario that nobody confirmed. All else ends with 0.
GATES = {
    "panels": [1],
    "differencing": [0],
    "gates": [1, 1],
    "README": [1, 0],
    "from-r-stata-sas-spss": [0],
    "from-raw-to-released": [0],
    "good-and-safe": [1],
    "release-against-original": [1, 1],
    "release-types": [1],
    "scenarios": [2],
    "simulated-attacks": [1],
    "start": [0],
}
# of benchmarks, pytest and podman
OF_OTHERS = {"--against", "--steps", "--dist", "--network", "--tmpfs", "--userns", "--read-only", "--cap-drop"}
PROMISE = "a test runs the page"


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    # What is wrong with a file is said before; the server itself is tried in tests/app.
    monkeypatch.setattr("sdckit.cli.commands.app.become", lambda _: 0)
    monkeypatch.chdir(here)
    names: Names = {}
    gates = iter(GATES.get(page.stem, []))
    failed: list[str] = []
    before = "example"
    for part in parts(page):
        if part.kind != "example" and before == "example" and page.stem in STAGES:
            STAGES[page.stem](names, here)
        before = part.kind
        failed += [f"line {part.line}: {one}" for one in run_part(part, page, names, gates)]
    assert not failed, "\n".join(failed)
    assert next(gates, None) is None, "the page has fewer gates than it had"


def run_part(part: Part, page: Path, names: Names, gates: Iterator[int]) -> list[str]:
    """Run one part; what is not as the page says."""
    if part.kind == "example":
        said = run_example(part, page, names)
        return [said] if said else []
    if part.kind == "program":
        exec(part.text, names)
        return []
    if part.kind == "table":
        table = tomllib.loads(part.text)
        if "steps" in table:  # a recipe, which the page's commands take by this name
            Path("recipe.toml").write_text(part.text, encoding="utf-8")
            sdckit.Recipe.from_toml("recipe.toml")
        elif "columns" in table:  # a domain
            Path("domain.toml").write_text(part.text, encoding="utf-8")
            sdckit.Domain.from_toml("domain.toml")
        else:
            sdckit.Scenario(**{"keys": ["age"], **table})
        return []
    files = [Path(name) for name in written(part.text)]
    for file in files:
        file.unlink(missing_ok=True)
    words = arguments(part.text)
    expected = next(gates, 0) if words[0] == "check" else 0
    code = run(words)
    wrong = [] if code == expected else [f"{part.text}\n  ended with {code}, not {expected}"]
    return wrong + [f"{part.text}\n  wrote no {file}" for file in files if not file.exists()]


def examples(page: Path) -> int:
    return sum(part.text.count(">>> ") for part in parts(page) if part.kind == "example")


def test_a_page_that_promises_examples_has_them() -> None:
    promising = [page for page in PAGES if PROMISE in page.read_text(encoding="utf-8")]
    assert len(promising) > 8
    none_offends((page for page in promising if examples(page) < 5), "a page with figures has their code")
    methods = sorted((ROOT / "docs" / "protect").glob("*.md"))
    none_offends((page for page in methods if examples(page) < 5), "a method of protection is shown on its page")


def outside(page: Path) -> bool:
    """Whether an example stands where nothing runs it."""
    text = page.read_text(encoding="utf-8")
    return ">>> " in FENCED.sub(lambda match: "" if match[1] == "python" else match[0], text)


def test_examples_and_commands_stand_in_blocks_that_run() -> None:
    none_offends(filter(outside, PAGES), "an example stands in a block of Python")
    languages = {match[1] for page in PAGES for match in FENCED.finditer(page.read_text(encoding="utf-8"))}
    assert languages == {"", "python", "r", "toml", "yaml"}


def test_the_title_of_a_method_is_its_name() -> None:
    none_offends(
        (
            page
            for page in sorted((ROOT / "docs" / "protect").glob("*.md"))
            if not page.read_text(encoding="utf-8").startswith(f"# `{page.stem}`") or not hasattr(sdckit, page.stem)
        ),
        "a page on a method begins with its public name",
    )


def test_the_readme_leads_to_every_guide() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for_developers = {"json-schema"}  # the pages of measures lead there
    none_offends(
        (page for page in GUIDES if page.stem not in for_developers and f"docs/{page.name}" not in text),
        "README leads to every guide",
    )


def options_of(words: list[str]) -> set[str]:
    """The options of the command that a line calls, in a group where it is in one."""
    found: Any = command_tree()
    for word in words:
        if word not in getattr(found, "commands", {}):
            break
        found = found.commands[word]
    return {name for one in found.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}


def unknown(line: str) -> list[str]:
    """The options of a line that its command does not have."""
    words = arguments(line)
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return [f"{line}: {name}" for name in sorted(used - options_of(words))]


def test_every_command_named_has_its_options() -> None:
    lines = {line for page in PAGES for line in named_commands(page)}
    assert len(lines) > 40
    none_offends((one for line in sorted(lines) for one in unknown(line)), "a command has its options")


def all_options(command: Any) -> set[str]:
    """The options of a command and of those in it."""
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return own.union(*(all_options(one) for one in getattr(command, "commands", {}).values()))


def test_every_option_named_exists() -> None:
    known = all_options(command_tree()) | OF_OTHERS | {"--help"}
    assert len(known) > 60
    none_offends(
        (
            f"{page.relative_to(ROOT)}: {name}"
            for page in PAGES
            for name in re.findall(r"`(--[a-z][a-z-]*)", page.read_text(encoding="utf-8"))
            if name not in known
        ),
        "an option that a page names is one of a command",
    )


def test_what_make_and_pip_are_asked_for_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    none_offends(
        (
            f"{page.relative_to(ROOT)}: {name}"
            for page, text in texts.items()
            for name in re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE)
            if name not in targets
        ),
        "what make is asked for is one of its targets",
    )
    named = {name for text in texts.values() for name in re.findall(r"'\.\[([a-z,]+)\]'", text)}
    assert named == set(project["optional-dependencies"])


def test_make_demo_does_what_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It assesses a real survey and writes its report."""
    found = re.search(r"^demo:.*\n\t@\$\(BIN\)/(sdckit .*)$", MAKEFILE, flags=re.MULTILINE)
    assert found
    monkeypatch.chdir(tmp_path)
    assert run(arguments(found[1])) == 0
    text = (tmp_path / "demo-report.html").read_text(encoding="utf-8")
    assert "6,365" in text or "6,366" in text
