"""What policies cost when requests and memory grow together: fluid latencies and their ratios."""
