"""The page: what is in it, that texts stay texts, that it loads nothing."""

import itertools
import json
import re
from html.parser import HTMLParser
from importlib import resources

import pytest

import larq_engine
from tests.reporting.hostile import TEXT, hostile_fields
from tests.reporting.profiles import residual_profile, write_pair

_EMPTY = {"link", "meta"}


class _Parsed(HTMLParser):
    """Elements with attributes, and the text; elements must be closed in order."""

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
        "1.50 ms",  # the placement
        "greedy",
        "bgemm_i32_4x4x256_avx2",
        "the least of all with its neighbours on cpu",
        "+61.0 µs",  # in all, if on cuda
        "⇄ 803 kB, 75.9 µs",
        "6 to 8 fused",
    ):
        assert text in parsed.text, text


def test_all_operators_are_in_the_graph_and_have_their_reasons(parsed):
    nodes = [group for group in parsed.all("g") if group.get("class") == "node"]
    assert [node["data-op"] for node in nodes] == [str(number) for number in range(51)]
    assert nodes[3]["data-up"] == "2 0" and nodes[3]["data-down"] == "4 6"
    assert nodes[2]["aria-label"] == "Operator 4, LceBconv2d, layer block_0/conv, on cpu, 192 µs"
    reasons = [one["id"] for one in parsed.all("details")]
    assert reasons == [f"op-{number}" for number in range(51)]


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
