"""View of the propensity score measures: how well a model tells released records from original ones."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    {
        "pmse": "pMSE: 0 where no difference is found",
        "expected_pmse": "pMSE that correct synthesis gives",
        "ratio": "pMSE over that (best 1)",
        "specks": "largest distance of the scores' distributions",
        "auc": "chance to tell a released record from an original one (best 0.5)",
    },
    "importance",
    "What gives the release away, by variable",
    drawn=("pmse", "expected_pmse"),
)
