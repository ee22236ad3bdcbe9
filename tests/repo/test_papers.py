"""What is there for whoever cites, trusts or runs it: the paper, the citation, the table of threats, the container."""

from __future__ import annotations

import re
from typing import Any

import yaml

import sdckit
from tree import ROOT, none_offends

PAPER = (ROOT / "paper.md").read_text(encoding="utf-8")
BOOKS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "container.md").read_text(encoding="utf-8")


def test_the_paper_has_what_its_form_asks_for() -> None:
    head = yaml.safe_load(PAPER.split("---")[1])
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= head.keys()
    for heading in ("Summary", "Statement of need", "State of the field", "Limits", "References"):
        assert f"\n# {heading}\n" in PAPER
    assert 250 <= len(PAPER.split()) <= 1750
    assert set(re.findall(r"@(\w+)", PAPER.split("---", 2)[2])) == BOOKS


def test_its_comparisons_stand_on_the_pages_that_are_measured() -> None:
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("validation.md", "performance.md"))
    for figure in ("0.040 s", "19.8 s", "1e-13", "26 % to 67 %", "31 × faster", "32 ×", "17.2", "24.7", "0.79 s"):
        assert figure in pages, figure
    for figure in ("0.040 s", "19.8 s", "1e-13", "26 % to 67 %"):
        assert figure in PAPER, figure
    assert "55 are" in PAPER
    assert re.findall(r"^(\d+)\. ", pages, re.MULTILINE)[-1] == "55"


def test_the_citation_is_of_its_form_and_of_this_version() -> None:
    cited: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "abstract", "keywords", "license", "type"} <= cited.keys()
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", sdckit.__version__)
    for one in cited["references"]:
        assert {"type", "title", "authors", "year"} <= one.keys()
        assert all(set(author) == {"family-names", "given-names"} for author in one["authors"])


def test_every_row_of_the_threats_names_tests_that_are_there() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 10
    for row in rows:
        assert len(row) == 5
        named = re.findall(r"`(tests/[\w/.]+)`", row[3])
        assert named, row[0]
        none_offends((name for name in named if not (ROOT / name).is_file()), f"a test of the row {row[0]} is there")


def test_supported_versions_begin_with_this_one() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    first = re.search(r"^\| version \| fixes \|\n\|.*\n\| (\S+) \| yes \|$", text, re.MULTILINE)
    assert first is not None
    assert sdckit.__version__.startswith(f"{first[1]}.")


def test_the_container_has_no_root_no_host_and_what_its_page_says() -> None:
    words = [line.split(" ", 1) for line in CONTAINER.splitlines() if re.match(r"[A-Z]+ ", line)]
    assert [word for word, _ in words] == [
        "ARG", "FROM", "RUN", "ENV", "WORKDIR", "USER", "ENTRYPOINT", "CMD",
    ]  # fmt: skip
    given = dict(words)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", given["USER"])
    assert not re.search(r"://|\.(io|org|com)/", CONTAINER + PAGE)
    assert "--no-index" in CONTAINER
    assert "--require-hashes" in CONTAINER
    places = set(re.findall(r"^\| `(/\w+)`", PAGE, re.MULTILINE))
    assert places == {given["WORKDIR"], "/tmp", "/cache"}
    for option in ("--network none", "--read-only", "--cap-drop all", "no-new-privileges", "--tmpfs /tmp", "--user"):
        assert option in PAGE
    port = re.search(r'"--port", "(\d+)"', CONTAINER)
    assert port is not None
    assert f"127.0.0.1:{port[1]}" in PAGE
