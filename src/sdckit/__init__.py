"""Statistical disclosure control: who can be recognised in a file, how surely, and what would be learnt."""

import lazy_loader

__version__ = "0.2.0"

# Read on first use, so that `import sdckit` costs next to nothing.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
