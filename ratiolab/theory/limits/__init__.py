"""Costs of policies when requests and memory grow together: fluid latencies and their ratios."""
