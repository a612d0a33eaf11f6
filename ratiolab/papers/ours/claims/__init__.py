"""Theorems of this project, as claims: each with its proof, a check and a control."""
