"""Queries that are true of one person."""
