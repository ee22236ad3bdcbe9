"""What several releases give away together that none of them gives away alone."""
