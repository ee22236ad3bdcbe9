"""One family of errors, one warning."""

from __future__ import annotations

import pickle

import pytest

import sdckit
from sdckit import errors

CHILDREN = (errors.ColumnError, errors.DataError, errors.ScenarioError, errors.FileFormatError)


@pytest.mark.parametrize("child", CHILDREN)
def test_every_error_is_caught_by_the_family_name(child: type[errors.SdcError]) -> None:
    with pytest.raises(errors.SdcError, match="what is wrong"):
        raise child("what is wrong")
    assert issubclass(child, ValueError)


@pytest.mark.parametrize("child", CHILDREN)
def test_an_error_survives_pickling(child: type[errors.SdcError]) -> None:
    assert str(pickle.loads(pickle.dumps(child("text")))) == "text"


def test_the_warning_is_no_error() -> None:
    assert issubclass(errors.SdcWarning, UserWarning)
    assert not issubclass(errors.SdcWarning, errors.SdcError)


def test_the_list_of_names_is_complete() -> None:
    public = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert public <= set(sdckit.__all__)


def test_what_is_sure_to_be_there_is_given_and_nothing_else_is() -> None:
    assert errors.sure(0) == 0
    with pytest.raises(AssertionError):
        errors.sure(None)
