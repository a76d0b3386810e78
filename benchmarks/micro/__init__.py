"""Counts what exported models take of emulated microcontrollers: `python -m benchmarks.micro`."""
