"""The files beside the C that let build systems and people use an exported folder."""

import json
import re

from larq_engine.micro.plan import C_TYPES, Plan, Port
from larq_engine.micro.stack import stack_bytes

# Describes the library wherever a build system asks for a sentence.
_SENTENCE = "A binarized neural network in C99, without heap and without other libraries."

# The README.md of each export has these words.
MARK = f"{_SENTENCE} larq_engine "

# Arduino asks for an address, and PlatformIO refuses what is none. Nobody can own this one.
_NO_PAGE = "https://larq-engine.invalid"


def folder_files(plan: Plan, prefix: str, arena: int, flash: int, version: str) -> dict[str, str]:
    """Returns the text of each file by its name."""
    return {
        "Makefile": _makefile(prefix),
        "CMakeLists.txt": _cmake(prefix),
        "library.json": _platformio(prefix, version),
        "library.properties": _arduino(prefix, version),
        "idf_component.yml": _esp_idf(version),
        "README.md": _readme(plan, prefix, arena, flash, version),
    }


def _makefile(prefix: str) -> str:
    return f"""\
# Written by larq_engine. Builds lib{prefix}.a:
#   make CC=arm-none-eabi-gcc AR=arm-none-eabi-ar CFLAGS="-O2 FLAGS_OF_THE_CHIP"
CFLAGS ?= -O2

lib{prefix}.a: {prefix}.o
\t$(AR) rcs $@ $<

# It is made each time, as another compiler or other flags make another one.
{prefix}.o: {prefix}.c always
\t$(CC) -std=c99 $(CFLAGS) -c -o $@ $<

clean:
\trm -f {prefix}.o lib{prefix}.a

.PHONY: always clean
"""


def _cmake(prefix: str) -> str:
    return f"""\
# Written by larq_engine. An ESP-IDF component, or a library for any other project:
# add_subdirectory, then target_link_libraries(program {prefix}).
if(ESP_PLATFORM)
  idf_component_register(SRCS "{prefix}.c" INCLUDE_DIRS ".")
else()
  cmake_minimum_required(VERSION 3.13)
  project({prefix} C)
  add_library({prefix} STATIC {prefix}.c)
  target_include_directories({prefix} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
  set_target_properties({prefix} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options({prefix} PRIVATE -O2) # four times as fast as without
  endif()
endif()
"""


def _esp_idf(version: str) -> str:
    return f"""\
# Written by larq_engine.
version: "{version}"
description: {_SENTENCE}
"""


def _platformio(prefix: str, version: str) -> str:
    facts = {
        "name": prefix,
        "version": version,
        "description": f"{_SENTENCE} Written by larq_engine.",
        "license": "Apache-2.0",
        "keywords": ["neural network", "binarized"],
        "headers": f"{prefix}.h",
        "frameworks": "*",
        "platforms": "*",
        "build": {"srcDir": ".", "includeDir": "."},
    }
    return json.dumps(facts, indent=2) + "\n"


def _arduino(prefix: str, version: str) -> str:
    return f"""\
name={prefix}
version={version}
author=larq_engine
maintainer=larq_engine
sentence={_SENTENCE}
paragraph=Written by larq_engine from a .tflite file.
category=Data Processing
url={_NO_PAGE}
architectures=*
includes={prefix}.h
"""


def _readme(plan: Plan, prefix: str, arena: int, flash: int, version: str) -> str:
    arguments = ", ".join(port.memory.name for port in [*plan.inputs, *plan.outputs])
    declared = "\n".join(
        f"static {C_TYPES[port.tensor.dtype]} {port.memory.name}[{port.tensor.elements}];"
        for port in [*plan.inputs, *plan.outputs]
    )
    rows = _port_rows("input", plan.inputs) + _port_rows("output", plan.outputs)
    return f"""\
# {prefix}

{MARK}{version} wrote this folder; do not edit it, export the model again.

```c
#include "{prefix}.h"

static {prefix}_arena arena;
{declared}

void classify(void) {{
  {prefix}_run(&arena, {arguments});
}}
```

| | |
| --- | --- |
| constants, in flash | {flash} bytes, and the code of the kernels |
| arena, in RAM | {arena} bytes, which may hold other things between runs |
| stack of a run | at most {stack_bytes(plan)} bytes, as gcc 12 compiles it with `-O1` or more |
{rows}
Compile `{prefix}.c` as C99 with `-O2` and the compiler's flags for your chip: the kernels take the
chip's instructions for many small numbers where the compiler says that it has them. With
`-DLE_PLAIN` they are plain C everywhere, with the same results. `Makefile`, `CMakeLists.txt` and
`idf_component.yml` (ESP-IDF), `library.json` (PlatformIO) and `library.properties` (Arduino) say to
build systems what this is. The kernels are under the Apache License 2.0; whose the weights are,
their author says.
"""


def _port_rows(role: str, ports: list[Port]) -> str:
    rows = ""
    for port in ports:
        shape = "x".join(map(str, port.tensor.shape)) or "one number"
        name = re.sub(r"[^\w/:.;-]", "?", port.name, flags=re.ASCII)
        rows += f"| {role} `{name}` | {C_TYPES[port.tensor.dtype]}, {shape} |\n"
    return rows
