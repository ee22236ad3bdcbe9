"""People with several rows each, followed through a panel, a diary or a visit table by who knows some of the rows."""
