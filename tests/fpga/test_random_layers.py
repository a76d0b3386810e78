"""Random layers as hardware, simulated: all pixels are those of the engine's kernels."""

import pytest

from larq_engine.fpga.api import export_verilog
from tests.fpga.random_layers import random_layer
from tests.fpga.simulators import Simulation


@pytest.mark.parametrize("seed", range(100))
def test_a_random_layer_computes_the_engines_pixels(seed, tmp_path):
    content, fold = random_layer(seed)
    exported = export_verilog(content, fold=fold)
    simulation = Simulation(exported, tmp_path)
    cycles = simulation.run()
    assert abs(cycles["of an image"] - exported.image_cycles) <= 2
    assert cycles["between images"] <= exported.cycles + 1
    simulation.run(pauses=8, seed=seed + 1)
