"""Claims of Jaillet et al. (2025), arXiv 2502.07115v5."""
