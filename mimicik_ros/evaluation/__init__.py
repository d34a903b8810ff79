"""Streams, metrics, rollouts and plots that score a run (extra: eval)."""
