"""Times and devices as node data for Google's model-explorer.

Its file has under "results", for each node, a value that is shown and compared, and colours. A
node is named by its output tensor, or by its number where that name is not its own.
"""

import json
from collections import Counter

from larq_engine.reporting.palette import ROLES, device_role
from larq_engine.reporting.study import Study


def format_overlay(study: Study) -> bytes:
    """The bytes of the file: milliseconds of each operator, in its device's colour."""
    names = Counter(op.op.name for op in study.ops)
    results = {}
    for op in study.ops:
        if op.chosen is None:
            continue
        own = op.op.name if op.op.name and names[op.op.name] == 1 else str(op.op.node)
        colour, _ = ROLES[device_role(study.device_number(op.chosen.device))]
        results[own] = {
            "value": op.chosen.seconds.median * 1e3,
            "bgColor": colour,
            "textColor": ROLES["page"][0],
        }
    content = {"name": f"{study.profile.model.name}: ms", "results": results}
    return f"{json.dumps(content, indent=1)}\n".encode()
