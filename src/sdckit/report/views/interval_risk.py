"""View of interval disclosure: records whose numeric values all lie close to the released ones."""

from sdckit.report import shares

VIEW = shares.share_view("interval_risk", shares.MATCHING, "Numbers close to the original")
