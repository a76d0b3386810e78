"""Reads and checks operators for exporters, and has the engine's int8 results as whole numbers."""
