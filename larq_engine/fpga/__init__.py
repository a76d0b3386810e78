"""Writes binary layers of a model as Verilog: a pipeline that takes and makes a pixel at a time.

`reading.py` turns operators into the layers of `layers.py`, `folds.py` chooses how many cycles each
takes, and the files whose names begin with `verilog` write the modules.
"""
