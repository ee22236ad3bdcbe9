"""What a session shows: protected, exact in a block or for the rest of the session, and put back."""

from __future__ import annotations

import threading

import pytest

import sdckit as sdc
from sdckit.display import exact_shown
from sdckit.errors import DataError


def test_a_block_puts_back_what_was_before() -> None:
    with sdc.options(exact=True):
        assert exact_shown.get()
        with sdc.options(exact=False):
            assert not exact_shown.get()
        assert exact_shown.get()
    assert not exact_shown.get()
    with pytest.raises(ZeroDivisionError), sdc.options(exact=True):
        _ = 1 / 0
    assert not exact_shown.get()


def test_called_alone_it_holds_until_it_is_called_again() -> None:
    assert repr(sdc.options(exact=True)) == "options(exact=True)"
    assert exact_shown.get()
    sdc.options(exact=False)
    assert not exact_shown.get()


def test_other_threads_keep_what_they_have() -> None:
    seen = []
    with sdc.options(exact=True):
        thread = threading.Thread(target=lambda: seen.append(exact_shown.get()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_nothing_else_than_true_and_false() -> None:
    with pytest.raises(DataError, match="exact"):
        sdc.options(exact=1)  # type: ignore[arg-type]
    assert not exact_shown.get()
