"""The original recoded as its release is: by a recipe, by its log, or as the two files show."""
