"""Measures what each operator of a model takes: on each device, with each kernel, for each batch.

Whole models run, and operators that are cut out of them, on the values that they meet in the model.
What is measured goes into a profile's file (placing/profile_file.py).
"""
