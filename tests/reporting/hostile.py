"""Makes a profile in which every text tries to become part of the page."""

from typing import Any

from tests.reporting.profiles import placement_fields, residual_fields

TEXT = (
    """</script></style></title><img src=x onerror="hacked=1">' onfocus="hacked=1" """
    "\x1b[2J\ud800&amp;"
)


def hostile_fields() -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the fields of a profile and of its placement."""
    profile = residual_fields(2)
    placement = placement_fields(profile)
    profile["engine"] = profile["energy"] = TEXT
    profile["model"]["name"] = TEXT
    profile["machine"] = {TEXT: TEXT}
    for value in profile["values"]:
        value["name"] += TEXT
    for op in profile["ops"]:
        op["op"] += TEXT
        op["layer"] += TEXT
        op["name"] += TEXT
    for device in profile["devices"]:
        device["title"] += TEXT
        device["name"] += TEXT
        device["memory"] += TEXT if device["memory"] != "host" else ""
    for link in profile["links"]:
        for end in ("from", "to"):
            link[end] += TEXT if link[end] != "host" else ""
    for entry in profile["measurements"]:
        entry["device"] += TEXT
        entry["kernel"] += TEXT
        entry["source"] = TEXT
    for total in profile["totals"]:
        total["device"] += TEXT
    placement["objective"] = placement["way"] = TEXT
    for op in placement["ops"]:
        op["device"] += TEXT
        op["reason"] += TEXT
        op["kernel"] = None
        op["elsewhere"] = [{"device": f"cuda{TEXT}", "more": 1.0, "unit": TEXT}]
    for other in placement["alternatives"]:
        other["name"] += TEXT
    split = next(op for op in placement["ops"] if op["node"] == 4)
    split["split"] = {"device": profile["devices"][2]["name"], "kernel": TEXT}
    split["split"] |= {"channels": 3, "of": 8, "saved": 1e-6}
    return profile, placement
