"""Turns Larq models into .tflite files with binary operators: see api.py for what users call."""
