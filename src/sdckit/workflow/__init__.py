"""The top layer: assessments, the release gate, recipes, the search for a recipe, and the tasks of the app."""
