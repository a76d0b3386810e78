"""The module that gives the pixels under a window, one position after the other."""

from larq_engine.fpga.layers import Axis, Window
from larq_engine.fpga.text import (
    CLOCK,
    Module,
    Port,
    bits_for,
    flag,
    joined,
    module,
    number,
    pixel_ports,
    register,
    stream_ports,
    vector,
    wire,
)


def window_module(
    name: str,
    window: Window,
    bits: int,
    pad: int,
    fold: int = 1,
    classes: tuple[tuple[int, ...], ...] = (),
) -> Module:
    """Returns the module for pixels of so many bits; `pad` is a pixel outside of the image.

    It walks over the image and its pads, which take a cycle each, and stays `fold` cycles at each
    window, while there is room for what is made of it. Lines above the last one are in a memory.
    `classes`, of rows and of columns, say which number a position has: out_class.
    """
    rows, columns = window.rows, window.columns
    lines = rows.extent - 1
    xb, yb = bits_for(columns.walked - 1), bits_for(rows.walked - 1)
    body = "  // The place, pads counted, of the pixel that comes next.\n"
    body += register(xb, "x") + register(yb, "y")
    padded = [name for name, axis in (("y", rows), ("x", columns)) if _is_padded(axis)]
    body += "".join(register(1, f"in_{name}") for name in padded)
    body += flag("in_image", " && ".join(f"in_{name}" for name in padded) or "1'b1")
    if fold > 1:
        body += register(1, "free")
    is_free = "out_room" if fold == 1 else "out_room && free"
    body += flag("move", f"{is_free} && (in_valid || !in_image)")
    body += f"  assign in_ready = {is_free} && in_image;\n"
    value = f"in_image ? in_data : {number(bits, pad)}" if padded else "in_data"
    body += wire(bits, "pixel", value)
    body += flag("last_x", f"x == {xb}'d{columns.walked - 1}")
    body += flag("last_y", f"y == {yb}'d{rows.walked - 1}")
    body += wire(xb, "next_x", f"last_x ? {xb}'d0 : x + {xb}'d1")
    body += wire(yb, "next_y", f"last_y ? {yb}'d0 : y + {yb}'d1")
    body += _step("x", xb, columns, "move") + _step("y", yb, rows, "move && last_x") + "\n"
    body += _lines(lines, bits, columns.walked)
    parts = ["pixel"] + [
        f"above[{(n * rows.dilation) * bits - 1}:{(n * rows.dilation - 1) * bits}]"
        for n in range(1, rows.taps)
    ]
    column = rows.taps * bits
    body += wire(column, "column", joined(parts[::-1]))
    kept = columns.extent
    body += f"  reg {vector(kept * column)} columns;\n"
    shifted = "column" if kept == 1 else f"{{column, columns[{kept * column - 1}:{column}]}}"
    body += f"  always @(posedge clk) if (move) columns <= {shifted};\n\n"
    body += _wanted("y", rows, "move && last_x", "last_y")
    body += _wanted("x", columns, "move", "last_x")
    body += flag("wanted", "wanted_y && wanted_x") + _stay(fold)
    taps = [
        f"columns[{x * columns.dilation * column + (y + 1) * bits - 1}:"
        f"{x * columns.dilation * column + y * bits}]"
        for y in range(rows.taps)
        for x in range(columns.taps)
    ]
    body += f"  assign out_data = {joined(taps)};\n"
    out = window.taps * bits
    ports = [
        *CLOCK,
        *stream_ports("in", bits, is_input=True),
        *pixel_ports("out", out, is_input=False),
        Port("out_room", 1),
    ]
    if classes:
        text, size = _class(window, classes)
        body += text
        ports.append(Port("out_class", size, is_input=False))
    about = (
        f"Windows of {rows.taps}x{columns.taps} pixels of {bits} bits over an image of "
        f"{rows.size}x{columns.size}."
    )
    return module(name, about, ports, body)


def _stay(fold: int) -> str:
    """Returns the text that keeps a window for its cycles: the walk is `free` in the last one."""
    text = "  reg has_window;\n  assign out_valid = has_window;\n"
    if fold == 1:
        return text + (
            "  always @(posedge clk) if (reset) has_window <= 1'b0;\n"
            "    else has_window <= move && wanted;\n"
        )
    bits = bits_for(fold - 1)
    return (
        text
        + register(bits, "left")
        + f"""\
  always @(posedge clk) begin
    if (reset) begin
      has_window <= 1'b0;
      free <= 1'b1;
    end else if (move) begin
      has_window <= wanted;
      free <= !wanted;
      left <= {bits}'d{fold - 1};
    end else if (free) has_window <= 1'b0;
    else begin
      free <= left == {bits}'d1;
      left <= left - {bits}'d1;
    end
  end
"""
    )


def class_bits(classes: tuple[tuple[int, ...], ...]) -> int:
    return sum(bits_for(max(found)) for found in classes)


def _is_padded(axis: Axis) -> bool:
    return axis.walked > axis.size


def _step(name: str, bits: int, axis: Axis, step: str) -> str:
    """Returns the text that moves a place along an axis, and says whether it is in the image.

    That is known before the place is there: `move` waits for it, and is the slowest path.
    """
    inside = []
    if axis.before:
        inside.append(f"next_{name} >= {bits}'d{axis.before}")
    end = axis.before + axis.size
    if end < axis.walked:
        inside.append(f"next_{name} < {bits}'d{end}")
    text = (
        f"  always @(posedge clk) if (reset) {name} <= {bits}'d0;\n"
        f"    else if ({step}) {name} <= next_{name};\n"
    )
    if inside:
        text += (
            f"  always @(posedge clk) if (reset) in_{name} <= 1'b{int(axis.before == 0)};\n"
            f"    else if ({step}) in_{name} <= {' && '.join(inside)};\n"
        )
    return text


def _lines(lines: int, bits: int, width: int) -> str:
    """Returns the memory of the lines above; the one just above has the lowest bits."""
    if lines == 0:
        return ""
    size = lines * bits
    shifted = "pixel" if lines == 1 else f"{{above[{size - bits - 1}:0], pixel}}"
    text = f"  reg {vector(size)} above;\n"
    if width == 1:
        return text + f"  always @(posedge clk) if (move) above <= {shifted};\n"
    return (
        text
        + f"""\
  reg {vector(size)} lines [0:{width - 1}];
  always @(posedge clk) begin
    if (move) lines[x] <= {shifted};
    if (move) above <= lines[next_x];
  end
"""
    )


def _wanted(name: str, axis: Axis, step: str, last: str) -> str:
    """Returns whether the window is at a position of the output along an axis."""
    most = max(axis.extent - 1, axis.stride - 1)
    if most == 0:
        return f"  wire wanted_{name} = 1'b1;\n"
    bits = bits_for(most)
    start = f"{bits}'d{axis.extent - 1}"
    again = f"{bits}'d{axis.stride - 1}"
    return (
        register(bits, f"wait_{name}")
        + f"""\
  wire wanted_{name} = wait_{name} == {bits}'d0;
  always @(posedge clk) begin
    if (reset) wait_{name} <= {start};
    else if ({step}) begin
      if ({last}) wait_{name} <= {start};
      else wait_{name} <= wanted_{name} ? {again} : wait_{name} - {bits}'d1;
    end
  end
"""
    )


def _class(window: Window, classes: tuple[tuple[int, ...], ...]) -> tuple[str, int]:
    """Returns the text that gives out_class, and its bits."""
    text, parts, sizes = "", [], []
    for name, axis, found in zip("yx", (window.rows, window.columns), classes, strict=True):
        bits = bits_for(max(found))
        place = bits_for(axis.walked - 1)
        text += register(bits, f"class_{name}") + register(bits, f"next_class_{name}")
        text += f"  always @* begin\n    case ({name})\n"
        for position, kind in enumerate(found):
            end = position * axis.stride + axis.extent - 1
            if kind:
                text += f"      {place}'d{end}: next_class_{name} = {bits}'d{kind};\n"
        text += f"      default: next_class_{name} = {bits}'d0;\n    endcase\n  end\n"
        text += f"  always @(posedge clk) if (move) class_{name} <= next_class_{name};\n"
        parts.append(f"class_{name}")
        sizes.append(bits)
    text += f"  assign out_class = {{{parts[0]}, {parts[1]}}};\n"
    return text, sum(sizes)
