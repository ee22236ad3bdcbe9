"""Coarser values: recoding, rounding, top and bottom coding, microaggregation, coarser weights."""
