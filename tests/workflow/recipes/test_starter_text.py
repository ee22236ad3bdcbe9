"""The comments of a recipe to start from: ranges that tell nobody, lines that are comments."""

from __future__ import annotations

import re
import tomllib

import pytest

from sdckit.workflow.recipes.starter_text import about_share, comments_in, write_starter


@pytest.mark.parametrize("n", [50, 60, 73, 99, 100, 199, 200, 944, 6366, 100_000])
def test_every_range_holds_the_share_and_ten_records(n: int) -> None:
    told: dict[str, list[int]] = {}
    for count in range(n + 1):
        told.setdefault(about_share(count, n), []).append(count)
    for text, counts in told.items():
        ends = [int(one) for one in re.findall(r"\d+", text)]
        low, high = ends if len(ends) == 2 else [0, *ends]
        assert low <= 100 * min(counts) / n
        assert 100 * max(counts) / n <= high
        assert len(counts) >= 10


def test_of_a_small_file_nothing_is_said() -> None:
    assert {about_share(count, 49) for count in range(50)} == {""}


def test_long_lines_are_folded_and_commands_are_not() -> None:
    command = "  sdckit protect " + "x" * 120
    text = write_starter(
        "T", ["word " * 60, command], [(None, ["alone"]), ({"method": "random_order"}, ["why"])]
    )
    lines = text.splitlines()
    assert f"# {command}" in lines
    assert max(len(line) for line in lines if command not in line) <= 102
    assert "\n\n# alone\n\n# why\n[[steps]]\n" in text
    assert tomllib.loads(text) == {"title": "T", "steps": [{"method": "random_order"}]}


def test_comments_are_said_as_a_whole_and_the_recipe_stays() -> None:
    long = "word " * 40 + "end."
    text = write_starter(
        "A # title", [long, "  sdckit check"], [({"method": "pram", "columns": ["#a"]}, ["Short."])]
    )
    heard: list[str] = []
    said = comments_in(text, lambda one: heard.append(one) or one.replace("end", "done"))  # type: ignore[func-returns-value]
    assert heard == [long, "Short."]
    assert tomllib.loads(said) == tomllib.loads(text)
    assert "done." in said
    assert "#   sdckit check" in said
    assert comments_in(text, lambda one: one) == text
