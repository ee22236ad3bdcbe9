"""The recipe with the least loss that meets every limit, searched for."""
