"""Reads PyTorch modules. No other part of the package imports torch."""
