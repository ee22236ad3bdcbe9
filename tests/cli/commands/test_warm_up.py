"""``sdckit warm-up`` says how much there was to compile, and where it is kept."""

from __future__ import annotations

import pytest

from sdckit.workflow import warm_up as work


def test_it_says_what_it_did(sdckit, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.numerics.compiling import njit

    def compile_one(step) -> None:
        step("assessing")
        assert njit()(lambda x: x + 1)(1) == 2

    monkeypatch.setattr(work, "warm_up", compile_one)
    done = sdckit("warm-up")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1 kernel compiled in ")
    monkeypatch.setattr(work, "warm_up", lambda _: None)
    assert sdckit("warm-up").out.startswith("All kernels were compiled before; looked at in ")
    assert sdckit("warm-up", "-q").out == ""
