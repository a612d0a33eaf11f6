"""Bounds by paths that forget who has started: walks that bound each other."""
