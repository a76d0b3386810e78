"""What a placed model takes beside what its placement predicted, operator by operator."""

from collections import defaultdict

from larq_engine.placing.placement import PlacedOp, Placement
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.profile import HOST
from larq_engine.python.text_table import align_columns

_COLUMNS = ("#", "operator", "layer", "device", "predicted", "measured")
_NUMBERS = ("#", "predicted", "measured")
_RUNS = 100
# The `op` of rows for what moves between memories.
_TRANSFER = "TRANSFER"


def verify(model: bytes, placement: Placement) -> str:
    """Runs the placed model and returns a table; the host's own operators are one row."""
    gpus = [op.device for op in placement.ops if op.device.startswith("cuda")]
    device = gpus[0] if gpus else "cpu"
    with Interpreter(model, num_threads=placement.threads, device=device) as interpreter:
        shapes = [(placement.batch, *shape[1:]) for shape in interpreter.input_shapes]
        if shapes != interpreter.input_shapes:
            interpreter.resize(shapes)
        interpreter.profile(runs=3)
        table = interpreter.profile(runs=_RUNS)
    measured: dict[int, float] = defaultdict(float)
    own = {row.node for row in table if row.op not in (HOST, _TRANSFER)}
    for row in table:
        measured[row.node if row.node in own and row.op != _TRANSFER else -1] += row.ms_per_call
    rows = [_row(op, measured[op.node]) for op in placement.ops if op.node in own]
    others = [op.seconds for op in placement.ops if op.node not in own]
    others += [move.seconds for move in placement.moves]
    rows.append(("", "host and moves", "", "", f"{sum(others) * 1e3:.4f}", f"{measured[-1]:.4f}"))
    total = f"{placement.seconds * 1e3:.4f}", f"{table.ms_per_run:.4f}"
    rows.append(("", "in all, in ms", "", "", *total))
    return "\n".join(align_columns(_COLUMNS, rows, _NUMBERS))


def _row(op: PlacedOp, milliseconds: float) -> tuple[str, ...]:
    predicted = f"{op.seconds * 1e3:.4f}"
    return str(op.node), op.op, op.layer, op.device, predicted, f"{milliseconds:.4f}"
