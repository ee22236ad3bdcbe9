"""View of information loss: how far protection changed the values."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    "information_loss",
    "variable_distances",
    "Mean distance of the values from the original ones, by variable",
    shares=("il_variables", "variable_distances"),
)
