"""The modules of a whole network: its layers, the queues between them, and a wrapper for AXI."""

import math
from collections.abc import Callable

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.fpga.layers import Layer, Network, Pool, Product, Sum, ToSigns
from larq_engine.fpga.product_module import product_modules
from larq_engine.fpga.queues import queue_depths
from larq_engine.fpga.shared_modules import count_module, queue_module, queue_name
from larq_engine.fpga.streams import Stream, to_pixels
from larq_engine.fpga.text import (
    CLOCK,
    Module,
    Port,
    bits_for,
    flag,
    joined,
    module,
    register,
    stream_ports,
    vector,
    widened,
    wire,
)
from larq_engine.fpga.value_modules import (
    byte_pool_module,
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
            text += _declared(f"v{value}", network.stream(value).pixel_bits)
        text += (
            "  assign v0_data = in_data;\n  assign v0_valid = in_valid;\n"
            "  assign in_ready = v0_ready;\n"
        )
        for value in range(len(network.nodes)):
            text += self._shared(value)
        depths = queue_depths(network)
        for number, node in enumerate(network.nodes):
            text += f"\n  // {node.layer.op}\n"
            reads = []
            for place in range(len(node.reads)):
                source = self._source(number, place)
                if isinstance(node.layer, ToSigns):
                    reads.append(source)
                else:
                    text += self._queue(number, place, source, depths[number, place])
                    reads.append(f"q{number}_{place}")
            text += self._layer(number, node.layer, node.fold, reads)
        last = len(network.nodes)
        return text + (
            f"\n  assign out_data = v{last}_data;\n  assign out_valid = v{last}_valid;\n"
            f"  assign v{last}_ready = out_ready;\n"
        )

    def _source(self, number: int, place: int) -> str:
        value = self.network.nodes[number].reads[place]
        readers = self.network.readers(value)
        return f"v{value}" if len(readers) == 1 else f"r{number}_{place}"

    def _shared(self, value: int) -> str:
        """Lets several layers read a value: it is gone when all have taken it."""
        readers = self.network.readers(value)
        if len(readers) == 1:
            return ""
        names = [f"r{number}_{place}" for number, place in readers]
        count, bits = len(names), self.network.stream(value).pixel_bits
        text = f"  reg {vector(count)} v{value}_taken;\n"
        for n, name in enumerate(names):
            text += wire(bits, f"{name}_data", f"v{value}_data")
            text += f"  wire {name}_ready;\n"
            text += flag(f"{name}_valid", f"v{value}_valid && !v{value}_taken[{n}]")
        ready = joined([f"{name}_ready" for name in names])
        return text + (
            f"  wire {vector(count)} v{value}_done = v{value}_taken | {ready};\n"
            f"  assign v{value}_ready = &v{value}_done;\n"
            f"  always @(posedge clk) if (reset) v{value}_taken <= {count}'d0;\n"
            f"    else if (v{value}_valid) v{value}_taken <= v{value}_ready ? {count}'d0 : "
            f"v{value}_done;\n"
        )

    def _queue(self, number: int, place: int, source: str, depth: int) -> str:
        bits = self.network.stream(self.network.nodes[number].reads[place]).pixel_bits
        self.add(queue_module(self.prefix, bits, depth))
        name = f"q{number}_{place}"
        return _declared(name, bits) + _instance(
            queue_name(self.prefix, bits, depth),
            f"queue_{number}_{place}",
            [*_clock(), *_connected("in", source), *_connected("out", name)],
        )

    def _layer(self, number: int, layer: Layer, fold: int, reads: list[str]) -> str:
        name, out = f"{self.prefix}_layer{number}", f"v{number + 1}"
        if isinstance(layer, Sum):
            self.add(sum_module(name, layer, fold))
            links = [*_clock(), *_connected("a", reads[0]), *_connected("b", reads[1])]
            return _instance(name, f"layer_{number}", [*links, *_connected("out", out)])
        [source] = reads
        if isinstance(layer, ToSigns):
            self.add(signs_module(name, layer))
            links = [*_connected("in", source), *_connected("out", out)]
            return _instance(name, f"layer_{number}", links)
        assert isinstance(layer, (Pool, Product))
        windows = f"w{number}"
        text = _declared(windows, layer.window.taps * layer.source.pixel_bits)
        links = [*_clock(), *_connected("in", source), *_connected("out", windows)]
        classes: tuple[tuple[int, ...], ...] = ()
        if isinstance(layer, Product) and layer.has_classes:
            classes = (layer.row_classes, layer.column_classes)
            text += f"  wire {vector(class_bits(classes))} c{number};\n"
            links.append(f".out_class(c{number})")
        self.add(
            window_module(
                f"{name}_window", layer.window, layer.source.pixel_bits, _pad(layer), classes
            )
        )
        text += _instance(f"{name}_window", f"window_{number}", links)
        links = [*_connected("in", windows), *_connected("out", out)]
        if isinstance(layer, Pool):
            is_sign = layer.source.kind == "sign"
            self.add((sign_pool_module if is_sign else byte_pool_module)(name, layer))
            return text + _instance(name, f"layer_{number}", ([] if is_sign else _clock()) + links)
        self.add(*product_modules(name, self.prefix, layer, fold))
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


def _connected(port: str, name: str) -> list[str]:
    return [f".{port}_{end}({name}_{end})" for end in ("data", "valid", "ready")]


def _declared(name: str, bits: int) -> str:
    return f"  wire {vector(bits)} {name}_data;\n  wire {name}_valid, {name}_ready;\n"


def _instance(kind: str, name: str, links: list[str]) -> str:
    lines = ",\n    ".join(", ".join(links[n : n + 3]) for n in range(0, len(links), 3))
    return f"  {kind} {name} (\n    {lines}\n  );\n"


def _axis_module(network: Network, prefix: str) -> Module:
    """Returns the wrapper with two AXI4-Stream interfaces, of whole bytes."""
    source, target = network.source, network.target
    in_bits, out_bits = (8 * math.ceil(stream.pixel_bits / 8) for stream in (source, target))
    body = "  wire reset = !aresetn;\n"
    body += _declared("out", target.pixel_bits)
    links = [
        ".clk(aclk)",
        ".reset(reset)",
        f".in_data(s_axis_tdata[{source.pixel_bits - 1}:0])",
        ".in_valid(s_axis_tvalid)",
        ".in_ready(s_axis_tready)",
        *_connected("out", "out"),
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
