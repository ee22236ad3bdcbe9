from __future__ import annotations

from sdckit.report import protocols
from sdckit.workflow import assessment


def test_the_real_assessment_has_what_the_report_reads() -> None:
    pairs = [
        (protocols.AssessmentLike, assessment.Assessment),
        (protocols.IntruderLike, assessment.IntruderAssessment),
        (protocols.KeyFactsLike, assessment.KeyFacts),
        (protocols.VerdictLike, assessment.Verdict),
    ]
    for asked, given in pairs:
        wanted = {name for name in vars(asked) if not name.startswith("_")}
        assert wanted <= {*dir(given), *given.__dataclass_fields__}, given.__name__
