"""Identity disclosure, who can be recognised: one file per measure."""
