"""Labelling: exact optima and lower bounds by a dynamic program over rounds."""
