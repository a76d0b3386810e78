"""Runs the command `larq-engine` as `python -m larq_engine`."""

import sys

from larq_engine.command_line import main

sys.exit(main())
