"""The command `larq-engine`: convert models, and look into converted ones.

Each sub-command is a module with `add_parser`. What takes long to import is imported in functions,
so that --help and mistakes in the arguments answer at once.
"""

from larq_engine.command_line.program import main

__all__ = ["main"]
