"""Tests the page's contents, that texts stay texts, and that it loads nothing."""

import itertools
import json
import re
from html.parser import HTMLParser
from importlib import resources

import pytest

import larq_engine
from larq_engine.placing.placement_file import read_placement
from larq_engine.placing.profile_file import parse_profile
from larq_engine.placing.unplaced import find_unplaced
from larq_engine.reporting import tables
from larq_engine.reporting.study import make_study
from tests.reporting.hostile import TEXT, hostile_fields
from tests.reporting.profiles import BATCHES, residual_fields, residual_profile, write_pair

_EMPTY = {"link", "meta"}


class _Parsed(HTMLParser):
    """Elements with attributes, and the text, of a page. Elements must be closed in order."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self._open):
            self.text += f"{data}\n"

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    profile, placement = write_pair(tmp_path_factory.mktemp("page"))
    return larq_engine.report(profile, placement).to_html()


@pytest.fixture(scope="module")
def parsed(page):
    return _Parsed(page)


def test_the_page_has_what_the_files_have(parsed):
    for text in (
        "made-up.tflite, 4.20 MB",
        "a made-up CPU",
        "larq_engine on a GPU",
        "not available: no counters",
        "proven the best (minimum cut)",
        "2.39 ms",  # the placement: 1.5 ms times 700 us measured, 438.5 us summed
        "greedy",
        "bgemm_i32_4x4x256_avx2",
        "the least of all with its neighbours on cpu",
        "+61.0 µs",  # for the whole model, if on cuda
        "⇄ 803 kB, 75.9 µs",
        "6 to 8 fused",
    ):
        assert text in parsed.text, text


_QUIET = "quiet: drift of fixed work 0.1 %"
_NOISY = "NOISY: drift of fixed work 10.5 %"


def _with_noise(noise):
    fields = residual_fields(2)
    fields["machine"]["noise"] = noise
    fields["devices"][1]["title"] = "LiteRT 2.3.0 with XNNPACK"
    return parse_profile(json.dumps(fields).encode())


def test_the_card_comes_first_then_pictures_then_the_machine_folded(page, parsed):
    text = page.decode()
    places = [text.index(part) for part in ('<dl class="card"', "<svg", "<table", 'id="facts"')]
    assert places == sorted(places)
    machine = text[places[-1] :]
    assert "a made-up CPU" in machine and "a made-up CPU" not in text[: places[-1]]
    (facts,) = (one for one in parsed.all("details") if one["id"] == "facts")
    assert "open" not in facts
    found = larq_engine.report(_with_noise(_QUIET)).to_html().decode()
    answers = re.findall('<dt>([^<]*)</dt><dd class="answer">([^<]*)</dd>', found)
    assert answers[:4] == [
        ("One image takes", "700 µs"),
        ("Most time is in", "33 % in CONV_2D"),
        ("The slowest layer", "33 % in stem/conv"),
        ("The engine against LiteRT", "8.57x as fast"),
    ]


def test_no_paragraph_repeats_a_picture(parsed, page):
    descriptions = re.findall('<desc id="drawing-(slowest|totals|graph)[^>]*>([^<]*)', str(page))
    assert len(descriptions) == 3
    for name, description in descriptions:
        assert str(page).count(description) == 1, name


@pytest.mark.parametrize(("noise", "warned"), [(_NOISY, True), (_QUIET, False)])
def test_a_busy_machine_is_warned_of_before_anything_else(noise, warned):
    report = larq_engine.report(_with_noise(noise))
    page = report.to_html().decode()
    assert ('role="note"' in page) == warned
    assert str(report).splitlines()[1].startswith("WARNING: Busy machine: ") == warned
    if warned:
        assert page.index('role="note"') < page.index('<dl class="card"')
        assert noise in page[: page.index('<dl class="card"')]


def test_a_gain_that_was_measured_is_told_as_measured(tmp_path):
    profile, file = write_pair(tmp_path)
    fields = json.loads(file.read_text())
    verified = {"seconds": 8.1e-6, "unplaced_seconds": 9e-6, "lowest": 1.05, "highest": 1.15}
    file.write_text(json.dumps({**fields, "verified": verified}))
    lines = str(larq_engine.report(profile, file)).splitlines()
    assert lines[1].startswith("One image takes: 8.10 µs (with the placement, 1 thread; measured; ")
    (gain,) = (line for line in lines if line.startswith("The placement makes it: "))
    assert "1.11x as fast (8.10 µs, and 9.00 µs without it; measured in turns" in gain
    assert "1.05x to 1.15x: faster)" in gain


def test_times_of_one_origin_are_compared(tmp_path):
    """A run in turns may find the machine in another state than the profile did."""
    profile, file = write_pair(tmp_path)
    fields = json.loads(file.read_text())
    verified = {"seconds": 3e-3, "unplaced_seconds": 6e-3, "lowest": 1.9, "highest": 2.1}
    file.write_text(json.dumps({**fields, "verified": verified}))
    profile = parse_profile(profile.read_bytes())
    table = tables.totals(make_study(profile, read_placement(file, profile), None, None))
    assert "measured in turns are compared with the placement's measured time" in table.caption
    shown = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    found = [(row["whole model"], row["from"], row["vs placement"]) for row in shown]
    assert found[:3] == [
        ("the placement", "measured in turns", "1.00x"),
        ("without a placement", "measured in turns", "2.00x"),
        ("the placement", "predicted", "1.00x"),
    ]


def test_the_host_is_not_said_to_compute_what_it_lacks():
    """A whole model "on the host" has its binary operators from the engine, and says so."""
    name = "host + engine for binary operators"
    fields = residual_fields()
    text = str(larq_engine.report(parse_profile(json.dumps(fields).encode())))
    assert sum(line.startswith(name) for line in text.splitlines()) == 1 + len(BATCHES)
    (compared,) = (line for line in text.splitlines() if line.startswith("The engine against"))
    assert f"6.00 ms on {name}; measured" in compared
    for entry in fields["measurements"]:
        entry["device"] = {"cuda": "host", "host": "cuda"}.get(entry["device"], entry["device"])
    assert name not in str(larq_engine.report(parse_profile(json.dumps(fields).encode())))


@pytest.mark.parametrize(
    ("times", "answer"),
    [(0.8, "0.80x as fast, which is SLOWER"), (1.001, "no faster"), (2.0, "2.00x as fast")],
)
def test_a_gain_that_is_predicted(tmp_path, times, answer):
    profile, file = write_pair(tmp_path)
    fields = json.loads(file.read_text())
    unplaced = find_unplaced(parse_profile(profile.read_bytes()), 1, 1)
    file.write_text(json.dumps({**fields, "seconds": unplaced.rows / times}))
    assert f"\nThe placement makes it: {answer} (" in str(larq_engine.report(profile, file))


@pytest.mark.parametrize(("q3", "is_noise"), [(7.1e-4, False), (5.9e-3, True)])
def test_measurements_that_overlap_may_be_noise(q3, is_noise):
    fields = residual_fields(2)
    for total in fields["totals"]:
        total["seconds"] |= {"q1": total["seconds"]["median"], "q3": total["seconds"]["median"]}
        if total["device"] == "cuda":
            total["seconds"]["q3"] = q3
        else:
            total["seconds"]["q1"] = 5.8e-3
    found = str(larq_engine.report(parse_profile(json.dumps(fields).encode())))
    assert ("may be noise" in found) == is_noise


def test_all_operators_are_in_the_graph_and_have_their_reasons(parsed):
    nodes = [group for group in parsed.all("g") if group.get("class") == "node"]
    assert [node["data-op"] for node in nodes] == [str(number) for number in range(51)]
    assert nodes[3]["data-up"] == "2 0" and nodes[3]["data-down"] == "4 6"
    assert (
        nodes[2]["aria-label"]
        == "Operator 4, LceBconv2d, layer block_0/conv, on engine, CPU, 192 µs"
    )
    reasons = [one["id"] for one in parsed.all("details")]
    assert reasons == [*(f"op-{number}" for number in range(51)), "facts"]


def test_screen_readers_find_their_way(parsed):
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for landmark in ("header", "nav", "main", "aside", "footer"):
        assert len(parsed.all(landmark)) == 1
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in parsed.elements:
        for reference in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(reference, ids[0]) in ids
    assert len(parsed.all("caption")) == len(parsed.all("table"))
    assert {cell.get("scope") for cell in parsed.all("th")} == {"col", "row"}
    assert parsed.all("html")[0]["lang"] == "en"


def test_nothing_is_loaded(page, parsed):
    for tag, attributes in parsed.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert attributes.get(name, "#").startswith("#") or (
                (tag, attributes[name]) == ("link", "data:,")
            )
    assert not re.search(rb"url\(|@import|https?://|fetch\(|XMLHttp|WebSocket", page)
    policy = parsed.all("meta")[2]["content"]
    assert policy.startswith("default-src 'none'")


def test_a_page_without_a_placement_says_so():
    text = _Parsed(larq_engine.report(residual_profile()).to_html()).text
    assert "No placement was given" in text
    assert "predicted" not in text


def test_texts_of_the_files_stay_texts(tmp_path):
    files = [tmp_path / "profile.json", tmp_path / "placed.json"]
    for file, fields in zip(files, hostile_fields(), strict=True):
        file.write_text(json.dumps(fields))
    report = larq_engine.report(*files)
    parsed = _Parsed(report.to_html())
    assert parsed.all("img") == []
    assert len(parsed.all("script")) == len(parsed.all("style")) == len(parsed.all("html")) == 1
    assert not any(name.startswith("on") for _, found in parsed.elements for name in found)
    shown = TEXT.replace("\x1b", "\ufffd").replace("\ud800", "\ufffd")
    assert parsed.text.count(shown) > 50
    assert "\x1b" not in str(report)
    json.loads(report.to_overlay())
    json.loads(report.to_trace())


def test_the_parts_of_the_page_are_in_the_package():
    folder = resources.files("larq_engine.reporting")
    assert all(folder.joinpath(f"page.{kind}").is_file() for kind in ("css", "html", "js"))
