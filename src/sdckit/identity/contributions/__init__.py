"""What leaving keys out, or coarsening them, would save."""
