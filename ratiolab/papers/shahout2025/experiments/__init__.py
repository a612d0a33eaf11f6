"""Experiments: Shahout et al. (2024), arXiv 2410.01035."""
