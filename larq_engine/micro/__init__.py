"""Writes a model as a folder of C for microcontrollers: integers, no heap, no library.

`c/` has the kernels, which are copied into the folder as they are; the Python modules choose them,
plan the memory and write what is special to a model.
"""
