"""Formulas, spectra and limits that the papers state, and what the same models give exactly."""
