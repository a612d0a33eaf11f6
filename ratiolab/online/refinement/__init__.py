"""Organs of `trail`: the classifier that refines predictions, and the filter of its answers."""
