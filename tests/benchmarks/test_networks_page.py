"""The page of networks and its pictures agree with its file of results."""

import json

from benchmarks import networks_page
from benchmarks.networks_page import DOCS

RESULTS = json.loads((DOCS / "networks.json").read_text())


def result(ours: float) -> dict[str, object]:
    """Makes a result in which TensorFlow's int8 file is a quarter of float's, and twice as fast."""
    return {
        "cpu": "a CPU",
        "commit": "abc",
        "threads": 1,
        "accuracy": {
            **{"keras": 0.9, "theirs_int8": 0.8, "ours": 0.91},
            **{"ours_int8": 0.7, "like_keras": 0.999},
        },
        "bytes": {"float": 4_000_000, "int8": 1_000_000, "ours": 125_000, "our int8": 100_000},
        "ms": {"float": 8.0, "int8": 4.0, "ours": ours, "our int8": 0.5},
    }


MADE_UP = {"resnet18": result(1.0), "resnet18-float13": result(2.0), "lenet": result(0.25)}
MARKS = "".join(
    f"<!-- {part}, of networks.json: {mark}. -->\n"
    for part in ("networks", "stages")
    for mark in ("begin", "end")
)


def test_the_page_has_the_tables_of_its_file() -> None:
    page = (DOCS / "networks.md").read_text()
    assert networks_page.with_tables(page, RESULTS) == page


def test_pictures_are_those_of_the_file() -> None:
    for name, picture in networks_page.pictures(RESULTS).items():
        assert (DOCS / "images" / name).read_bytes() == picture, name
        assert f"images/{name})" in (DOCS / "networks.md").read_text()


def test_tables_have_each_network_where_it_belongs() -> None:
    networks, stages = networks_page.with_tables(MARKS, MADE_UP).split("<!-- stages")[:2]
    assert "| lenet | 90.0 | 80.0 | 91.0 | 70.0 | 99.9 |" in networks
    assert "| lenet | 4 | 1 | 0.125 | 0.1 | 8 | 4 | 0.25 | 0.5 |" in networks
    assert "| none | 4 | 1 | 0.125 | 0.1 | 8 | 4 | 1 | 0.5 |" in stages
    assert "| 1, 3 | 4 | 1 | 0.125 | 0.1 | 8 | 4 | 2 | 0.5 |" in stages
    assert "13" not in networks
    assert "lenet" not in stages
    for part in (networks, stages):
        assert "a CPU, 1 thread(s); commit abc." in part


def test_bars_are_shares_of_the_float_file() -> None:
    drawn = networks_page.pictures(MADE_UP)["networks_time.svg"].decode()
    widths = dict(zip(("int8", "ours"), _widths(drawn, "lenet"), strict=False))
    assert widths["int8"] / widths["ours"] == 16


def _widths(drawn: str, network: str) -> list[float]:
    """Returns the widths of the bars below a network's name."""
    below = drawn.partition(f">{network} (")[2]
    return [float(part.split('"')[0]) for part in below.split(' width="')[1:]]
