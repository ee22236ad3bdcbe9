"""Each kind of document has its layout."""

from __future__ import annotations

from report.fakes import FULL, assess_fake, survey
from sdckit.report.pages import page_of
from sdckit.report.write import plain_document


def test_one_file_has_the_layout_of_one_file():
    page = page_of(plain_document(assess_fake(survey(400), FULL)))
    assert [section.title for section in page.sections][:3] == [
        "The question and the answer",
        "Scenario",
        "File",
    ]
