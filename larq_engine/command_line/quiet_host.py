"""Keeps a host from printing that it uses XNNPACK, which it says once in a process."""

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.quiet import quiet_tensorflow
from larq_engine.python.hosts import import_host
from larq_engine.python.session import Session


def quiet_host(host: str | None = None) -> None:
    """Makes the host say it unread, about a model of its own, so that no error is lost.

    Raises:
        ValueError: There is no host of this name.
        ImportError: The host, or any at all, is not installed.
    """
    import_host(host)
    # This is the smallest graph that XNNPACK takes.
    x, y = Tensor("x", (1,), "FLOAT32"), Tensor("y", (1,), "FLOAT32")
    add = Op("ADD", [x, x], [y], schema.make_options("AddOptions"))
    content = schema.write(schema.make_model([Graph("main", [x], [y], [add])]))
    with quiet_tensorflow():
        Session(content, num_threads=1, host=host).close()
