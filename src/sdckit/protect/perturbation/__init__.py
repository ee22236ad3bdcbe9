"""Perturbation: values changed at random, or swapped between records."""
