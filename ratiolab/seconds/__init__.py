"""Bounds and schedules in seconds, under a batch-time clock."""
