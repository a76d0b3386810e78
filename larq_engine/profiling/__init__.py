"""Measures what each operator of a model takes: on each device, with each kernel, for each batch.

Operators are cut out of the model and run alone, and as the runs that a device fuses, on the values
that they meet in the model. What is measured goes into a profile's file (placing/profile_file.py).
"""
