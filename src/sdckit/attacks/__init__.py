"""Simulated intruders: what an attack achieves, against guessing and against people who were never in the file."""
