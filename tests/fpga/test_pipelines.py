"""Networks as hardware: the pixels are the engine's, and layers keep the pace that was planned."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line.program import main
from larq_engine.converter import schema
from larq_engine.fpga.api import export_verilog
from larq_engine.fpga.chips import CHIPS, Area, Chip, network_area
from larq_engine.fpga.folds import choose_folds
from larq_engine.fpga.runs import choose_run
from tests.fpga.random_layers import (
    floats_between_layers,
    joined_layers,
    one_channel,
    random_layer,
    regrouped_signs,
    residual_layers,
    rows_of_windows,
)
from tests.fpga.simulators import Simulation, lint, tables

_ROOT = Path(__file__).resolve().parents[2]
_DIGITS = _ROOT / "web" / "live" / "digits.tflite"
_WORDS = _ROOT / "web" / "live" / "words.tflite"


def test_the_binary_layers_of_the_digits_network_keep_their_pace(tmp_path):
    exported = export_verilog(_DIGITS, fold=16)
    simulation = Simulation(exported, tmp_path, is_long=True)
    cycles = simulation.run()
    assert cycles["between images"] == exported.cycles
    assert cycles["of an image"] == pytest.approx(exported.image_cycles, rel=0.01)
    simulation.run(pauses=6, seed=3)
    assert simulation.pixels() == exported.files["expected.hex"].decode().split()


# Signs, int8, pools, and a sum of two ways through the network.
@pytest.mark.parametrize("layers", ["9:12", "12:15"])
def test_layers_of_the_keyword_network(layers, tmp_path):
    exported = export_verilog(_WORDS, layers=layers, fold=32)
    simulation = Simulation(exported, tmp_path, is_long=True)
    simulation.run()
    simulation.run(pauses=9, seed=2)


def test_a_stride_keeps_the_pace_too(tmp_path):
    """A strided layer makes a row of windows of every second row, and rests in between."""
    model = tmp_path / "example.tflite"
    assert main(["example", "-o", str(model)]) == 0
    exported = export_verilog(model, fold=8)
    cycles = Simulation(exported, tmp_path / "out", is_long=True).run()
    assert cycles["between images"] == exported.cycles
    assert abs(cycles["of an image"] - exported.image_cycles) <= 2


@pytest.mark.parametrize("taps", [1, 2])
@pytest.mark.parametrize("threshold", [-5, 0, 1, 9])
def test_one_channel(taps, threshold, tmp_path):
    exported = export_verilog(one_channel(taps, threshold))
    Simulation(exported, tmp_path).run(pauses=3)


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_any_scales(seed, tmp_path):
    exported = export_verilog(residual_layers(seed), layers="0:5", fold=3)
    Simulation(exported, tmp_path).run(pauses=4)


def test_a_view_that_makes_other_pixels_is_no_end(tmp_path):
    with pytest.raises(ValueError, match="expected an output with the pixels of the layer before"):
        export_verilog(regrouped_signs(), layers="0:3")


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_layers_side_by_side_are_joined(seed, dtype, tmp_path):
    exported = export_verilog(joined_layers(seed, dtype), fold=3)
    simulation = Simulation(exported, tmp_path)
    cycles = simulation.run()
    assert abs(cycles["of an image"] - exported.image_cycles) <= 2
    assert cycles["between images"] <= exported.cycles + 1
    simulation.run(pauses=8, seed=seed + 1)


@pytest.mark.parametrize("seed", range(4))
def test_floats_between_layers_are_comparisons_of_sums(seed, tmp_path):
    exported = export_verilog(floats_between_layers(seed), fold=4)
    assert [line.split()[1] for line in exported.report.splitlines()[2:6]] == [
        *("LceBconv2d", "MAX_POOL_2D", "LceQuantize", "LceBconv2d")
    ]
    Simulation(exported, tmp_path).run(pauses=5)


def test_a_model_without_names_of_layers_chooses_the_most_products():
    run = choose_run(schema.read(_WORDS).graphs[0])
    assert (run.first, run.end) == (3, 15)
    assert sum(node.layer.products for node in run.network.nodes) == (
        16 * 16 * 9 * 32 * 64 + 8 * 8 * 9 * 64 * (64 + 96) + 4 * 4 * 9 * 96 * 96
    )


def test_synthesis_takes_about_the_tables_that_were_estimated(tmp_path):
    content, fold = random_layer(18)
    exported = export_verilog(content, fold=fold)
    exported.save(tmp_path)
    assert 0.5 < tables(tmp_path) / exported.luts < 1.3


def test_two_models_in_one_design_do_not_clash(tmp_path):
    for prefix, fold in (("first", 8), ("second", 16)):
        export_verilog(_DIGITS, fold=fold, prefix=prefix).save(tmp_path / prefix)
    (tmp_path / "both_axis.v").write_text(_BOTH)
    lint(tmp_path, "both", "-Ifirst", "-Isecond")


_PORTS = "input wire aclk, input wire aresetn, input wire tready, output wire [{n}:0] tdata"
_BOTH = f"""\
module both_axis ({_PORTS.format(n=1407)}, input wire [31:0] pixel, output wire [7:0] bits);
  first_axis a (.aclk(aclk), .aresetn(aresetn), .s_axis_tdata(pixel), .s_axis_tvalid(1'b1),
    .s_axis_tready(bits[0]), .s_axis_tlast(1'b0), .m_axis_tdata(tdata[703:0]),
    .m_axis_tvalid(bits[1]), .m_axis_tready(tready), .m_axis_tlast(bits[2]), .size_error(bits[3]));
  second_axis b (.aclk(aclk), .aresetn(aresetn), .s_axis_tdata(pixel), .s_axis_tvalid(1'b1),
    .s_axis_tready(bits[4]), .s_axis_tlast(1'b0), .m_axis_tdata(tdata[1407:704]),
    .m_axis_tvalid(bits[5]), .m_axis_tready(tready), .m_axis_tlast(bits[6]), .size_error(bits[7]));
endmodule
"""


@pytest.mark.parametrize("share", [0.06, 0.2, 0.6])
def test_folds_are_those_of_an_exhaustive_search(share):
    network = choose_run(schema.read(_DIGITS).graphs[0]).network
    chip = CHIPS["ecp5-85k"]
    most = int(chip.area.luts * share)
    found = []
    for folds in itertools.product(*(node.layer.folds for node in network.nodes)):
        for node, fold in zip(network.nodes, folds, strict=True):
            node.fold = fold
        area = network_area(network)
        if area.fits(Area(most, chip.area.blocks, chip.area.multipliers)):
            found.append((network.cycles, area.luts))
    choose_folds(network, chip, share)
    assert (network.cycles, network_area(network).luts) == min(found)


def test_a_layer_hears_of_room_late_and_keeps_its_pace(tmp_path):
    """A window of one row takes a pixel a cycle, as the layer before it makes them."""
    exported = export_verilog(rows_of_windows(), fold=1)
    cycles = Simulation(exported, tmp_path, is_long=True).run()
    assert cycles["between images"] == exported.cycles
    assert abs(cycles["of an image"] - exported.image_cycles) <= 2


def test_watts_become_joules_of_layers():
    without = json.loads(export_verilog(_DIGITS).files["device.json"])
    content = json.loads(export_verilog(_DIGITS, watts=2).files["device.json"])
    [whole] = (entry for entry in content["layers"] if entry["nodes"] == [2, 3])
    assert whole["joules"] == pytest.approx(2 * whole["seconds"])
    alone = [entry for entry in content["layers"] if len(entry["nodes"]) == 1]
    areas = sum(entry["area"] for entry in alone)
    for entry in alone:
        assert entry["joules"] == pytest.approx(2 * entry["area"] / areas * entry["seconds"])
    assert all("joules" not in entry for entry in without["layers"])
    with pytest.raises(ValueError, match="watts: expected a number above 0, up to 1000, got -1"):
        export_verilog(_DIGITS, watts=-1)


def test_a_layer_that_nobody_reads_is_refused():
    model = schema.read(joined_layers(1, np.int32))
    graph = model.graphs[0]
    outputs = [graph.ops[0].output]
    content = schema.write(schema.part(model, graph.inputs, graph.ops[:2], outputs))
    with pytest.raises(ValueError, match="expected one input and one output"):
        export_verilog(content, layers="0:2")


def test_the_device_file_has_runs_of_layers_and_their_areas():
    exported = export_verilog(_WORDS)
    content = json.loads(exported.files["device.json"])
    singles = {tuple(entry["nodes"]): entry for entry in content["layers"]}
    assert sum(entry.get("area", 0) for entry in singles.values()) == exported.luts
    assert content["device"]["area"] == int(0.6 * CHIPS["ecp5-85k"].area.luts)
    whole = singles[tuple(range(3, 15))]
    assert whole["seconds"] == pytest.approx(exported.image_cycles / 100e6)
    # A pipeline is faster than its layers one after the other.
    assert whole["seconds"] < 0.6 * sum(singles[(node,)]["seconds"] for node in range(3, 15))
    assert (7, 8) not in singles, "a sum has two inputs without the layer that both come from"


def test_a_model_is_placed_on_three_devices(tmp_path):
    exported = export_verilog(_DIGITS)
    (tmp_path / "device.json").write_bytes(exported.files["device.json"])
    profile = larq_engine.profile(_DIGITS, rounds=1)
    files = [tmp_path / "device.json", "h100"]
    placed = larq_engine.place(_DIGITS, profile, device_files=files)
    assert {"fpga", "h100"} <= {
        other.device for op in placed.placement.ops for other in op.elsewhere
    } | {op.device for op in placed.placement.ops}
    assert placed.placement.area is not None
    assert placed.placement.area <= placed.placement.most_area


def test_a_chip_that_is_too_small_is_told_what_is_missing():
    network = choose_run(schema.read(_WORDS).graphs[0]).network
    small = Chip("small", "a small one", Area(5000, 10, 1))
    with pytest.raises(ValueError, match=r"at least \d+ LUTs, \d+ block RAMs .* got small with"):
        choose_folds(network, small, 0.6)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"layers": "0:2"}, "MUL '.*: hardware does not have it"),
        ({"layers": "4:99"}, "layers: expected a range A:B within 0:18"),
        ({"layers": "4"}, "layers: expected a range of operators, such as '2:5', got '4'"),
        ({"layers": "4:6", "fold": 0}, "fold: expected a whole number from 1 to 65536 or 'auto'"),
        ({"target": "xc7"}, "target: expected one of ecp5-25k, ecp5-45k, ecp5-85k, got 'xc7'"),
        ({"clock": 5}, "clock: expected a whole number from 10 to 400, got 5"),
        ({"area": 2}, "area: expected a share from 0 to 1"),
        ({"prefix": "1st"}, "prefix: expected a letter"),
    ],
)
def test_wrong_arguments_are_named(arguments, error):
    with pytest.raises(ValueError, match=error):
        export_verilog(_WORDS, **arguments)


def test_a_float_input_begins_behind_its_sign():
    with pytest.raises(
        ValueError, match=r"expected bits, int8 or uint8, got float32.*begin behind"
    ):
        export_verilog(_DIGITS, layers="1:3")


def test_the_command_writes_a_folder_once_and_again(tmp_path, capsys):
    content, _ = random_layer(7)
    model = tmp_path / "model.tflite"
    model.write_bytes(content)
    command = ["export-verilog", str(model), "-o", str(tmp_path / "out"), "--fold", "4"]
    assert main(command) == 0
    assert "one image every" in capsys.readouterr().out
    assert main(command) == 0
    assert main([*command, "--prefix", "other"]) == 1
    assert "of another origin or prefix" in capsys.readouterr().err
    readme = (tmp_path / "out" / "README.md").read_bytes()
    (tmp_path / "out" / "README.md").write_text("Mine, about larq_engine.")
    assert main(command) == 1
    assert "of another origin" in capsys.readouterr().err
    (tmp_path / "out" / "README.md").write_bytes(readme)
    (tmp_path / "out" / "device.json").unlink()
    (tmp_path / "out" / "device.json").mkdir()
    before = sorted((tmp_path / "out").iterdir())
    assert main([*command[:-1], "8"]) == 1
    assert sorted((tmp_path / "out").iterdir()) == before


def test_others_hex_files_are_not_replaced(tmp_path):
    (tmp_path / "input.hex").write_text("12")
    with pytest.raises(ValueError, match=r"input\.hex of another origin"):
        export_verilog(random_layer(7)[0], fold=4).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["input.hex"]


def test_a_fold_that_does_not_fit_is_told():
    exported = export_verilog(_DIGITS, fold=1, target="ecp5-25k")
    told = re.search(
        r"NOT fit the chip: it lacks (\d+) LUTs; a fold of (\d+) fits", exported.report
    )
    assert told
    assert int(told[1]) == exported.luts - CHIPS["ecp5-25k"].area.luts
    fold = int(told[2])
    assert "NOT fit" not in export_verilog(_DIGITS, fold=fold, target="ecp5-25k").report
    assert "NOT fit" in export_verilog(_DIGITS, fold=fold - 1, target="ecp5-25k").report
    largest = export_verilog(_WORDS, fold=1, target="ecp5-25k").report
    assert re.search(
        r"it lacks \d+ LUTs, \d+ multipliers; no one fold fits; leave it out, or take fewer",
        largest,
    )


def test_the_result_tells_its_size():
    exported = larq_engine.export_verilog(_DIGITS)
    assert exported.cycles == 292
    assert exported.luts < 0.6 * CHIPS["ecp5-85k"].area.luts
    assert "an image every 292 cycles" in repr(exported)
