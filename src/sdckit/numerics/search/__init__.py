"""Neighbours, boxes and counts in space."""
