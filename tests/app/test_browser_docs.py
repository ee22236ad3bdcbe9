"""The walk of docs/app.md, word for word: each sentence of its sections on the way is shown by a step or a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from app import docs_first_pages, docs_last_pages, docs_protect_page
from app.browsing import Served, Windows
from app.docs_walk import DOCS, MARKER, Hand, Script, plain, sentences

SCRIPTS = docs_first_pages.SCRIPT, docs_protect_page.SCRIPT, docs_last_pages.SCRIPT


def script() -> Script:
    """The steps of all files."""
    both = Script()
    for one in SCRIPTS:
        assert not both.steps.keys() & one.steps.keys()
        both.steps |= one.steps
        both.tests |= one.tests
    return both


def files(folder: Path) -> dict[str, Path]:
    """People with codes for missing, their homes, people who are not in the file, and files that are none."""
    rng = np.random.default_rng(5)
    n = 400
    jobs = rng.choice(["nurse", "clerk", "cook", "refused"], n, p=[0.4, 0.3, 0.25, 0.05])
    jobs[7] = MARKER
    ages = np.where(rng.random(n) < 0.05, -9, rng.integers(20, 60, n))
    people = pl.DataFrame({
        "person": [f"p{at}" for at in range(n)], "home": [f"h{at // 2}" for at in range(n)], "age": ages, "job": jobs,
        "sex": rng.choice(["f", "m"], n), "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
        "income": [f"{income},5" for income in rng.integers(10, 90, n) * 100],
    })  # fmt: skip
    homes = pl.DataFrame({
        "home": [f"h{at}" for at in range(n // 2)], "area": rng.choice(["A11", "A12", "B11"], n // 2)
    })  # fmt: skip
    paths = {name: folder / f"{name}.csv" for name in ("people", "homes", "control", "areas")}
    people.write_csv(paths["people"], separator=";")
    homes.write_csv(paths["homes"])
    people.join(homes, on="home").sample(120, seed=1).write_csv(paths["control"], separator=";")
    paths["areas"].write_text("A11,A\nA12,A\nB11,B\n", encoding="utf-8")
    texts = {
        "bad.parquet": "no columns",
        "fits.toml": sdc.Scenario(**docs_first_pages.SCENARIO).to_toml(),
        "other.toml": sdc.Scenario(keys=["elsewhere"], thresholds={"k": 3}).to_toml(),
        "recipe.toml": '[[steps]]\nmethod = "random_order"\n\n[derived]\nincome = "2 * age"\n',
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        paths[name.partition(".")[0]] = folder / name
    return paths


def test_each_sentence_has_what_shows_it() -> None:
    faults = script().faults(DOCS.read_text(encoding="utf-8"))
    assert not faults, "\n" + "\n".join(faults)


def test_a_sentence_without_a_step_is_named_and_so_is_a_step_without_its_sentence() -> None:
    way = 'One. *Two* of [2](two.md): "three". (Four.)\n\n- `Five` is.'
    page = f"# App\n\n## The way through\n\n{way}\n\n## Other\n\nNo.\n"
    texts = [sentence.text for sentence in sentences(page)]
    assert texts == ["One.", 'Two of 2: "three".', "(Four.)", "Five is."]
    assert next(one for one in sentences(page) if one.names).names == ("Two",)
    assert plain("a [b](c#d) `e`") == "a b e"
    some = Script()
    some.step("One.", "Six.")(lambda _: None)
    some.elsewhere("tests/app/test_browser_docs.py::files", 'Two of 2: "three".')
    some.elsewhere("tests/app/test_browser_docs.py::gone", "(Four.)")
    assert some.faults(page) == [
        "nothing shows this sentence of docs/app.md (The way through): 'Five is.'",
        "docs/app.md does not say any more: 'Six.'",
        "there is no test tests/app/test_browser_docs.py::gone",
    ]


def test_the_docs_are_walked_word_for_word(visit: Windows, served: Served, tmp_path: Path) -> None:
    page = visit()
    hand = Hand(page, served, tmp_path, files(tmp_path))
    script().play(hand, DOCS.read_text(encoding="utf-8"))
