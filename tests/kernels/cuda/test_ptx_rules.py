"""Checks the rules of instructions that the emulated GPU follows against a package's layouts."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tensor_layouts import atoms_nv as nv

ROOT = Path(__file__).resolve().parents[3]
LANES = 32


@pytest.fixture(scope="module")
def rules(tmp_path_factory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("rules") / "rules.so"
    source = ROOT / "tests/kernels/cuda/ptx_rules_library.cc"
    cxx = os.environ.get("CXX", "g++")
    command = [cxx, "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT}", source, "-o", library]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def test_product_of_bits(rules, rng):
    """Matrices dealt to lanes by the package's layouts come out multiplied."""
    # The instruction with and.popc has the same registers as that with xor.popc.
    atom = nv.SM80_16x8x256_S32U1U1S32_TN_XORPOPC
    m, n, k = atom.shape_mnk
    a = rng.integers(0, 2, (m, k))
    b = rng.integers(0, 2, (n, k))
    c = rng.integers(-1000, 1000, (m, n))
    registers = np.zeros((LANES, 10), np.uint32)  # 4 of a, 2 of b, 4 of c
    for lane in range(LANES):
        for first, matrix, layout in ((0, a, atom.a_layout), (4, b, atom.b_layout)):
            for bit in range(matrix.size // LANES):
                at = layout(lane, bit)  # down the columns
                value = matrix[at % len(matrix), at // len(matrix)]
                registers[lane, first + bit // 32] |= np.uint32(value << bit % 32)
        for i in range(4):
            at = atom.c_layout(lane, i)
            registers[lane, 6 + i] = np.int32(c[at % m, at // m]).view(np.uint32)
    result = np.zeros((LANES, 4), np.int32)
    rules.mma_and(registers.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p))
    product = c + a @ b.T
    for lane in range(LANES):
        for i in range(4):
            at = atom.c_layout(lane, i)
            assert result[lane, i] == product[at % m, at // m]


def test_product_of_bytes(rules, rng):
    atom = nv.SM80_16x8x32_S32S8S8S32_TN
    m, n, k = atom.shape_mnk
    a = rng.integers(-128, 128, (m, k))
    b = rng.integers(-128, 128, (n, k))
    c = rng.integers(-1000, 1000, (m, n))
    registers = np.zeros((LANES, 10), np.uint32)
    for lane in range(LANES):
        lane_bytes = registers[lane].view(np.int8)
        for first, matrix, layout in ((0, a, atom.a_layout), (16, b, atom.b_layout)):
            for i in range(matrix.size // LANES):
                at = layout(lane, i)
                lane_bytes[first + i] = matrix[at % len(matrix), at // len(matrix)]
        for i in range(4):
            at = atom.c_layout(lane, i)
            registers[lane, 6 + i] = np.int32(c[at % m, at // m]).view(np.uint32)
    result = np.zeros((LANES, 4), np.int32)
    rules.mma_bytes(
        registers.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p)
    )
    product = c + a @ b.T
    for lane in range(LANES):
        for i in range(4):
            at = atom.c_layout(lane, i)
            assert result[lane, i] == product[at % m, at // m]


def test_bits_that_differ(rules, rng):
    atom = nv.SM80_8x8x128_S32U1U1S32_TN_XORPOPC
    m, n, k = atom.shape_mnk
    a = rng.integers(0, 2, (m, k))
    b = rng.integers(0, 2, (n, k))
    c = rng.integers(-1000, 1000, (m, n))
    registers = np.zeros((LANES, 4), np.uint32)  # one of a, one of b, 2 of c
    for lane in range(LANES):
        for register, matrix, layout in ((0, a, atom.a_layout), (1, b, atom.b_layout)):
            for bit in range(32):
                at = layout(lane, bit)
                value = matrix[at % len(matrix), at // len(matrix)]
                registers[lane, register] |= np.uint32(value << bit)
        for i in range(2):
            at = atom.c_layout(lane, i)
            registers[lane, 2 + i] = np.int32(c[at % m, at // m]).view(np.uint32)
    result = np.zeros((LANES, 2), np.int32)
    rules.mma_xor(registers.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p))
    differ = c + a @ (1 - b).T + (1 - a) @ b.T
    for lane in range(LANES):
        for i in range(2):
            at = atom.c_layout(lane, i)
            assert result[lane, i] == differ[at % m, at // m]


def test_load_matrix(rules):
    atom = nv.SM75_U32x4_LDSM_N
    for lane in range(LANES):
        for matrix in range(4):
            # The 128 bits at each lane's address follow those of the lane before.
            bit = atom.dst_layout_bits(lane, 32 * matrix)
            assert rules.load_matrix_address_lane(matrix, lane) == bit // 128
            assert rules.load_matrix_word(matrix, lane) == bit % 128 // 32
