"""Benchmarks: speed as a ratio against named peers and against the machine's own limit."""
