"""PyPI can show the package: its links lead somewhere, and its classifiers are known."""

import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from readme_renderer.markdown import render
from trove_classifiers import classifiers

_ROOT = Path(__file__).parents[2]
_URL = "https://example.org/larq_engine"
_VERSION = (_ROOT / "larq_engine" / "version.txt").read_text().strip()
# Files that the package's description is made of.
_FILES = (
    *("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"),
    *("larq_engine/version.txt", "tools/package_page.py", "tools/sbom.py"),
)
_BUILD = (
    "from setuptools.build_meta import prepare_metadata_for_build_wheel as prepare\n"
    "print(prepare('built'))"
)
_ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')


def _build(folder: Path, url: str) -> Message:
    """Returns the metadata of a wheel of a project with this address."""
    for name in _FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(_ROOT / name, folder / name)
    # The README leads to this folder: of such links only the kind matters.
    (folder / "examples" / "cpp").mkdir(parents=True)
    (folder / "built").mkdir()
    page = folder / "tools" / "package_page.py"
    set_url, count = re.subn(
        r'(?m)^PROJECT_URL = ".*"$', f'PROJECT_URL = "{url}"', page.read_text()
    )
    assert count == 1
    page.write_text(set_url)
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", _BUILD],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metadata = folder / "built" / done.stdout.splitlines()[-1] / "METADATA"
    return Parser().parsestr(metadata.read_text())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Message:
    return _build(tmp_path_factory.mktemp("published"), _URL)


@pytest.fixture(scope="module")
def unpublished(tmp_path_factory: pytest.TempPathFactory) -> Message:
    return _build(tmp_path_factory.mktemp("unpublished"), "")


def _render(metadata: Message) -> str:
    page = render(str(metadata.get_payload()))
    assert page is not None
    return page


def _targets(links: set[str], kind: str) -> set[str]:
    start = f"{_URL}/{kind}/v{_VERSION}/"
    return {link.removeprefix(start) for link in links if link.startswith(start)}


def test_no_link_of_the_page_is_relative(published):
    page = _render(published)
    links = set(_ADDRESS.findall(page))
    within = {link for link in links if link.startswith("#")}
    assert {link for link in links - within if not link.startswith("https://")} == set()
    assert {link for link in within if f'id="{link[1:]}"' not in page} == set()
    assert "docs/images/headline.svg" in _targets(links, "raw")
    assert "docs/performance.md" in _targets(links, "blob")
    assert _targets(links, "tree") == {"examples/cpp"}
    for kind in ("raw", "blob", "tree"):
        for target in _targets(links, kind):
            assert (_ROOT / target.partition("#")[0]).exists(), target


def test_addresses_of_the_project_are_made_of_one(published):
    urls = published.get_all("Project-URL")
    assert f"Homepage, {_URL}" in urls
    assert f"Changelog, {_URL}/blob/v{_VERSION}/CHANGELOG.md" in urls
    assert all(_URL in line for line in urls)


def test_without_an_address_nothing_is_made_up(unpublished):
    assert unpublished.get_all("Project-URL") is None
    assert str(unpublished.get_payload()).strip() == (_ROOT / "README.md").read_text().strip()


def test_code_of_the_page_stays(published):
    blocks = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    readme = (_ROOT / "README.md").read_text()
    assert blocks.findall(str(published.get_payload())) == blocks.findall(readme)


def test_twine_accepts_the_package(published, tmp_path):
    wheel = tmp_path / f"larq_engine-{_VERSION}-py3-none-any.whl"
    text = published.as_string(maxheaderlen=0)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"larq_engine-{_VERSION}.dist-info/METADATA", text)
    command = [sys.executable, "-m", "twine", "check", "--strict", wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_classifiers_are_known(published):
    published_classifiers = published.get_all("Classifier")
    assert set(published_classifiers) - classifiers == set()
    assert len(published_classifiers) == len(set(published_classifiers))
