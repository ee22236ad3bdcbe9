"""Every result on two files has a document, a chart and a notebook view, from protected figures."""

from __future__ import annotations

import pytest

import releases
import sdckit as sdc
from report.views.pairs import CALLS, KEYS, drawn, printed, result_of
from sdckit.errors import DataError
from sdckit.report.pair_document import pair_document


@pytest.mark.parametrize("name", CALLS)
def test_it_draws_and_shows(name):
    assert drawn(name)
    assert printed(name)
    assert result_of(name).plot(internal=True) is not None


def test_the_place_is_that_of_an_assessment():
    document = pair_document(result_of("attribute_disclosure"))
    assert list(document.tree) == ["n", "n_released", "measures"]
    assert list(document.tree["measures"]) == ["attribute_disclosure:ill"]
    assert document.n == 240


def test_a_control_file_is_no_release():
    document = pair_document(result_of("membership"))
    assert [count.name for count in document.tree["n_released"]] == ["n.released.1"]
    assert list(pair_document(result_of("combine")).tree) == ["measures"]


def test_small_files_are_not_drawn():
    small = releases.original(40)
    with pytest.raises(DataError, match="fewer than 50 records"):
        sdc.identity_disclosure(small, small, keys=KEYS).plot()
