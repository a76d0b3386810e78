"""Fails if a file is not valid CycloneDX 1.6: check_cyclonedx.py FILE."""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text())
sys.exit(f"{sys.argv[1]}: not valid CycloneDX 1.6: {problem}" if problem else 0)
