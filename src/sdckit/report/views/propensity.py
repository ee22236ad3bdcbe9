"""View of the propensity score measures: how well a model tells released records from original ones."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    "propensity", "importance", "What gives the release away, by variable", drawn=("pmse", "expected_pmse")
)
