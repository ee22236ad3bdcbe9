"""Values changed at random, or exchanged between records."""
