"""The M/G/1 queue under SPRPT with limited preemption."""
