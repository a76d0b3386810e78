"""Prints HEP-BNN's tables of placements with a GPU, as lines of JSON.

    python -m benchmarks.gpu.hep_placements HepCifar.tflite

Each line has a batch, and the seconds of 10,000 images with each device, with the greedy placement
and with the exact one (benchmarks/placing/hep_tables.py). The last lines are the best batches that
HEP-BNN's paper publishes. The engine that is shipped does not have HEP-BNN's seven kernels.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import larq_engine
from benchmarks.gpu.bench import Record
from benchmarks.placing import hep_tables
from larq_engine.placing.profile import Profile

_THREADS = 8
_ROUNDS = 3
_SECONDS = 0.2  # that each operator is measured, with each device and kernel


def records_of(profile: Profile) -> Iterator[Record]:
    """Yields a record for each batch of a profile with one number of threads."""
    (threads,) = profile.threads()
    for batch in profile.batches():
        alone = {
            f"{chosen.device}_s": hep_tables.take(profile, chosen, batch).all
            * hep_tables.IMAGES
            / batch
            for chosen in hep_tables.configurations(profile)
            if chosen.kernel is None and chosen.device != "host"
        }
        placed = hep_tables.place(profile, batch, threads)
        yield {
            "machine": "this one",
            "batch": batch,
            **alone,
            "greedy_s": placed.greedy,
            "values_stay_s": placed.values_stay,
            "exact_s": placed.exact,
            "operators_of_the_exact": placed.devices,
        }


def main() -> None:
    profile = larq_engine.profile(
        Path(sys.argv[1]),
        threads=(_THREADS,),
        batch=hep_tables.BATCHES,
        rounds=_ROUNDS,
        seconds=_SECONDS,
    ).profile
    for record in records_of(profile):
        print(json.dumps(record), flush=True)
    for published in hep_tables.PUBLISHED["cifar"]:
        record = {"machine": published.machine, "batch": published.batch}
        print(json.dumps(record | {"greedy_s": published.seconds}), flush=True)


if __name__ == "__main__":
    main()
