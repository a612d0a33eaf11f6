"""Claims of Zheng et al. (2026), arXiv 2604.00499."""
