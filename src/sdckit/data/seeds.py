"""Where random numbers start: a seed, and the secret without which a seed tells no reader what was drawn."""

from __future__ import annotations

import hmac
import secrets
import warnings
from dataclasses import dataclass, field
from types import TracebackType

import numpy as np

from sdckit.data import arguments
from sdckit.display import exact_shown
from sdckit.errors import DataError, SdcWarning

# What a session shows of results: protected figures, or exact ones where they are asked for.


class Options:
    """Options that are set; as a context manager it puts back what was set before."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        """Go on with what was set when this was made."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put back what was set before."""
        exact_shown.set(self._before)

    def __repr__(self) -> str:
        return f"options(exact={exact_shown.get()})"


def options(*, exact: bool) -> Options:
    """Set what notebooks show of results: for a ``with`` block, or called alone for the rest of the session.

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


MADE_UP = 32  # bytes of a secret that is made up
SHORTEST = 16  # bytes of one that is given: shorter ones can be tried out
BITS = 128  # of a seed that is made up, and of a step's
SHORT = 2**64  # a seed below can be tried out
PURPOSE = b"sdckit seed of step"


def open_rng(seed: arguments.Seed) -> tuple[np.random.Generator, int]:
    """A generator, and the seed that makes the same one again.

    Without a seed one is made up. A generator given is asked for one number, the seed.

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


def read_secret(given: bytes | str | None, *, name: str = "secret", kept: str = "log.secret") -> bytes:
    """The bytes of a secret, given as such or in hexadecimal; new ones where none is given.

    Raises `DataError`: no hexadecimal text, or fewer than 16 bytes.

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
            f"{name}= is {SHORTEST} random bytes or more; leave it out for a new one, kept in {kept}",
            argument=name,
        )
    return raw


@dataclass(frozen=True)
class Mixed:
    """A secret and a seed: every number drawn follows from both, and from neither alone.

    The seed of a step is the start of HMAC-SHA256 of seed and number under the secret. So steps are independent,
    also where two have the same method; the seed of one tells nothing of another's, nor of the secret.

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
        """The seed of a step, whatever stands before and after it."""
        message = b"%s %d: %x" % (PURPOSE, number, self.seed)
        return int.from_bytes(hmac.digest(self.secret, message, "sha256")[: BITS // 8], "big")


def is_short(seed: arguments.Seed) -> bool:
    """Whether a seed can be tried out: a number below 2^64, or a generator that was made from one.

    >>> is_short(7), is_short(np.random.default_rng(7)), is_short(2**64), is_short(None)
    (True, True, False, False)
    """
    if isinstance(seed, np.random.Generator):
        start = getattr(getattr(seed.bit_generator, "seed_seq", None), "entropy", None)
        return arguments.is_whole(start) and int(start) < SHORT
    return seed is not None and int(seed) < SHORT


def warn_of_short(seed: arguments.Seed, *, keeper: str) -> None:
    """Warn of a seed that can be tried out; `keeper` is the file that keeps the secret it was mixed with."""
    if is_short(seed):
        warnings.warn(
            "a seed below 2^64, such as a year, can be guessed. Here a secret is mixed in, so the seed alone repeats "
            f"nothing and gives nothing away, the {keeper} does both; given to a protection function itself, it would "
            "be all that hides what is drawn. Leave the seed out",
            SdcWarning, stacklevel=3,
        )  # fmt: skip
