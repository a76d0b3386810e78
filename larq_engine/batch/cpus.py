"""Tells how many threads are this worker's share of the machine."""

import os

from larq_engine.python import library


def given_cpus() -> int:
    """Returns the CPUs that this process was given when it was started, at most its usable CPUs.

    Schedulers such as Ray pass the number in OMP_NUM_THREADS; without that, all usable CPUs count.
    """
    usable = library.usable_cpus()
    # A list has the numbers of nested levels, the outermost first.
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    given = int(said) if said.isascii() and said.isdigit() else 0
    return min(given, usable) if given else usable
