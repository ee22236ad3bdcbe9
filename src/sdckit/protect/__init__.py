"""Protection methods: each returns the changed data and a record of the change."""
