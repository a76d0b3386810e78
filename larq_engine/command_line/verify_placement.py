"""Times a placed model, in turns with the same without its placement, and by operator."""

import statistics
from collections import defaultdict
from collections.abc import Sequence

from larq_engine.placing.device_names import device_title
from larq_engine.placing.placement import PlacedOp, Placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.unplaced import Verified
from larq_engine.profiling import turns
from larq_engine.profiling.machine import cpu_name
from larq_engine.profiling.turns import set_batch
from larq_engine.python import library
from larq_engine.python.devices import CPU, accelerator_of
from larq_engine.python.hosts import import_host
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.library import TRANSFER
from larq_engine.python.profile import HOST, ProfileRow
from larq_engine.python.text_table import align_columns

_COLUMNS = ("#", "operator", "layer", "device", "predicted ms", "measured ms")
_NUMBERS = ("#", "predicted ms", "measured ms")
_RUNS = 100
# Number of the main graph; -1 if the host does not tell the graph.
_MAIN = (-1, 0)


def why_not_here(profile: Profile) -> str:
    """Returns the reason why a placement of this profile cannot be tried here, or ""."""
    try:
        import_host(None)
        kernels = library.kernels()
    except (ImportError, OSError) as error:
        return f"the model cannot run here ({error})"
    theirs, ours = profile.machine.get("cpu"), cpu_name()
    if theirs != ours:
        return (
            f"expected a profile of this machine ({ours}), got one of "
            f"{theirs or 'a machine that it does not name'}"
        )
    # Different CPUs of virtual machines often have the same name.
    named = {
        kernel
        for entry in profile.measurements
        if entry.device == "cpu" and entry.kernel
        for kernel in entry.kernel.split("+")
        if kernel.startswith("bgemm_")
    }
    foreign = sorted(named.difference(kernels))
    if foreign:
        return f"expected a profile of this machine, got one of a CPU that runs {foreign[0]}"
    return ""


def run_in_turns(model: bytes, placement: Placement) -> Verified:
    """Times the placed model and the same without its placement, in turns."""
    device = _device_of(placement)
    unplaced = device if placement.unplaced is None else placement.unplaced.device
    rounds = turns.run_in_turns(
        model,
        [{"device": device}, {"device": unplaced, "placement": "none"}],
        threads=placement.threads,
        batch=placement.batch,
    )
    placed, other = zip(*rounds, strict=True)
    gains = [without / ours for ours, without in rounds]
    return Verified(statistics.median(placed), statistics.median(other), min(gains), max(gains))


def _device_of(placement: Placement) -> str:
    """Returns the option `device` that a placement needs."""
    used = [op.device for op in placement.ops]
    used += [op.split.device for op in placement.ops if op.split is not None]
    return next(filter(accelerator_of, used), CPU)


def verify(model: bytes, placement: Placement) -> str:
    """Runs the placed model and returns a table; the host's own operators are one row."""
    device = _device_of(placement)
    with Interpreter(model, num_threads=placement.threads, device=device) as interpreter:
        set_batch(interpreter, placement.batch)
        interpreter.profile(runs=3)
        table = interpreter.profile(runs=_RUNS)
    # The host runs operators that call other graphs, so their time is the host's.
    steps: dict[int, list[ProfileRow]] = defaultdict(list)
    step_of: dict[int, int] = {}
    for row in table:
        if row.op not in (HOST, TRANSFER) and row.subgraph in _MAIN:
            steps[row.node].append(row)
            step_of.update(dict.fromkeys((row.node, *row.absorbed), row.node))
    own: dict[int, list[PlacedOp]] = defaultdict(list)
    for op in placement.ops:
        if op.node in step_of:
            own[step_of[op.node]].append(op)
    rows = [_row(ops, _measured(ops[-1], steps[node], table.runs)) for node, ops in own.items()]
    others = _predicted([op for op in placement.ops if op.node not in step_of])
    others += sum(move.seconds for move in placement.moves) * 1e3
    rest = table.ms_per_run - sum(_sum(some, table.runs) for some in steps.values())
    rows.append(("", "the rest, and moves", "", "", f"{others:.4f}", f"{rest:.4f}"))
    total = f"{placement.seconds * 1e3:.4f}", f"{table.ms_per_run:.4f}"
    rows.append(("", "sum, the engine's clock running", "", "", *total))
    return "\n".join(align_columns(_COLUMNS, rows, _NUMBERS))


def _measured(op: PlacedOp, steps: Sequence[ProfileRow], runs: int) -> float:
    """Returns an operator's milliseconds; if it is split, those of the longer half and the join."""
    if op.split is None:
        return _sum(steps, runs)
    *halves, join = steps
    return max(_sum([half], runs) for half in halves) + _sum([join], runs)


def _sum(steps: Sequence[ProfileRow], runs: int) -> float:
    return sum(row.ms_per_call * row.calls for row in steps) / runs


def _predicted(ops: Sequence[PlacedOp]) -> float:
    """Returns the milliseconds that operators are predicted to take."""
    return sum(op.seconds or 0.0 for op in ops) * 1e3


def _row(ops: list[PlacedOp], milliseconds: float) -> tuple[str, ...]:
    """Formats predicted and measured milliseconds of the operators that one step computes."""
    split = ops[-1].split
    return (
        "+".join(str(op.node) for op in ops),
        "+".join(op.op for op in ops),
        ops[-1].layer,
        ops[-1].title + ("" if split is None else f" + {device_title(split.device)}"),
        f"{_predicted(ops):.4f}",
        f"{milliseconds:.4f}",
    )
