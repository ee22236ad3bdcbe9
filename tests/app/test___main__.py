"""The options that the command hands over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sdckit.app.__main__ as module
from sdckit.errors import SdcError


def test_options_are_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[Any] = []
    monkeypatch.setattr(module, "serve", given.append)
    scenario = tmp_path / "s.toml"
    scenario.write_text('keys = ["sex"]\n[hierarchies]\nsex = "sex.csv"\n', encoding="utf-8")
    assert module.main(["a.csv", "--scenario", str(scenario), "--port", "5", "--no-browser", "--new"]) == 0
    assert module.main([]) == 0
    first, second = given
    assert (first.file, first.port, first.browser, first.new) == ("a.csv", 5, False, True)
    assert first.scenario == {"keys": ["sex"], "hierarchies": {"sex": str(tmp_path / "sex.csv")}}
    assert (second.file, second.scenario, second.port, second.browser) == ("", None, 0, True)


def test_what_is_refused_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: Any) -> None:
        raise SdcError("port 5 is in use; give another one, or none")

    monkeypatch.setattr(module, "serve", refuse)
    assert module.main([]) == 2
    assert capsys.readouterr().err == "error: port 5 is in use; give another one, or none\n"
