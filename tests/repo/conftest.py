"""Pages show what one run drew: the same in every run of the tests."""

from __future__ import annotations

from itertools import count

import numpy.random  # noqa: F401 - it takes `secrets.randbits` when it is imported first: the real one, not ours
import pytest


@pytest.fixture(autouse=True)
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets and seeds that are made up, one after the other as when the pages were written."""
    secrets, seeds = count(), count()

    def token_bytes(n: int) -> bytes:
        start = 7 * next(secrets)
        return bytes((start + i) % 256 for i in range(n))

    monkeypatch.setattr("secrets.token_bytes", token_bytes)
    monkeypatch.setattr("secrets.randbits", lambda n: 3 ** (n // 2) + next(seeds))
