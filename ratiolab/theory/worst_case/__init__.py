"""Bounds over all instances, with proofs: constants of MC-SF, of the optimum, of round robin."""
