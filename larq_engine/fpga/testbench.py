"""A test bench in plain Verilog: it sends images, with pauses at will, and compares the pixels."""

from larq_engine.fpga.layers import Network
from larq_engine.fpga.text import vector
from larq_engine.fpga.timing import image_cycles

# The greatest integer of Verilog.
_MOST = 2**31 - 1


def testbench(network: Network, prefix: str, images: int) -> str:
    """Returns the text of the test bench, which reads input.hex and expected.hex."""
    source, target = network.source, network.target
    sent, made = images * source.pixels, images * target.pixels
    limit = min(200 * images * network.cycles + 100000, _MOST)
    return f"""\
// Sends {images} images to {prefix}_network, and compares what it makes. Written by larq_engine.
// +pauses=N makes both sides wait in N of 16 cycles; +seed=N draws others; +out=FILE writes pixels.
module {prefix}_tb;
  reg clk = 0;
  always #5 clk = !clk;
  reg reset = 1;

  reg {vector(source.pixel_bits)} inputs [0:{sent - 1}];
  reg {vector(target.pixel_bits)} expected [0:{made - 1}];

  reg in_valid = 0;
  wire in_ready;
  reg {vector(source.pixel_bits)} in_data = 0;
  wire {vector(target.pixel_bits)} out_data;
  wire out_valid;
  reg out_ready = 0;
  {prefix}_network network (
    .clk(clk), .reset(reset),
    .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
    .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );

  reg [8 * 256 - 1:0] out_name;
  integer out_file, pauses, seed, cycle;
  integer sent, made, errors, first_in, first_out, first_end, last_out;

  initial begin
    $readmemh("input.hex", inputs);
    $readmemh("expected.hex", expected);
    if (!$value$plusargs("pauses=%d", pauses)) pauses = 0;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    out_file = 0;
    if ($value$plusargs("out=%s", out_name)) out_file = $fopen(out_name, "w");
    sent = 0;
    made = 0;
    errors = 0;
    cycle = 0;
    first_in = 0;
    first_out = 0;
    first_end = 0;
    last_out = 0;
    repeat (4) @(posedge clk);
    #1 reset = 0;
  end

  function pause(input integer draw);
    pause = (draw & 15) < pauses;
  endfunction

  always @(posedge clk) begin
    cycle <= cycle + 1;
    if (!reset) begin
      // A pixel that was offered stays until it is taken.
      if (in_valid && in_ready) begin
        if (sent == 0) first_in = cycle;
        sent = sent + 1;
        in_valid <= 0;
      end
      if ((!in_valid || in_ready) && sent < {sent} && !pause($random(seed))) begin
        in_valid <= 1;
        in_data <= inputs[sent];
      end
      out_ready <= !pause($random(seed));
      if (out_valid && out_ready) begin
        if (out_data !== expected[made]) begin
          errors = errors + 1;
          if (errors <= 4)
            $display("pixel %0d: expected %h, got %h", made, expected[made], out_data);
        end
        if (out_file != 0) $fdisplay(out_file, "%h", out_data);
        if (made == 0) first_out = cycle;
        if (made == {target.pixels - 1}) first_end = cycle;
        last_out = cycle;
        made = made + 1;
      end
      if (made == {made}) begin
        $display("%0s: %0d images, %0d wrong pixels of %0d", errors == 0 ? "PASSED" : "FAILED",
                 {images}, errors, made);
        $display("cycles to the first pixel: %0d", first_out - first_in);
        $display("cycles of an image: %0d", first_end - first_in + 1);
        $display("expected without pauses: {image_cycles(network)}");
        if ({images} > 1)
          $display("cycles between images: %0d", (last_out - first_end) / {max(1, images - 1)});
        if ({images} > 1) $display("expected without pauses: {network.cycles}");
        $finish;
      end
      if (cycle > {limit}) begin
        $display("FAILED: stopped after %0d of {made} pixels", made);
        $finish;
      end
    end
  end
endmodule
"""
