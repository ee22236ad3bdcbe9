"""By mouse and in German: files, edges and groups, hierarchies, downloads; no text of the pages stays English."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from app.browsing import Windows, calm, leftovers

SCENARIO: dict[str, Any] = {
    "intruders": {"nachbar": ["alter", "beruf", "gebiet"]}, "sensitive": ["krank"], "identifiers": ["person"],
    "thresholds": {"k": 3},
}  # fmt: skip


def files(folder: Path) -> tuple[Path, Path, Path]:
    """Persons, their households, and people who are not in the file."""
    rng = np.random.default_rng(8)
    n = 300
    persons = pl.DataFrame({
        "person": [f"p{at}" for at in range(n)],
        "haushalt": np.arange(n) // 2,
        "alter": rng.integers(18, 70, n),
        "beruf": rng.choice(["Koch", "Schmied", "Lehrer"], n),
        "krank": rng.choice(["ja", "nein"], n, p=[0.3, 0.7]),
    })  # fmt: skip
    homes = pl.DataFrame({"haushalt": np.arange(n // 2), "gebiet": rng.choice(["A11", "A12", "B11"], n // 2)})
    paths = tuple(folder / f"{name}.csv" for name in ("personen", "haushalte", "kontrolle"))
    persons.write_csv(paths[0])
    homes.write_csv(paths[1])
    persons.join(homes, on="haushalt").sample(120, seed=1).write_csv(paths[2])
    return paths[0], paths[1], paths[2]


class German:
    """The page, looked at for English wherever the hand rests."""

    def __init__(self, page: Any) -> None:
        self.page, self.english = page, dict[str, list[str]]()
        self.wide: list[str] = []

    def rest(self, where: str) -> None:
        """Wait, and note what is English, and whether the page is wider than its window."""
        calm(self.page)
        if self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            self.wide.append(where)
        if found := leftovers(self.page):
            self.english[where] = found

    def go(self, name: str) -> None:
        self.page.click(f"button.way[data-go={name}]")
        self.rest(name)

    def button(self, name: str) -> None:
        self.page.locator("section.page:not([hidden])").get_by_role("button", name=name, exact=True).click()
        self.rest(name)

    def about(self) -> str:
        """What the last step says of itself."""
        return str(self.page.locator(".step-about").all_inner_texts()[-1])


def slide(page: Any, number: int, to: float) -> None:
    """Draw an edge with the mouse to where a value stands on the axis."""
    ends = page.locator("g.edge").nth(number)
    low, high = (float(ends.get_attribute(f"aria-value{end}")) for end in ("min", "max"))
    box = page.locator("svg.histogram").bounding_box()
    mark = ends.locator("circle").bounding_box()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + (to - low) / (high - low) * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()


def test_by_mouse_and_in_german(visit: Windows, tmp_path: Path) -> None:
    persons, homes, control = files(tmp_path)
    scenario = tmp_path / "szenario.toml"
    scenario.write_text(sdc.Scenario(**SCENARIO).to_toml(), encoding="utf-8")
    page = visit(width=1024, language="de")
    hand = German(page)
    hand.rest("empty")
    _read_two_files(page, hand, persons, homes)
    hand.go("roles")
    page.set_input_files("#roles-load", scenario)
    page.wait_for_selector("#roles-use .good")
    page.fill("#roles-population", "30000")
    page.wait_for_selector("#roles-role_0")
    hand.button("Diese Rollen und Grenzwerte verwenden")
    assert page.is_visible("#page_risk")
    page.click("#risk-helps")
    page.locator("input[name=risk-ticked]").first.uncheck()
    hand.rest("risk")
    hand.go("protect")
    _edges(page, hand)
    _groups(page, hand)
    _hierarchy(page, hand, tmp_path)
    _forms(page, hand)
    hand.go("release")
    page.click("#page_release details summary")
    sent(page, "release-control_file", control)
    assert page.is_visible("#release-attacks")  # the form stays as it was opened
    hand.button("Geschützte Datei machen")
    assert "noch einmal" in page.inner_text("#release-make_release")
    for at in range(page.locator("#page_release .chapters button[data-act]").count()):
        page.locator("#page_release .chapters button[data-act]").nth(at).click()
        hand.rest(f"chapter {at}")
    assert "Kontrolldatei" in page.inner_text("#page_release")
    hand.go("take_away")
    _reports(page, hand, tmp_path)
    assert hand.wide == []
    assert not hand.english, json.dumps(hand.english, ensure_ascii=False, indent=1)


def _read_two_files(page: Any, hand: German, persons: Path, homes: Path) -> None:
    """The second file comes while the first is still read."""
    page.set_input_files("#file-upload", persons)
    page.click("#page_file details summary")
    page.fill("#file-join_key", "haushalt")
    sent(page, "file-second", homes)
    hand.button("Neu lesen")
    page.locator("#file-facts").get_by_text("gebiet").first.wait_for()
    assert page.is_hidden("#alert")


def sent(page: Any, field: str, path: Path) -> None:
    """Upload a file, and wait until it is there."""
    page.set_input_files(f"#{field}", path)
    done = "field => document.querySelector(`#${field}_progress .progress-bar`).textContent === 'Upload complete'"
    page.wait_for_function(done, arg=field)
    calm(page)


def _edges(page: Any, hand: German) -> None:
    """An edge drawn by mouse is where the keys bring it, and the counts follow the switch to exact figures."""
    hand.button("Schritt hinzufügen")
    page.locator("#protect-arg_column").select_option("alter")
    page.locator("g.edge").first.wait_for()
    hand.rest("bands")
    before = [float(one.get_attribute("aria-valuenow")) for one in page.locator("g.edge").all()]
    page.locator("g.edge").first.press("ArrowRight")
    page.locator("g.edge").first.press("ArrowRight")
    hand.button("Anwenden")
    by_keys = hand.about()
    hand.page.locator("g.edge").first.wait_for()
    slide(page, 0, before[0])
    hand.button("Anwenden")
    assert hand.about() != by_keys
    slide(page, 0, before[0] + 2)
    assert float(page.locator("g.edge").first.get_attribute("aria-valuenow")) == before[0] + 2
    counts = "() => [...document.querySelectorAll('rect.bin title')].map(one => one.textContent)"
    printed = page.evaluate(counts)
    page.check("#exact")
    page.wait_for_function(f"told => JSON.stringify(({counts})()) !== told", arg=_json(printed))
    hand.rest("exact")
    assert sum(int(one.rpartition(": ")[2]) for one in page.evaluate(counts)) == 300
    page.uncheck("#exact")
    page.wait_for_function(f"told => JSON.stringify(({counts})()) === told", arg=_json(printed))
    calm(page)
    hand.button("Anwenden")
    assert hand.about() == by_keys
    assert page.is_hidden("#alert")


def _json(told: list[str]) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _groups(page: Any, hand: German) -> None:
    """A value that is drawn into a group is where its list would put it."""
    hand.button("Schritt hinzufügen")
    page.locator("#protect-arg_column").select_option("beruf")
    page.get_by_label("Gruppen von Werten").check()
    hand.rest("groups")
    hand.button("Neue Gruppe")
    box = page.locator(".boxes .box").filter(has_text="Gruppe 1")
    page.locator("table.levels th", has_text="Koch").drag_to(box)
    page.get_by_label("Gruppe von Lehrer").select_option("Gruppe 1")
    assert page.get_by_label("Gruppe von Koch").input_value() == "Gruppe 1"
    assert "Koch, Lehrer" in box.inner_text()
    page.locator("table.levels th", has_text="Lehrer").drag_to(page.locator(".boxes .box").first)
    assert page.get_by_label("Gruppe von Lehrer").input_value() == ""
    hand.button("Anwenden")
    assert hand.about().startswith("beruf in Gruppen: ")


def _hierarchy(page: Any, hand: German, folder: Path) -> None:
    """A file of codes with their coarser names, uploaded."""
    path = folder / "gebiete.csv"
    path.write_text("A11,A\nA12,A\nB11,B\n", encoding="utf-8")
    hand.button("Schritt hinzufügen")
    page.locator("#protect-arg_column").select_option("gebiet")
    page.get_by_label("Eine Hierarchie hinauf").check()
    page.wait_for_selector("#protect-hierarchy_file", state="attached")
    calm(page)  # a form that is drawn anew would have another field, to which nothing was sent
    sent(page, "protect-hierarchy_file", path)
    page.wait_for_function("() => document.getElementById('protect-hierarchy').value.endsWith('gebiete.csv')")
    calm(page)
    hand.button("Anwenden")
    assert hand.about().startswith("gebiet auf Ebene 1 der Hierarchie")
    page.locator("#protect-picture svg").nth(1).wait_for()
    assert page.is_hidden("#alert"), page.inner_text("#alert_text")
    hand.rest("hierarchy")


def _forms(page: Any, hand: German) -> None:
    """The forms of some methods as they stand on the page; their texts are all looked up in `test_words.py`."""
    for method in ("suppress_above", "synthesize"):
        page.select_option("#protect-method", method)
        page.click("#protect-add_step")
        page.wait_for_selector(f"#protect-editor .step-editor[data-method={method}]")
        for one in page.locator("#protect-editor details:not([open]) > summary").all():
            one.click()
        hand.rest(method)


def _reports(page: Any, hand: German, folder: Path) -> None:
    """The report as a page that is printed, and as a text document."""
    page.check("#take_away-accept")
    page.wait_for_selector("#take_away-write_report")
    calm(page)
    for ending, start in ((".pdf", b"%PDF"), (".docx", b"PK")):
        page.select_option("#take_away-report_kind", ending)
        hand.button("Bericht schreiben")
        link = page.locator("#take_away-report")
        link.wait_for()
        page.wait_for_function(
            "ending => document.getElementById('take_away-files').innerText.includes('report' + ending)", arg=ending
        )
        with page.expect_download() as coming:
            link.click()
        coming.value.save_as(folder / f"report{ending}")
        assert coming.value.suggested_filename == f"report{ending}"
        assert (folder / f"report{ending}").read_bytes().startswith(start)
