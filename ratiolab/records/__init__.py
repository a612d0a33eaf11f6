"""The record library: seeded instances, and the best proven interval known for each."""
