"""Writes binary layers of a model as Verilog: a pipeline that takes and makes a pixel at a time.

`runs.py` chooses operators, `reading.py` turns them into the layers of `layers.py`, `folds.py`
chooses how many cycles each takes, and the files whose names end in `_module` or `_modules` write
Verilog. `folder.py`, `testbench.py`, `board.py` and `device.py` write what goes with it.
"""
