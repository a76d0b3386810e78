"""Makes what the package's page on PyPI says that depends on where the project is published.

The README's links are relative, as its readers in the repository need them. A package page has no
files to lead to, so its links are made absolute: they lead to the files of this version's tag.
"""

import re
from pathlib import Path

# The project's address, from which all other addresses are made. It is empty until there is one:
# then links stay relative, and `make release` says that the package must not be published.
PROJECT_URL = ""

ROOT = Path(__file__).resolve().parents[1]

# Addresses of the pages that PyPI lists, by the names for which it has icons.
_PAGES = {
    "Homepage": "",
    "Documentation": "/blob/{tag}/README.md#more",
    "Source": "/tree/{tag}",
    "Changelog": "/blob/{tag}/CHANGELOG.md",
    "Issues": "/issues",
    "Security": "/blob/{tag}/SECURITY.md",
}

# Code in fences and in backquotes, in which brackets are no links; or a link or picture.
_CODE_OR_LINK = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`)|(?P<start>(?P<picture>!?)\[[^\]]*\]\()(?P<to>[^()\s]+)\)",
    re.DOTALL | re.MULTILINE,
)


def project_urls(url: str, version: str) -> dict[str, str]:
    """Returns the addresses of the project's pages by their names; none without an address."""
    pages = {name: url + path.format(tag=f"v{version}") for name, path in _PAGES.items()}
    return pages if url else {}


def long_description(readme: str, url: str, version: str) -> str:
    """Returns the README with absolute links and pictures; unchanged without an address."""

    def absolute(found: re.Match[str]) -> str:
        to = found["to"]
        if found["code"] or to.startswith("#") or re.match(r"[a-z]+:", to):
            return found[0]
        is_folder = (ROOT / to).is_dir()
        kind = "raw" if found["picture"] else "tree" if is_folder else "blob"
        return f"{found['start']}{url}/{kind}/v{version}/{to})"

    return _CODE_OR_LINK.sub(absolute, readme) if url else readme
