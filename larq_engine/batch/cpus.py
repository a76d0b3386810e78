"""How many threads are this worker's share of the machine."""

import os

from larq_engine.python import library


def given_cpus() -> int:
    """The CPUs that whoever started this process gave it, but no more than it may use.

    Schedulers such as Ray say the number in OMP_NUM_THREADS; without that, all that it may use.
    """
    usable = library.usable_cpus()
    # A list has the numbers of nested levels, the outermost first.
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    given = int(said) if said.isascii() and said.isdigit() else 0
    return min(given, usable) if given else usable
