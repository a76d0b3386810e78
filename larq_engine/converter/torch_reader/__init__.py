"""Reads PyTorch modules. Nothing else in the package imports torch."""
