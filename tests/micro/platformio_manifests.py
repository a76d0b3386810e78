"""Reads a library's manifest by PlatformIO's own parser and schema, and prints it as JSON.

It runs in PlatformIO's environment, and fails where PlatformIO would refuse the library.
"""

import json
import sys
from typing import Any

from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema


class _Schema(ManifestSchema):
    """PlatformIO downloads the names of licenses, which a test must not."""

    @staticmethod
    def load_spdx_licenses() -> dict[str, Any]:
        return {"licenses": [{"licenseId": "Apache-2.0"}]}


parsed = ManifestParserFactory.new_from_file(sys.argv[1]).as_dict()
print(json.dumps(_Schema().load_manifest(parsed)))
