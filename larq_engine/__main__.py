"""`python -m larq_engine` is the command `larq-engine`."""

import sys

from larq_engine.command_line import main

sys.exit(main())
