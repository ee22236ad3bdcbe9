"""What ``sdckit attack`` prints of attacks made in Python: rates, sentences, subgroups, distances, linkage."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import sdckit as sdc
from sdckit.cli.attack_files import Attacked, read_wanted
from sdckit.cli.commands.attack import _plain
from sdckit.cli.terminal import show_blocks
from sdckit.data.frames import rows_of
from sdckit.report.chapters.attacks_chapter import attack_blocks
from sdckit.workflow.plan import AttackedColumns, Outcome

PEOPLE = pl.DataFrame(
    {
        "age": [20 + (7 * i) % 61 for i in range(120)],
        "pay": [900 + (13 * i) % 401 for i in range(120)],
        "town": [f"t{i % 12}" for i in range(120)],
        "sex": [None if i % 3 == 0 else "f" for i in range(120)],
    }
)
OTHERS = PEOPLE.with_columns(pl.col("age") + 0.5, pl.col("pay") + 0.5)
KEPT = pl.Series([i // 12 < i % 12 for i in range(120)])  # nobody of the first town, all of the last
MIXED = pl.concat([PEOPLE.filter(KEPT), OTHERS.filter(~KEPT).cast(PEOPLE.schema)])
PAIR = ["age", "pay"]


def shown(
    place: str, found: Any, *, control: Any = None, m: int = 1, by: Any = (), skipped: Any = (), width: int = 80
) -> str:
    wanted = read_wanted(kinds=[], known=[], targets=[], by=by)
    files = Attacked(PEOPLE, [PEOPLE] * m, control, AttackedColumns(("age", "pay")), None, ())
    outcome: Any = Outcome({place: found}, tuple(skipped))
    plain = _plain(outcome, files, wanted, n_attacks=500, seed=1, internal=True)
    console = Console(width=width, file=io.StringIO())
    for part in show_blocks(attack_blocks(plain, several=False)):
        console.print(part)
    text = str(console.file.getvalue())  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    return text


def row(text: str, start: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(start))


def group_rows(text: str, caption: str) -> list[list[str]]:
    """The words of each row of the table under a caption."""
    lines = text[text.index(caption) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("──"))
    rows = []
    for line in lines[start + 1 :]:
        if not line.strip() or line.startswith(("A group", "…")):
            break
        rows.append(line.split())
    return rows


def test_rates_intervals_and_the_sentence() -> None:
    told = sdc.membership(PEOPLE, PEOPLE, control=OTHERS, variables=PAIR, seed=1)
    text = shown("membership", told, control=OTHERS, width=120)
    words = " ".join(row(text, "Telling who is in the file"))
    assert words.startswith(f"Telling who is in the file 120 {100 * told.success_rate:.1f} %")
    for low, high in ((told.success_low, told.success_high), (told.control_low, told.control_high)):
        assert f"({100 * low:.1f}–{100 * high:.1f})" in words
    assert f"{100 * told.risk:.1f} %" in words
    assert "interval of 95 %" in text
    assert " ".join(told.verdict.split()[:8]) in " ".join(text.split())
    assert "with chance 1 (AUC)" in text


def test_without_a_control_nothing_is_compared() -> None:
    found = sdc.linkability(PEOPLE, PEOPLE, known=(["age"], ["pay"]), seed=1)
    text = shown("linkability:default", found)
    assert "Never in it" not in text
    assert "Residual risk" not in text
    assert "no control" not in text
    assert "all attacked" in text


def test_no_attack_at_all_is_undefined() -> None:
    crossed = PEOPLE.select("town", arm=pl.col("age") % 4 > 1)
    found = sdc.singling_out(crossed, crossed, seed=1)
    assert found.n_attacks == 0
    text = shown("singling_out:univariate", found, by=("town",))
    assert row(text, "Singling out by one column")[-3:] == ["0", "undefined", "undefined"]
    assert "There is nothing to ask" in text
    assert "by town" not in text


def test_no_residual_risk_of_an_attack_that_guesses_as_well() -> None:
    far = PEOPLE.with_columns(pl.col("age") + 1000, pl.col("pay") - 1000)
    found = sdc.linkability(PEOPLE, far, control=OTHERS, known=(["age"], ["pay"]), seed=1)
    assert not found.success_rate > found.baseline_rate
    text = shown("linkability:default", found, control=OTHERS, width=120)
    assert row(text, "Linking two pieces")[-1] == "–"


@pytest.mark.parametrize("control", [None, OTHERS])
def test_distances_name_their_direction(control: pl.DataFrame | None) -> None:
    near = sdc.distance_to_closest_record(
        PEOPLE, [PEOPLE, PEOPLE], control=control, variables=PAIR, resamples=19, seed=1
    )
    text = shown("distance_to_closest_record", near, control=control, m=2)
    assert "Attacks that succeed" not in text
    assert row(text, "released records equal to an original")[-4:] == ["100", "%", "100", "%"]
    assert ("released records equal to a record never in the file" in text) == (control is not None)
    assert ("Without a control file" in text) == (control is None)
    for words, own, other in (
        ("released record to the closest", near.dcr_released_to_original, near.dcr_released_to_control),
        ("the same over the second", near.nndr_original_to_released, near.nndr_control_to_released),
    ):
        figures = [own] if control is None else [own, other]
        assert row(text, words)[-len(figures) :] == [f"{figure:.4g}" for figure in figures]
    accuracies = [near.adversarial_accuracy, near.adversarial_accuracy_control][: 1 if control is None else 2]
    assert " ".join(row(text, "adversarial accuracy")).endswith(" ".join(f"{100 * one:.1f} %" for one in accuracies))


def test_the_worst_group_stands_first_and_ten_are_shown() -> None:
    found = sdc.membership(PEOPLE, MIXED, control=OTHERS, variables=PAIR, by=["town"], score="distance", seed=1)
    text = shown("membership", found, control=OTHERS, by=("town",))
    expected = list(rows_of(found.by_group))
    assert expected[0]["residual"] > 0
    for words, one in zip(group_rows(text, "Telling who is in the file, by town"), expected[:10], strict=True):
        assert words[:4] == [one["town"], "10", f"{100 * one['success_rate']:.1f}", "%"]
        better = one["success_rate"] > one["baseline_rate"]
        ends = f"{100 * one['risk_low']:.0f}–{100 * one['risk_high']:.0f}"
        assert words[-1] == (ends if better else "–")
    assert "2 more" in text


def test_without_a_control_the_interval_is_that_of_the_attack() -> None:
    found = sdc.inference(PEOPLE, PEOPLE, known=["age"], target="pay", by="sex", seed=1)
    rows = group_rows(shown("inference:default:pay", found, by=("sex",)), "Inferring pay, by sex")
    assert {one[0] for one in rows} == {"(missing)", "f"}
    expected = list(rows_of(found.by_group))
    assert f"{100 * expected[0]['success_low']:.0f}–{100 * expected[0]['success_high']:.0f}" in rows[0]


def test_linkage_shows_every_figure_beside_its_words() -> None:
    names = ["town", "age", "pay"]
    typed = PEOPLE.with_columns(town=pl.col("town").str.replace("t1", "t2"))
    found = sdc.probabilistic_linkage(PEOPLE, [typed, PEOPLE], variables=names, seed=1)
    reason = (("distance_to_closest_record", "too many pairs"),)
    text = shown("probabilistic_linkage:default", found, m=2, skipped=reason, width=120)
    told = " ".join(text.split())
    for one in found.per_release:
        assert f"{100 * one['rate']:.1f} %" in told
        assert f"({100 * one['rate_low']:.1f}–{100 * one['rate_high']:.1f})" in told
    assert "14,400 pairs compared are called a match" in told
    assert "; precision " in told
    assert "; recall " in told
    assert "How sure can the intruder be?, release 1" in text
    rows = group_rows(text, "How sure can the intruder be?")
    assert 0 < len(rows) <= 8
    first = found.scores.row(0, named=True)
    assert rows[0][:3] == [f"{first['weight']:.0f}", f"{first['pairs']:,}", f"{first['right']:,}"]
    assert "1 of 2 releases have the original's values" in told
    assert "Distances too many pairs" in told
