"""View of cluster utility: how evenly clusters of similar records mix original and released ones."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    {
        "cluster_utility": "imbalance of the clusters (best 0)",
        "expected": "imbalance that correct synthesis gives",
        "ratio": "imbalance over that (best 1)",
        "n_clusters": "clusters",
    },
    drawn=("cluster_utility", "expected"),
)
