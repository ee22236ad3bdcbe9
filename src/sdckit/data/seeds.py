"""Seeds and secrets of random numbers (with the secret a known seed does not reveal the draws); display options."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.display import exact_shown
from sdckit.errors import DataError, SdcWarning

# Display options of a session: protected figures, or exact ones on request.


class Options:
    """Display options that were set; as a context manager it restores the previous ones."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        """Keep the options set on construction."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the previous options."""
        exact_shown.set(self._before)

    def __repr__(self) -> str:
        return f"options(exact={exact_shown.get()})"


def options(*, exact: bool) -> Options:
    """Set whether notebooks show protected or exact results, for a ``with`` block or the rest of the session.

    Results, assessments and charts are shown protected: a notebook is kept with its outputs and passed on. With
    ``exact=True`` they show exact figures under a line that says so. Files are not concerned: reports and JSON are
    exact only with ``internal=True``. Other threads keep what they have.

    Parameters
    ----------
    exact : bool
        Whether displays show exact figures.

    Returns
    -------
    Options
        A context manager that puts back what was set before.

    Raises
    ------
    DataError
        Not True or False.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 50, "size": [1, 2, 3, 4, 5] * 20})
    >>> from sdckit import k_anonymity
    >>> found = k_anonymity(survey, keys=["sex", "size"])
    >>> with options(exact=True):
    ...     html = found._repr_html_()
    >>> "Exact figures: confidential" in html, "Exact figures: confidential" in found._repr_html_()
    (True, False)
    """
    arguments.flag(exact, "exact")
    before = exact_shown.get()
    exact_shown.set(exact)
    return Options(before)


MADE_UP = 32  # bytes of a generated secret
SHORTEST = 16  # least bytes of a given secret: shorter ones can be found by brute force
BITS = 128  # of a generated seed, and of the seed of a step
SHORT = 2**64  # seeds below can be found by brute force
PURPOSE = b"sdckit seed of step"


def open_rng(seed: arguments.Seed) -> tuple[np.random.Generator, int]:
    """A random generator, and the seed that reproduces it.

    Without a seed one is generated. From a given generator, one number is drawn as the seed.

    Raises `DataError`: anything else, or a negative number.

    >>> rng, seed = open_rng(None)
    >>> again, _ = open_rng(seed)
    >>> rng.random() == again.random()
    True
    """
    if seed is None:
        seed = secrets.randbits(BITS)
    elif isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**63))
    return arguments.seed(seed), int(seed)


def with_state(estimator: Any, state: int, *, seeded: bool) -> Any:
    """A clone of an estimator of scikit-learn whose random numbers are fixed.

    `seeded`: whether the caller gave a seed, which then replaces a state that the estimator has of its own.
    """
    from sklearn.base import clone

    copy = clone(estimator)
    states = {
        name: state
        for name, value in copy.get_params().items()
        if name.split("__")[-1] == "random_state" and (value is None or seeded)
    }
    return copy.set_params(**states)


def read_secret(given: bytes | str | None, *, name: str = "secret", kept: str = "log.secret") -> bytes:
    """The bytes of a secret, given as bytes or hexadecimal text; generated where none is given.

    Raises `DataError`: not hexadecimal, or fewer than 16 bytes.

    >>> len(read_secret(None)), read_secret("00" * 16) == bytes(16)
    (32, True)
    """
    if given is None:
        return secrets.token_bytes(MADE_UP)
    raw: object = given
    if isinstance(given, str):
        try:
            raw = bytes.fromhex(given)
        except ValueError:
            raise DataError(f"{name}= as a text is hexadecimal, as in {kept}; else give bytes", argument=name) from None
    if not isinstance(raw, bytes) or len(raw) < SHORTEST:
        raise DataError(
            f"{name}= is {SHORTEST} random bytes or more; leave it out for a new one, kept in {kept}", argument=name
        )
    return raw


@dataclass(frozen=True)
class Mixed:
    """A secret and a seed: every random number depends on both, and cannot be derived from either alone.

    The seed of a step is the first 128 bits of HMAC-SHA256 of seed and step number, keyed by the secret. So steps are
    independent, also of the same method; the seed of one reveals neither that of another nor the secret.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.

    >>> Mixed(bytes(16), 7).of_step(1) == Mixed(bytes(16), 7).of_step(1)
    True
    >>> len({Mixed(bytes(16), 7).of_step(1), Mixed(bytes(16), 7).of_step(2), Mixed(bytes(16), 8).of_step(1)})
    3
    """

    secret: bytes = field(repr=False)
    seed: int = field(default=0, repr=False)

    def of_step(self, number: int) -> int:
        """The seed of a step; it depends on its number only, not on other steps."""
        message = b"%s %d: %x" % (PURPOSE, number, self.seed)
        return int.from_bytes(hmac.digest(self.secret, message, "sha256")[: BITS // 8], "big")


BLOCK = 64  # block size of SHA-256 in bytes


def hmac_digests(key: bytes, messages: Iterable[bytes], about: bytes = b"") -> list[bytes]:
    """HMAC-SHA256 of each message after `about`; the states of the key are made once for all of them.

    >>> hmac_digests(bytes(16), [b"n1"]) == [hmac.digest(bytes(16), b"n1", "sha256")]
    True
    """
    block = (key if len(key) <= BLOCK else hashlib.sha256(key).digest()).ljust(BLOCK, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + about).copy
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block)).copy
    digests = []
    for message in messages:  # `hmac` makes an object for each of millions of short messages
        first, last = inner(), outer()
        first.update(message)
        last.update(first.digest())
        digests.append(last.digest())
    return digests


def is_short(seed: arguments.Seed) -> bool:
    """Whether a seed can be found by brute force: below 2^64, or a generator made from such a seed.

    >>> is_short(7), is_short(np.random.default_rng(7)), is_short(2**64), is_short(None)
    (True, True, False, False)
    """
    if isinstance(seed, np.random.Generator):
        start = getattr(getattr(seed.bit_generator, "seed_seq", None), "entropy", None)
        return arguments.is_whole(start) and int(start) < SHORT
    return seed is not None and int(seed) < SHORT


def warn_of_short(seed: arguments.Seed, *, keeper: str) -> None:
    """Warn of a seed open to brute force; `keeper` is the file that keeps the secret it was mixed with."""
    if is_short(seed):
        warnings.warn(
            "a seed below 2^64, such as a year, can be guessed. Here a secret is mixed in, so the seed alone repeats "
            f"nothing and gives nothing away, the {keeper} does both; given to a protection function itself, it would "
            "be all that hides what is drawn. Leave the seed out",
            SdcWarning, stacklevel=3,
        )  # fmt: skip
