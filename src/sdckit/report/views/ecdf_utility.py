"""View of the distance between the empirical distribution functions of original and release."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    "ecdf_utility",
    "max_difference",
    "Largest gap between the distribution functions, by variable",
    shares=("joint_max_difference", "max_difference"),
)
