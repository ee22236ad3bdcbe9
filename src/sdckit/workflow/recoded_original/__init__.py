"""Recode the original as its release is: by a recipe, by its log, or as recognised from the two files."""
