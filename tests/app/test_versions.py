"""The list of earlier states as it is drawn."""

from __future__ import annotations

import asyncio
from pathlib import Path

from shiny import reactive

from app.toys import toy_seat
from sdckit.app.browser_sessions import Step
from sdckit.app.page_context import Room
from sdckit.app.versions import version_list_shown


def test_a_version_of_another_file_is_listed_and_cannot_be_opened(tmp_path: Path) -> None:
    async def run() -> None:
        seat = toy_seat(tmp_path, path="a.csv", facts={"columns": ["age"]}, steps=(Step("round_to"),))
        with reactive.isolate():
            room = Room(seat, limit=5)
            room.change(scenario={"keys": ["age"]})
            room.keep_version(name="<mine>")
            html = str(version_list_shown(room))
            assert "&lt;mine&gt;" in html
            assert "does not have" not in html
            room.change(facts={"columns": ["sex"]})
            html = str(version_list_shown(room))
            assert "does not have" in html
            assert html.count("disabled") == 2
        seat.worker.close()
        await asyncio.sleep(0)

    asyncio.run(run())
