"""What a document is made of: trees of typed figures before the gate, pages of blocks after it."""
