"""View of cluster utility: how evenly clusters of similar records mix original and released ones."""

from sdckit.report.estimates import figures_view

VIEW = figures_view("cluster_utility", drawn=("cluster_utility", "expected"))
