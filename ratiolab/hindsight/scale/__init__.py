"""Schedules and bounds of hundreds to a hundred thousand requests."""
