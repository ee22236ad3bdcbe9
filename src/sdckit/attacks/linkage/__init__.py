"""Probabilistic record linkage."""
