"""View of information loss: how far protection changed the values."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    {
        "il1_mean": "change of a value, in per cent of it, mean",
        "il1s_mean": "change of a value, in √2 standard deviations, mean",
        "il_variables": "distance of a record's values from the original ones, mean",
        "il_correl": "distance of the inverse correlation matrices' diagonals",
        "eigenvalues": "relative change of the correlations' eigenvalues",
        "robust_eigenvalues": "the same of robust correlations",
        "covariance_difference": "change of a covariance, mean",
        "correlation_difference": "change of a correlation, mean",
    },
    "variable_distances",
    "Mean distance of the values from the original ones, by variable",
    shares=("il_variables", "variable_distances"),
)
