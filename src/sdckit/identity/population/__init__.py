"""Unique in the population, too: models of it, and a population at hand."""
