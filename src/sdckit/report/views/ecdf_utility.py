"""View of the distance between the empirical distribution functions of original and release."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    {
        "joint_max_difference": "largest gap of the joint distribution of the numbers",
        "joint_mean_squared_difference": "mean squared gap of it",
    },
    "max_difference",
    "Largest gap between the distribution functions, by variable",
    shares=("joint_max_difference", "max_difference"),
)
