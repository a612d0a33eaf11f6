"""Claims of Shahout et al. (2025), arXiv 2410.01035."""
