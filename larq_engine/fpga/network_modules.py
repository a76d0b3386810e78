"""The modules of a whole network: its layers, the queues between them, and a wrapper for AXI."""

import math
from collections.abc import Callable

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.count_module import count_module
from larq_engine.fpga.layers import Join, Network, Node, Pool, Product, Sum, ToSigns
from larq_engine.fpga.product_module import product_modules
from larq_engine.fpga.queue_module import queue_module, queue_name
from larq_engine.fpga.queues import Queue, queues_of
from larq_engine.fpga.streams import Stream, to_pixels
from larq_engine.fpga.text import (
    CLOCK,
    Module,
    Port,
    bits_for,
    flag,
    module,
    register,
    stream_ports,
    vector,
    widened,
)
from larq_engine.fpga.value_modules import (
    byte_pool_module,
    join_module,
    sign_pool_module,
    signs_module,
    sum_module,
)
from larq_engine.fpga.window_module import class_bits, window_module


def network_modules(network: Network, prefix: str) -> list[Module]:
    """Returns all modules; the network's is called `prefix`_network, the wrapper `prefix`_axis."""
    found: dict[str, Module] = {}

    def add(*modules: Module) -> None:
        found.update({made.name: made for made in modules})

    top = _Top(network, prefix, add)
    add(module(f"{prefix}_network", _about(network), top.ports(), top.text()))
    add(_axis_module(network, prefix))
    return list(found.values())


def _about(network: Network) -> str:
    return (
        f"{len(network.nodes)} layers: {network.source} become {network.target}, one image "
        f"every {network.cycles} cycles."
    )


class _Top:
    def __init__(self, network: Network, prefix: str, add: Callable[..., None]) -> None:
        self.network, self.prefix, self.add = network, prefix, add
        self.queues = queues_of(network)

    def ports(self) -> list[Port]:
        return [
            *CLOCK,
            *stream_ports("in", self.network.source.pixel_bits, is_input=True),
            *stream_ports("out", self.network.target.pixel_bits, is_input=False),
        ]

    def text(self) -> str:
        network = self.network
        text = ""
        for value in range(len(network.nodes) + 1):
            text += _pixel_wires(f"v{value}", network.stream(value).pixel_bits)
            text += f"  wire v{value}_room;\n"
        text += (
            "  assign v0_data = in_data;\n  assign v0_valid = in_valid && v0_room;\n"
            "  assign in_ready = v0_room;\n"
        )
        for (number, place), queue in self.queues.items():
            text += self._queue(number, place, queue)
        for value in range(len(network.nodes) + 1):
            text += self._room(value)
        for number, node in enumerate(network.nodes):
            text += f"\n  // {node.layer.op}\n"
            text += self._layer(number, node)
        last = f"q{len(network.nodes)}_0"
        return text + (
            f"\n  assign out_data = {last}_data;\n  assign out_valid = {last}_valid;\n"
            f"  assign {last}_ready = out_ready;\n"
        )

    def _room(self, value: int) -> str:
        """Says that there is room for a value where all that read it have room."""
        rooms = [
            f"q{number}_{place}_room" if (number, place) in self.queues else f"v{number + 1}_room"
            for number, place in self.network.readers(value)
        ]
        if value == len(self.network.nodes):
            rooms.append(f"q{value}_0_room")
        return f"  assign v{value}_room = {' && '.join(rooms)};\n"

    def _queue(self, number: int, place: int, queue: Queue) -> str:
        bits = self.network.stream(queue.value).pixel_bits
        self.add(queue_module(self.prefix, bits, queue))
        name = f"q{number}_{place}"
        links = [*_clock(), *_pixels("in", f"v{queue.value}"), f".in_room({name}_room)"]
        return (
            _stream_wires(name, bits)
            + f"  wire {name}_room;\n"
            + _instance(
                queue_name(self.prefix, bits, queue),
                f"queue_{number}_{place}",
                [*links, *_stream("out", name)],
            )
        )

    def _layer(self, number: int, node: Node) -> str:
        layer = node.layer
        name, out = f"{self.prefix}_layer{number}", f"v{number + 1}"
        room = f".out_room({out}_room)"
        if isinstance(layer, Sum):
            self.add(sum_module(name, layer, node.fold))
            links = [*_clock(), *_stream("a", f"q{number}_0"), *_stream("b", f"q{number}_1")]
            return _instance(name, f"layer_{number}", [*links, *_pixels("out", out), room])
        if isinstance(layer, Join):
            sizes = [self.network.stream(value).pixel_bits for value in node.reads]
            self.add(join_module(name, sizes))
            links = [
                link for n in range(len(sizes)) for link in _stream(f"in{n}", f"q{number}_{n}")
            ]
            return _instance(name, f"layer_{number}", [*links, *_pixels("out", out), room])
        if isinstance(layer, ToSigns):
            self.add(signs_module(name, layer))
            links = [*_clock(), *_pixels("in", f"v{node.reads[0]}"), *_pixels("out", out)]
            return _instance(name, f"layer_{number}", links)
        assert isinstance(layer, (Pool, Product))
        windows = f"w{number}"
        text = _pixel_wires(windows, layer.window.taps * layer.source.pixel_bits)
        links = [*_clock(), *_stream("in", f"q{number}_0"), *_pixels("out", windows), room]
        classes: tuple[tuple[int, ...], ...] = ()
        if isinstance(layer, Product) and layer.has_classes:
            classes = (layer.row_classes, layer.column_classes)
            text += f"  wire {vector(class_bits(classes))} c{number};\n"
            links.append(f".out_class(c{number})")
        bits = layer.source.pixel_bits
        walk = window_module(f"{name}_window", layer.window, bits, _pad(layer), node.fold, classes)
        self.add(walk)
        text += _instance(walk.name, f"window_{number}", links)
        links = [*_pixels("in", windows), *_pixels("out", out)]
        if isinstance(layer, Pool):
            is_sign = layer.source.kind == "sign"
            self.add((sign_pool_module if is_sign else byte_pool_module)(name, layer))
            return text + _instance(name, f"layer_{number}", ([] if is_sign else _clock()) + links)
        self.add(*product_modules(name, self.prefix, layer, node.fold))
        self.add(count_module(self.prefix, layer.taps))
        if classes:
            links.append(f".in_class(c{number})")
        return text + _instance(name, f"layer_{number}", [*_clock(), *links])


def _pad(layer: Pool | Product) -> int:
    """Returns the pixel outside of the image; the least value does not change a maximum,
    the greatest no minimum."""
    if isinstance(layer, Product):
        value: int | Array = layer.pad
    else:
        least = -(2 ** (layer.source.bits - 1))
        value = 1 if layer.source.kind == "sign" else np.where(layer.falls or False, ~least, least)
    return to_pixels(layer.source, np.broadcast_to(value, layer.source.channels))[0]


def _clock() -> list[str]:
    return [".clk(clk)", ".reset(reset)"]


def _pixels(port: str, name: str) -> list[str]:
    return [f".{port}_{end}({name}_{end})" for end in ("data", "valid")]


def _stream(port: str, name: str) -> list[str]:
    return [*_pixels(port, name), f".{port}_ready({name}_ready)"]


def _pixel_wires(name: str, bits: int) -> str:
    return f"  wire {vector(bits)} {name}_data;\n  wire {name}_valid;\n"


def _stream_wires(name: str, bits: int) -> str:
    return _pixel_wires(name, bits) + f"  wire {name}_ready;\n"


def _instance(kind: str, name: str, links: list[str]) -> str:
    lines = ",\n    ".join(", ".join(links[n : n + 3]) for n in range(0, len(links), 3))
    return f"  {kind} {name} (\n    {lines}\n  );\n"


def _axis_module(network: Network, prefix: str) -> Module:
    """Returns the wrapper with two AXI4-Stream interfaces, of whole bytes."""
    source, target = network.source, network.target
    in_bits, out_bits = (8 * math.ceil(stream.pixel_bits / 8) for stream in (source, target))
    body = "  wire reset = !aresetn;\n"
    body += _stream_wires("out", target.pixel_bits)
    links = [
        ".clk(aclk)",
        ".reset(reset)",
        f".in_data(s_axis_tdata[{source.pixel_bits - 1}:0])",
        ".in_valid(s_axis_tvalid)",
        ".in_ready(s_axis_tready)",
        *_stream("out", "out"),
    ]
    body += _instance(f"{prefix}_network", "network", links)
    data = widened("out_data", target.pixel_bits, out_bits)
    body += f"  assign m_axis_tdata = {data};\n"
    if in_bits > source.pixel_bits:
        body += (
            f"  wire unused_bits = &{{1'b0, s_axis_tdata[{in_bits - 1}:{source.pixel_bits}]}};\n"
        )
    body += "  assign m_axis_tvalid = out_valid;\n  assign out_ready = m_axis_tready;\n"
    body += _counted("out", target, "out_valid && out_ready")
    body += "  assign m_axis_tlast = is_last_out;\n"
    body += _counted("in", source, "s_axis_tvalid && s_axis_tready")
    body += """\
  // Stays 1 once tlast was not at the last pixel of an image, and only there.
  reg wrong_size;
  always @(posedge aclk) begin
    if (reset) wrong_size <= 1'b0;
    else if (s_axis_tvalid && s_axis_tready && s_axis_tlast != is_last_in) wrong_size <= 1'b1;
  end
  assign size_error = wrong_size;
"""
    ports = [
        Port("aclk", 1),
        Port("aresetn", 1),
        Port("s_axis_tdata", in_bits),
        Port("s_axis_tvalid", 1),
        Port("s_axis_tready", 1, is_input=False),
        Port("s_axis_tlast", 1),
        Port("m_axis_tdata", out_bits, is_input=False),
        Port("m_axis_tvalid", 1, is_input=False),
        Port("m_axis_tready", 1),
        Port("m_axis_tlast", 1, is_input=False),
        Port("size_error", 1, is_input=False),
    ]
    about = "The network with AXI4-Stream interfaces: a pixel each transfer, an image each packet."
    return module(f"{prefix}_axis", about, ports, body)


def _counted(name: str, stream: Stream, passes: str) -> str:
    """Returns the text that says whether a pixel is the last one of its image."""
    if stream.pixels == 1:
        return f"  wire is_last_{name} = 1'b1;\n"
    bits = bits_for(stream.pixels - 1)
    last = flag(f"is_last_{name}", f"place_{name} == {bits}'d{stream.pixels - 1}")
    return (
        register(bits, f"place_{name}")
        + last
        + f"""\
  always @(posedge aclk) begin
    if (reset) place_{name} <= {bits}'d0;
    else if ({passes}) place_{name} <= is_last_{name} ? {bits}'d0 : place_{name} + {bits}'d1;
  end
"""
    )
