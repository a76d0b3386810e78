"""Measures the cost of each operator of a model on each device, with each kernel, for each batch.

Whole models run, and so do operators that are cut out of them, on the values that they meet in the
model. The results go into a profile's file (placing/profile_file.py).
"""
