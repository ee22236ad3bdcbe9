"""Exact nearest-neighbour search among numbers and categories, and counts of points in boxes."""
