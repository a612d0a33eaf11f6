"""The modules whose names are public, beside the package itself."""

MODULES = ("figures", "formulas", "tables", "testing")
