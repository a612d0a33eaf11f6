"""Lets the tests of this folder import their plain modules `reference` and `drawn`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
