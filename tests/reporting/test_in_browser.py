"""The page in headless Chromium: it works by keys, can be read and heard, and loads nothing."""

import json

import pytest

import larq_engine
from larq_engine.reporting.palette import ROLES
from tests.browsers import installed_browser
from tests.reporting.contrast import contrast, hex_parts
from tests.reporting.hostile import hostile_fields
from tests.reporting.profiles import residual_profile, write_pair
from tools.browser import Page

pytestmark = pytest.mark.slow

_THEMES = ("light", "dark")
_WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    page = folder / "report.html"
    larq_engine.report(*write_pair(folder), page)
    return page


@pytest.fixture(scope="module")
def browser():
    with Page(installed_browser()) as page:
        yield page


@pytest.fixture
def page(browser, file):
    """Opens the report anew, in a wide light window."""
    browser.resize(1280, 900)
    browser.prefer("light")
    browser.open(file)
    return browser


def _active(page, what):
    return page.evaluate(f"document.activeElement.{what}")


def _tab_to(page, condition):
    """Presses Tab until the element that has the focus matches."""
    for _ in range(40):
        page.press("Tab")
        if page.evaluate(f"document.activeElement.matches({json.dumps(condition)})"):
            return
    raise AssertionError(f"no Tab leads to {condition}")


@pytest.mark.parametrize("theme", _THEMES)
@pytest.mark.parametrize("width", _WIDTHS)
def test_it_loads_in_silence_and_fits(page, file, theme, width):
    page.prefer(theme)
    page.resize(width, 900)
    page.open(file)
    assert page.complaints() == []
    assert page.requests() == [file.resolve().as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert _parts(ground) == _parts(ROLES["page"][_THEMES.index(theme)])
    assert page.screenshot().startswith(b"\x89PNG")


def test_the_switch_overrules_the_system(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    _tab_to(page, "#theme")
    assert _active(page, "textContent") == "Dark colours"
    page.press("Enter")
    assert _active(page, "textContent") == "Light colours"
    dark = page.evaluate(colour)
    assert dark != light
    page.prefer("dark")
    page.press("Enter")
    assert page.evaluate(colour) == light


def test_the_first_key_leads_past_the_navigation(page):
    page.press("Tab")
    assert _active(page, "textContent") == "Skip to the report"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.press("Enter")
    assert page.evaluate("location.hash") == "#main"


def test_keys_go_through_the_graph(page):
    """Keys lead down and up along values, left and right in order, to the panel and back."""
    _tab_to(page, ".node")
    assert _active(page, "dataset.op") == "0"
    for key, op in (
        ("ArrowUp", "0"),  # nothing is above
        ("ArrowDown", "1"),
        ("ArrowDown", "2"),
        ("ArrowDown", "3"),
        ("ArrowUp", "2"),
        ("ArrowLeft", "1"),
        ("ArrowRight", "2"),
        ("End", "50"),
        ("ArrowRight", "50"),
        ("Home", "0"),
    ):
        page.press(key)
        assert _active(page, "dataset.op") == op, key
        heading = page.evaluate("document.querySelector('#panel h3').textContent")
        assert heading.startswith(f"{int(op) + 2} ")
    page.press("Enter")
    assert _active(page, "id") == "panel"
    page.press("Escape")
    assert _active(page, "dataset.op") == "0"
    # Tab stops at one operator of the graph.
    assert page.evaluate("document.querySelectorAll('.node[tabindex=\"0\"]').length") == 1


def test_a_click_tells_what_is_known_of_an_operator(page):
    page.evaluate("document.querySelectorAll('.node')[2].dispatchEvent(new MouseEvent('click'))")
    panel_text = page.evaluate("document.getElementById('panel').innerText")
    assert "4 LceBconv2d block_0/conv" in panel_text
    assert "bgemm_i32_8x8x512_avx512" in panel_text and "+61.0 µs" in panel_text


_FOCUSED = """(() => {
  const element = document.activeElement;
  const marked = element.matches('.node') ? element.querySelector('rect') : element;
  const style = getComputedStyle(marked);
  return element.matches('.node')
    ? parseFloat(style.strokeWidth) >= 3
    : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
})()"""


def test_the_focus_is_seen(page):
    seen = []
    for _ in range(200):
        page.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # it is behind the last one
        assert page.evaluate(_FOCUSED), _active(page, "outerHTML.slice(0, 200)")
        seen.append(_active(page, "tagName"))
    assert seen.count("SUMMARY") == 52 and {"A", "BUTTON", "DIV", "g"} <= set(seen)


def test_screen_readers_hear_a_name_of_everything(page):
    """Chromium gives this tree to screen readers."""
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    heard = [node for node in nodes if not node["ignored"]]
    roles = [node["role"]["value"] for node in heard]
    for role in ("banner", "navigation", "main", "complementary", "contentinfo", "table", "image"):
        assert role in roles, role
    named = {"button", "link", "region", "table", "image", "heading", "navigation", "complementary"}
    for node in heard:
        if node["role"]["value"] in named:
            assert node["name"]["value"].strip(), node
    buttons = [node["name"]["value"] for node in heard if node["role"]["value"] == "button"]
    assert "Operator 4, LceBconv2d, layer block_0/conv, on engine, CPU, 192 µs" in buttons


# Visible texts, with their colour and possible background; texts of drawings may have both.
_TEXTS = """(() => {
  const root = getComputedStyle(document.documentElement);
  const grounds = ['--page', '--surface'].map((name) => root.getPropertyValue(name).trim());
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('script, title, desc')) continue;
    const drawn = element.closest('svg') !== null;
    const style = getComputedStyle(element);
    let ground = null;
    for (let up = element; ground === null && up !== null; up = up.parentElement) {
      const behind = getComputedStyle(up).backgroundColor;
      if (behind !== 'rgba(0, 0, 0, 0)') ground = behind;
    }
    const colour = drawn ? style.fill : style.color;
    for (const behind of drawn ? grounds : [ground]) {
      found.set(colour + behind, [colour, behind, walker.currentNode.data]);
    }
  }
  return Array.from(found.values());
})()"""


def _parts(colour):
    if colour.startswith("#"):
        return hex_parts(colour)
    return [int(part) for part in colour[colour.index("(") + 1 : -1].split(",")]


@pytest.mark.parametrize("theme", _THEMES)
def test_texts_have_contrast(page, file, theme):
    page.prefer(theme)
    page.open(file)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    texts = page.evaluate(_TEXTS)
    assert len(texts) > 8
    for colour, ground, text in texts:
        assert contrast(_parts(colour), _parts(ground)) >= 4.5, (colour, ground, text)


_OUTSIDE = """Array.from(document.querySelectorAll('.node')).flatMap((node) => {
  const box = node.querySelector('rect').getBBox();
  return Array.from(node.querySelectorAll('text'), (text) => [text, text.getBBox()])
    .filter(([, own]) => own.width > 0)
    .filter(([, own]) => own.x < box.x || own.x + own.width > box.x + box.width)
    .map(([text]) => text.textContent);
})"""


def test_a_large_graph(browser, tmp_path):
    """All operators are drawn, and their texts fit into their boxes."""
    profile = residual_profile(100)
    made = tmp_path / "large.html"
    larq_engine.report(profile, output=made)
    browser.resize(1280, 900)
    browser.open(made)
    assert browser.complaints() == []
    assert browser.evaluate("document.querySelectorAll('.node').length") == 303
    assert browser.evaluate(_OUTSIDE) == []


def test_names_do_not_run(browser, tmp_path):
    files = [tmp_path / "profile.json", tmp_path / "placed.json"]
    for file, fields in zip(files, hostile_fields(), strict=True):
        file.write_text(json.dumps(fields))
    made = tmp_path / "hostile.html"
    larq_engine.report(*files, made)
    browser.open(made)
    for _ in range(30):
        browser.press("Tab")
    browser.evaluate("document.querySelectorAll('.node').forEach((node) => node.focus())")
    assert browser.evaluate("typeof hacked") == "undefined"
    assert browser.evaluate("document.images.length") == 0
    assert browser.complaints() == []
    assert browser.requests() == [made.resolve().as_uri()]
    assert browser.evaluate(_OUTSIDE) == []
