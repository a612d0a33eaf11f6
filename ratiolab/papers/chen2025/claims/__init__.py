"""Claims of Chen, Ye, Zhou (2025), arXiv 2508.14544v2."""
