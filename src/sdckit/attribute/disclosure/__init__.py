"""What released records with a person's keys reveal about a target variable."""
