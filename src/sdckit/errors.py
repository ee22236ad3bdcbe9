"""The exceptions and the warning of sdckit; messages say what is wrong, where and what to do, without record values."""

from __future__ import annotations

import typing

from sdckit.display import printable

T = typing.TypeVar("T")


class SdcError(ValueError):
    """Anything sdckit refuses; catch this one to catch them all.

    Attributes
    ----------
    argument : str or None
        Of the argument that is refused, where it is one: Python writes ``keys=``, the command line ``--keys``.
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(printable(message))
        self.argument = argument


class ColumnError(SdcError):
    """A column is absent, has the wrong role, is duplicated, or a result name is taken."""


class DataError(SdcError):
    """The values do not fit: empty file, all missing, not finite, negative weights, different lengths."""


class ScenarioError(SdcError):
    """The scenario contradicts itself or holds an entry that does not exist."""


class FileFormatError(SdcError):
    """A file cannot be read as what it claims to be."""


class SdcWarning(UserWarning):
    """Something in the data that makes a figure say less than it seems to."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


def sure(value: T | None) -> T:
    """What is there wherever this is asked, which no type says; an AssertionError where it is not, an error of ours."""
    assert value is not None
    return value
