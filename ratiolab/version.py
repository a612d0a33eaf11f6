"""The version of the library, for every layer; files of results record it."""

__version__ = "0.1.0"
