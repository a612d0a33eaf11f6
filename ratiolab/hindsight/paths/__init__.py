"""Bounds by paths that forget who has started: walks from both ends that prune each other."""
