"""Provides the command `larq-engine`, which converts models and looks into converted ones.

Each sub-command is a module with `add_parser`. Slow imports are made inside functions, so that
--help and mistakes in the arguments are answered at once.
"""

from larq_engine.command_line.program import main

__all__ = ["main"]
