"""The module of a queue between layers."""

from larq_engine.fpga.queues import MOST_IN_TABLES, Queue
from larq_engine.fpga.text import (
    CLOCK,
    Module,
    Port,
    bits_for,
    module,
    pixel_ports,
    register,
    stream_ports,
    vector,
)


def queue_name(prefix: str, bits: int, queue: Queue) -> str:
    return f"{prefix}_queue_{bits}x{queue.depth}_{queue.kept}"


def queue_module(prefix: str, bits: int, queue: Queue) -> Module:
    """Returns a queue: memory for `depth` pixels, and the one that is next.

    It takes each pixel that comes. in_room says when a layer may begin another one: a place is left
    beside the `kept` ones. It passes two registers, one of which can be near the layer.
    """
    depth = queue.depth
    size, places = bits_for(depth), bits_for(depth - 1)
    last = f"{places}'d{depth - 1}"
    body = (
        ('  (* ram_style = "distributed" *)\n' if depth <= MOST_IN_TABLES else "")
        + f"  reg {vector(bits)} memory [0:{depth - 1}];\n"
        + register(places, "head")
        + register(places, "tail")
        + register(size, "count")
        + register(bits, "next")
        + register(1, "has_next")
        + register(1, "has_room")
        + register(1, "room")
        + f"""\
  wire take = count != {size}'d0 && (!has_next || out_ready);
  assign in_room = room;
  assign out_data = next;
  assign out_valid = has_next;

  always @(posedge clk) begin
    if (in_valid) memory[head] <= in_data;
    if (take) next <= memory[tail];
  end
  always @(posedge clk) begin
    if (reset) begin
      head <= {places}'d0;
      tail <= {places}'d0;
      count <= {size}'d0;
      has_next <= 1'b0;
      has_room <= 1'b1;
      room <= 1'b1;
    end else begin
      if (in_valid) head <= head == {last} ? {places}'d0 : head + {places}'d1;
      if (take) tail <= tail == {last} ? {places}'d0 : tail + {places}'d1;
      if (in_valid && !take) count <= count + {size}'d1;
      if (take && !in_valid) count <= count - {size}'d1;
      has_room <= count < {size}'d{depth - queue.kept};
      room <= has_room;
      if (take) has_next <= 1'b1;
      else if (out_ready) has_next <= 1'b0;
    end
  end"""
    )
    ports = [
        *CLOCK,
        *pixel_ports("in", bits, is_input=True),
        Port("in_room", 1, is_input=False),
        *stream_ports("out", bits, is_input=False),
    ]
    about = f"A queue of {depth} pixels of {bits} bits, {queue.kept} of them for what is under way."
    return module(queue_name(prefix, bits, queue), about, ports, body)
