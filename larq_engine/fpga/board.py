"""A design for a board that tests itself: an ULX3S computes images and compares the results."""

import math

from larq_engine.fpga.layers import Network
from larq_engine.fpga.text import bits_for, register, vector

# The board's oscillator, and the range in which the chip's PLL may swing, in MHz.
_OSCILLATOR = 25
_VCO = (400, 800)
_MOST_DIVISOR = 128
# The PLL compares phases at 3.125 MHz or more.
_MOST_DIVIDED = 8

# Bits of a result that are compared in one step.
_COMPARED = 16

# Pins of the ULX3S, from the board's schematics.
_LEDS = ("B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3")


def nearest_clock(wanted: int) -> tuple[int, int, int]:
    """Returns the divisors of input, feedback and output whose clock is nearest, in MHz."""
    found = []
    for divided in range(1, _MOST_DIVIDED + 1):
        for times in range(1, 81):
            clock = _OSCILLATOR * times / divided
            for output in range(1, _MOST_DIVISOR + 1):
                if _VCO[0] <= clock * output <= _VCO[1]:
                    found.append((abs(clock - wanted), divided, times, output))
                    break
    _, divided, times, output = min(found)
    return divided, times, output


def board_text(network: Network, prefix: str, images: int, clock: int) -> str:
    """Returns the design: led[7] stays on after a wrong pixel, the others count images."""
    source, target = network.source, network.target
    sent, received = images * source.pixels, images * target.pixels
    in_bits, out_bits = bits_for(sent - 1), bits_for(received - 1)
    divided, times, output = nearest_clock(clock)
    made_clock = _OSCILLATOR * times / divided
    pixel = bits_for(max(target.pixels - 1, 1))
    parts = math.ceil(target.pixel_bits / _COMPARED)
    difference = "result_kept ^ wanted_kept"
    if parts * _COMPARED > target.pixel_bits:
        difference = f"{{{parts * _COMPARED - target.pixel_bits}'d0, {difference}}}"
    return f"""\
// Runs {prefix}_network on an ULX3S at {made_clock:g} MHz with the test bench's images, for ever:
// led[6:0] count images by 1024, and led[7] stays on once a pixel was wrong.
// Written by larq_engine.
`default_nettype none

module {prefix}_ulx3s (
  input wire clk_25mhz,
  output wire [7:0] led
);
  wire clk, locked;
  EHXPLLL #(
    .CLKI_DIV({divided}), .CLKFB_DIV({times}), .CLKOP_DIV({output}), .CLKOP_CPHASE({output // 2}),
    .CLKOP_FPHASE(0), .CLKOP_ENABLE("ENABLED"), .FEEDBK_PATH("CLKOP"),
    .OUTDIVIDER_MUXA("DIVA"), .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"),
    .STDBY_ENABLE("DISABLED"), .DPHASE_SOURCE("DISABLED")
  ) pll (
    .CLKI(clk_25mhz), .CLKFB(clk), .CLKOP(clk), .LOCK(locked), .RST(1'b0), .STDBY(1'b0),
    .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b0), .PHASESTEP(1'b0), .PHASELOADREG(1'b0),
    .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
  );

  // The clock's lock passes registers one by one, as what is reset is all over the chip.
  reg [3:0] has_lock = 4'd0;
  reg reset = 1'b1;
  always @(posedge clk) begin
    has_lock <= {{has_lock[2:0], locked}};
    reset <= !has_lock[3];
  end

  reg {vector(source.pixel_bits)} inputs [0:{sent - 1}];
  reg {vector(target.pixel_bits)} expected [0:{received - 1}];
  initial begin
    $readmemh("input.hex", inputs);
    $readmemh("expected.hex", expected);
  end

{register(in_bits, "sent")}{register(out_bits, "made")}\
  reg {vector(source.pixel_bits)} in_read, in_data;
  reg has_read, in_valid;
  wire in_ready;
  wire {vector(target.pixel_bits)} out_data;
  wire out_valid;
  {prefix}_network network (
    .clk(clk), .reset(reset),
    .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
    .out_data(out_data), .out_valid(out_valid), .out_ready(1'b1)
  );
  always @(posedge clk) begin
    if (reset) begin
      sent <= {in_bits}'d0;
      has_read <= 1'b0;
      in_valid <= 1'b0;
    end else if (!in_valid || in_ready) begin
      in_read <= inputs[sent];
      has_read <= 1'b1;
      in_data <= in_read;
      in_valid <= has_read;
      sent <= sent == {in_bits}'d{sent - 1} ? {in_bits}'d0 : sent + {in_bits}'d1;
    end
  end

  // A result is compared in stages, as reading a block of memory takes half of a cycle.
  reg {vector(target.pixel_bits)} result, result_kept, wanted, wanted_kept;
  wire {vector(parts * _COMPARED)} bits = {difference};
  reg {vector(parts)} differs;
  reg [2:0] has_result;
  reg is_wrong;
  always @(posedge clk) begin : compared
    integer i;
    for (i = 0; i < {parts}; i = i + 1) differs[i] <= |bits[{_COMPARED} * i +: {_COMPARED}];
  end
{register(pixel, "place")}\
  reg [16:0] images;
  always @(posedge clk) begin
    result <= out_data;
    wanted <= expected[made];
    result_kept <= result;
    wanted_kept <= wanted;
    if (reset) begin
      made <= {out_bits}'d0;
      place <= {pixel}'d0;
      images <= 17'd0;
      has_result <= 3'd0;
      is_wrong <= 1'b0;
    end else begin
      has_result <= {{has_result[1:0], out_valid}};
      if (has_result[2] && |differs) is_wrong <= 1'b1;
      if (out_valid) begin
        made <= made == {out_bits}'d{received - 1} ? {out_bits}'d0 : made + {out_bits}'d1;
        place <= place == {pixel}'d{target.pixels - 1} ? {pixel}'d0 : place + {pixel}'d1;
        if (place == {pixel}'d{target.pixels - 1}) images <= images + 17'd1;
      end
    end
  end
  assign led = {{is_wrong, images[16:10]}};
endmodule

`default_nettype wire
"""


def constraints() -> str:
    """Returns the pins and clock of the board."""
    lines = [
        "# Pins of an ULX3S. Written by larq_engine.",
        'LOCATE COMP "clk_25mhz" SITE "G2";',
        'IOBUF PORT "clk_25mhz" PULLMODE=NONE IO_TYPE=LVCMOS33;',
        'FREQUENCY PORT "clk_25mhz" 25 MHZ;',
    ]
    for number, pin in enumerate(_LEDS):
        lines.append(f'LOCATE COMP "led[{number}]" SITE "{pin}";')
        lines.append(f'IOBUF PORT "led[{number}]" PULLMODE=NONE IO_TYPE=LVCMOS33 DRIVE=4;')
    return "\n".join(lines) + "\n"
