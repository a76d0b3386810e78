"""Random layers as hardware, simulated: all pixels are those of the engine's kernels."""

import pytest

from larq_engine.fpga.api import export_verilog
from tests.fpga.random_layers import random_layer
from tests.fpga.simulators import Simulation


@pytest.mark.parametrize("seed", range(100))
def test_a_random_layer_computes_the_engines_pixels(seed, tmp_path):
    content, fold = random_layer(seed)
    simulation = Simulation(export_verilog(content, fold=fold), tmp_path)
    simulation.run()
    simulation.run(pauses=8, seed=seed + 1)
