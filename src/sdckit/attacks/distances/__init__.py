"""Distances between released and real records."""
