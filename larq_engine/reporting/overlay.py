"""Writes times and devices as node data for Google's model-explorer.

The file has under "results", for each node, a value that is shown and compared, and colours. A
node's key is the name of its output tensor, or its number if other nodes have that name too.
"""

import json
from collections import Counter

from larq_engine.reporting.palette import ROLES, device_role
from larq_engine.reporting.study import Study


def format_overlay(study: Study) -> bytes:
    """Returns the bytes of the file: milliseconds of each operator, in its device's colour."""
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
