"""ratiolab: a laboratory for competitive ratios of LLM inference schedulers.

An instance goes in; a certified comparison comes out: the hindsight optimum (or a proven interval
around it), what every policy does on it, and the ratio between them.
"""

__version__ = "0.1.0"
