"""Recipes of protection steps: checked, run, logged, and explored over a grid of arguments."""
