"""Sends packets through an AXI4-Stream wrapper, with pauses on both sides; cocotb runs it."""

import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

_FOLDER = Path(os.environ["LARQ_ENGINE_EXPORT"])


def _pixels(name: str) -> list[int]:
    return [int(line, 16) for line in (_FOLDER / name).read_text().split()]


async def _run(dut: Any, images: int, cut: int) -> tuple[list[int], list[int]]:
    """Sends all pixels; `cut` moves the end of each packet. Returns pixels and ends of packets."""
    sent, count = _pixels("input.hex"), len(_pixels("expected.hex"))
    rng = random.Random(1)
    cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
    dut.aresetn.value = 0
    dut.s_axis_tvalid.value = 0
    dut.m_axis_tready.value = 0
    for _ in range(3):
        await FallingEdge(dut.aclk)
    dut.aresetn.value = 1
    made: list[int] = []
    ends: list[int] = []
    at, is_offered, size = 0, False, len(sent) // images
    while len(made) < count:
        # A pixel that is offered stays until it is taken.
        is_offered = at < len(sent) and (is_offered or rng.random() < 0.7)
        dut.s_axis_tvalid.value = int(is_offered)
        if is_offered:
            dut.s_axis_tdata.value = sent[at]
            dut.s_axis_tlast.value = int((at + cut) % size == size - 1)
        is_ready = rng.random() < 0.7
        dut.m_axis_tready.value = int(is_ready)
        await Timer(1, unit="ns")
        if is_offered and int(dut.s_axis_tready.value):
            at, is_offered = at + 1, False
        if is_ready and int(dut.m_axis_tvalid.value):
            if int(dut.m_axis_tlast.value):
                ends.append(len(made))
            made.append(int(dut.m_axis_tdata.value))
        await FallingEdge(dut.aclk)
    return made, ends


@cocotb.test()
async def packets_have_the_engines_pixels(dut: Any) -> None:
    images = int(os.environ["LARQ_ENGINE_IMAGES"])
    made, ends = await _run(dut, images, cut=0)
    assert made == _pixels("expected.hex")
    size = len(made) // images
    assert ends == list(range(size - 1, len(made), size))
    assert int(dut.size_error.value) == 0


@cocotb.test()
async def packets_of_another_size_are_an_error(dut: Any) -> None:
    await _run(dut, int(os.environ["LARQ_ENGINE_IMAGES"]), cut=1)
    assert int(dut.size_error.value) == 1
