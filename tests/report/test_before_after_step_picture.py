"""The picture of a step passes the gate: rare values are pooled, small counts hidden."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import LinearConstraint, milp

from sdckit.errors import DataError
from sdckit.report import before_after as step_picture
from sdckit.report.before_after import picture_blocks, plain_picture
from sdckit.workflow.recipes.step_forms import Picture, picture_of

JOBS = pl.DataFrame(
    {"job": ["cook"] * 63 + ["smith"] * 41 + ["queen", "king"], "age": [*range(20, 50)] * 3 + [40] * 16}
)
BANDED = JOBS.with_columns(job=pl.when(pl.col("job").is_in(["queen", "king"])).then(None).otherwise("job"))


def test_a_rare_value_is_not_named_nor_a_small_count_told() -> None:
    plain = plain_picture(picture_of(JOBS, BANDED, "job"))
    assert "queen" not in json.dumps(plain)
    assert [(one["level"], one["n"]["text"]) for one in plain["before"]["rows"]] == [
        ("cook", "65"), ("smith", "40"), ("other", "<5"),
    ]  # fmt: skip
    assert plain["after"]["missing"]["text"] == "<5"


def test_exact_figures_are_for_the_room_only() -> None:
    plain = plain_picture(picture_of(JOBS, BANDED, "job"), internal=True)
    assert {"level": "queen", "n": 1} in [
        {"level": one["level"], "n": one["n"]["value"]} for one in plain["before"]["rows"]
    ]


def test_bins_add_up_in_the_ledger_and_are_drawn_for_both_sides() -> None:
    picture = picture_of(JOBS, JOBS.with_columns(age=pl.col("age") // 5 * 5), "age")
    drawn = picture_blocks(plain_picture(picture))
    assert [one.kind for one in drawn] == ["chart", "chart"]
    texts = [row["n"]["text"] for row in drawn[0].data["rows"]]  # type: ignore[union-attr]
    assert all(text.startswith("<") or int(text) % 5 == 0 for text in texts)


def test_empty_bins_are_left_out_at_the_ends_only() -> None:
    before = pl.DataFrame({"pay": [*range(100)]})
    after = before.with_columns(pay=pl.when(pl.col("pay") < 50).then(25).otherwise(75))
    plain = plain_picture(picture_of(before, after, "pay"), internal=True)
    counts = [row["n"]["value"] for row in plain["after"]["rows"]]
    held = [at for at, n in enumerate(counts) if n]
    assert 0 < held[0] < held[1] - 1 < held[1] < len(counts) - 1
    drawn = picture_blocks(plain)[1].data["rows"]  # type: ignore[union-attr]
    assert [row["n"]["value"] for row in drawn] == counts[held[0] : held[1] + 1]


def test_a_variable_that_is_gone_is_told_in_words() -> None:
    blocks = picture_blocks(plain_picture(picture_of(JOBS, JOBS.drop("age"), "age")))
    assert blocks[1].kind == "paragraph"


def test_few_records_give_no_picture() -> None:
    with pytest.raises(DataError, match="fewer than 50 records"):
        plain_picture(picture_of(JOBS.head(20), None, "job"))


def printed(leaf: Mapping[str, Any]) -> tuple[float, float]:
    """What a reader knows of a count by its print."""
    if leaf["value"] is None:
        return 0, leaf.get("below", 10**6) - 1
    if leaf["text"] == "0":
        return 0, 0
    half = leaf.get("rounded_to", 5) / 2
    return leaf["value"] - half, leaf["value"] + half


def ranges(picture: Picture, plain: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """For each flow how many it is, and between which numbers a reader can place it: figures of all rows at once."""
    sums, lows, highs = [], [], []
    for at, side in enumerate(("before", "after")):
        rows = plain[side]["rows"]
        counts = [name for name, _ in getattr(picture, side).counts]
        shown = {one["level"]: printed(one["n"]) for one in rows}
        groups: dict[str, list[int]] = {}
        for number, flow in enumerate(picture.flows):
            name = "" if flow[at] < 0 else counts[flow[at]]
            groups.setdefault(name if name in shown or not name else "other", []).append(number)
        for name, members in groups.items():
            low, high = shown[name] if name else printed(plain[side]["missing"])
            sums.append([float(number in members) for number in range(len(picture.flows))])
            lows.append(low)
            highs.append(high)
    known = LinearConstraint(np.array(sums), lows, highs)
    found = []
    for number, (*_, true) in enumerate(picture.flows):
        goal = np.eye(len(picture.flows))[number]
        ends = [milp(sign * goal, constraints=known, integrality=np.ones(len(goal))).fun * sign for sign in (1, -1)]
        found.append((true, round(ends[0]), round(ends[1])))
    return found


def one_less(sizes: Mapping[str, int], lost: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A file, and the same where one record of each level in `lost` has lost its value."""
    values = [level for level, n in sizes.items() for _ in range(n)]
    gone = {values.index(level) for level in lost}
    after = [None if at in gone else value for at, value in enumerate(values)]
    return pl.DataFrame({"x": values}), pl.DataFrame({"x": after})


SIZES = {"a": 103, "b": 203, "c": 303, "d": 403, "e": 1000}


def test_what_a_step_took_out_does_not_follow_from_the_two_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 103 prints 105 before and 100 after: four such beside "<5" missing would tell that each lost one."""
    picture = picture_of(*one_less(SIZES, "abcd"), "x")
    assert all(low < high for true, low, high in ranges(picture, plain_picture(picture)) if 0 < true < 5)
    monkeypatch.setattr(step_picture, "_link", lambda *_: None)
    alone = ranges(picture, plain_picture(picture))
    assert any(low == high for true, low, high in alone if 0 < true < 5)
