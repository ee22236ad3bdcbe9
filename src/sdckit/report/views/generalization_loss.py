"""View of what generalising and suppressing lost."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    "generalization_loss",
    "column_losses",
    "Share of its domain that a value stands for, by variable",
    shares=("precision", "loss", "entropy_share", "column_losses"),
)
