"""Hosts say once in a process that they use XNNPACK, which is no news to users of commands."""

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.quiet import quiet_tensorflow
from larq_engine.python.session import Session


def quiet_host(runtime: str | None = None) -> None:
    """Lets the host say so where nobody reads it: of a model of its own, so that no error is lost.

    Raises:
        ValueError: There is no such runtime.
        ImportError: It, or any, is not installed.
    """
    # The least that XNNPACK takes.
    x, y = Tensor("x", (1,), "FLOAT32"), Tensor("y", (1,), "FLOAT32")
    add = Op("ADD", [x, x], [y], schema.make_options("AddOptions"))
    content = schema.write(schema.make_model([Graph("main", [x], [y], [add])]))
    with quiet_tensorflow():
        Session(content, num_threads=1, runtime=runtime).close()
