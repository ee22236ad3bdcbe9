"""`propose`: search for the recipe with the least information loss that meets every limit."""
