"""The ledger of earlier releases as keyed sketches: no plain values, and useless without the key."""
