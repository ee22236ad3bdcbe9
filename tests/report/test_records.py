from __future__ import annotations

from typing import Any

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Paragraph, TableBlock
from sdckit.report.records import MOST_ROWS, records_section
from sdckit.report.write import plain_document


def found(total: int, listed: int, name: str = "default") -> dict[str, Any]:
    rows = [
        {
            "intruder": name,
            "row": 12_000 + i,
            "keys": {"sex": "f", "age": None},
            "cell_size": 1234,
            "risk": 0.5,
        }
        for i in range(listed)
    ]
    return {"intruders": {name: {"listed": listed, "total": total}}, "rows": rows}


def tables(found: dict[str, Any]) -> list[TableBlock]:
    section = records_section({"confidential": "secret", "records_at_risk": found})
    return [block for block in section.blocks if isinstance(block, TableBlock)]


def test_a_list_cut_short_says_so() -> None:
    (table,) = tables(found(1855, 1000))
    assert table.caption == "200 of 1,855 records, the riskiest first; the JSON lists 1,000"
    assert len(table.rows) == MOST_ROWS


def test_a_list_cut_in_the_json_too() -> None:
    (table,) = tables(found(500, 150))
    assert table.caption == "150 of 500 records, the riskiest first"


def test_a_whole_list() -> None:
    (table,) = tables(found(3, 3))
    assert table.caption == "3 records, the riskiest first"
    assert table.columns == ("row", "keys", "cell size", "risk")
    assert table.rows[0] == ("12000", "sex = f, age = missing", "1,234", "0.5")


def test_a_plan_has_no_row_numbers() -> None:
    listed = found(2, 2)
    for row in listed["rows"]:
        row["row"] = None
    (table,) = tables(listed)
    assert table.columns == ("keys", "cell size", "risk")


def test_each_intruder_has_a_list() -> None:
    scenario = Scenario(intruders={"a": ["sex"], "b": ["sex", "age", "occupation"]})
    plain = plain_document(assess_fake(survey(300), scenario), internal=True)
    blocks = records_section(plain).blocks
    assert isinstance(blocks[1], Paragraph)
    assert blocks[1].text == "Intruder “a”: no record is unique or beyond a limit."
    assert isinstance(blocks[2], TableBlock)
    assert blocks[2].caption.startswith("Intruder “b”: ")
    assert "intruder" not in blocks[2].columns


def test_the_json_says_of_how_many() -> None:
    listed = plain_document(assess_fake(survey(300), FULL), internal=True)["records_at_risk"]
    assert listed["listed"] == listed["total"] == len(listed["rows"]) > 0
    assert listed["intruders"] == {"default": {"listed": listed["listed"], "total": listed["total"]}}
    assert list(listed) == ["listed", "total", "intruders", "rows"]
