"""Writes a plan as C: `model.h` for programs, and `model.c`."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from larq_engine.micro.plan import C_TYPES, Array, Constant, Memory, Plan, Port, Reference, Step
from larq_engine.micro.stack import stack_bytes

_WIDTH = 100


class CCode:
    """The two files of a model."""

    def __init__(self, plan: Plan, prefix: str, arena: int, source: bytes, version: str) -> None:
        self._plan = plan
        self._prefix = prefix
        self._upper = prefix.upper()
        self._arena = arena
        self._hash = hashlib.sha256(source).hexdigest()
        self._version = version
        self._written: dict[tuple[str, bytes], str] = {}

    @property
    def headers(self) -> list[str]:
        """Returns the kernels' headers that the model includes, in the order of their first use."""
        return list(dict.fromkeys(header for step in self._plan.steps for header in step.headers))

    # ---- model.h ---------------------------------------------------------------------------------

    def header(self) -> str:
        upper, prefix = self._upper, self._prefix
        words = max(1, self._arena // 4)
        lines = [
            f"/* Written by larq_engine {self._version}: do not edit, export the model again. */",
            f"#ifndef {prefix}_H_OF_LARQ_ENGINE",
            f"#define {prefix}_H_OF_LARQ_ENGINE",
            "",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            f'#define {upper}_VERSION "{self._version}"',
            "/* The first digits of the SHA-256 of the .tflite file. */",
            f'#define {upper}_HASH "{self._hash[:16]}"',
            "",
            *self._port_facts("INPUT", self._plan.inputs),
            *self._port_facts("OUTPUT", self._plan.outputs),
            "/* The memory that a run works in. It may be anywhere, hold other things between",
            " * runs, and needs no value before the first one. */",
            f"#define {upper}_ARENA_BYTES {words * 4}",
            f"typedef struct {prefix}_arena {{",
            f"  uint32_t words[{upper}_ARENA_BYTES / 4];",
            f"}} {prefix}_arena;",
            "",
            "/* The most stack of a run, proven of gcc 12 with -O1, -O2, -O3 and -Os. */",
            f"#define {upper}_STACK_BYTES {stack_bytes(self._plan)}",
            "",
            "/* Runs the model once. Runs with arenas of their own may be at the same time. Inputs",
            " * are not changed; outputs must not overlap with anything else. */",
            f"{self._prototype()};",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
        ]
        return "\n".join(lines) + "\n"

    def _port_facts(self, role: str, ports: list[Port]) -> list[str]:
        lines = []
        for number, port in enumerate(ports):
            name = f"{self._upper}_{role}" + (f"_{number}" if len(ports) > 1 else "")
            shape = "x".join(map(str, port.tensor.shape)) or "one number"
            lines.append(f"/* {_comment(port.name)}: {C_TYPES[port.tensor.dtype]}, {shape} */")
            lines.append(f"#define {name}_ELEMENTS {port.tensor.elements}")
            lines.append(f"#define {name}_BYTES {port.memory.bytes}")
            quantization = port.tensor.quantization
            if port.tensor.dtype in ("INT8", "UINT8") and quantization is not None:
                zero_point = (quantization.zero_point or (0,))[0]
                lines.append(f"#define {name}_SCALE {_decimal(quantization.scale[0])}")
                lines.append(f"#define {name}_ZERO_POINT ({zero_point})")
            lines.append("")
        return lines

    def _prototype(self) -> str:
        parameters = [f"{c_type} {name}" for name, c_type in self._types().items()]
        return f"void {self._prefix}_run({self._prefix}_arena* arena, {', '.join(parameters)})"

    # ---- model.c ---------------------------------------------------------------------------------

    def source(self) -> str:
        parts = [
            f"/* Written by larq_engine {self._version}: do not edit, export the model again. */",
            f'#include "{self._prefix}.h"',
            "",
            *(f'#include "{header}"' for header in self.headers),
            "",
        ]
        instances = {
            instance.name: instance
            for step in self._plan.steps
            if step.instance
            for instance in [*step.instance.calls, step.instance]
        }
        parts += [instance.text.format(name=instance.name) for instance in instances.values()]
        calls = []
        for number, step in enumerate(self._plan.steps):
            parts.append(f"/* {number}: {_comment(f'{step.operator} {step.layer}')} */")
            names = dict(self._constants(step, number, parts))
            given = self._given(step)
            parts += self._step(f"step_{number}", given, self._call(step, names))
            calls.append(f"  step_{number}({', '.join(given)});")
        parts += [
            f"{self._prototype()} {{",
            *(
                ["  unsigned char* const memory = (unsigned char*)arena->words;"]
                if self._arena
                else ["  (void)arena;"]
            ),
            *(f"  (void){name};" for name in self._unread()),
            *calls,
            "}",
        ]
        return "\n".join(parts) + "\n"

    def _unread(self) -> list[str]:
        read = {id(memory) for step in self._plan.steps for memory in step.reads}
        return [p.memory.name for p in self._plan.inputs if id(p.memory) not in read]

    def _constants(self, step: Step, number: int, parts: list[str]) -> Iterator[tuple[str, str]]:
        """Adds the constants of a step to the parts; yields roles and names."""
        names: dict[str, str] = {}
        for constant in step.constants:
            key = constant.c_type, constant.values.tobytes()
            if key not in self._written:
                name = f"{constant.role}_{number}"
                self._written[key] = name
                is_struct = constant.c_type.startswith("le_")
                size = len(constant.values) if is_struct else constant.values.size
                parts.append(
                    f"static const {constant.c_type} {name}[{max(1, size)}] = "
                    f"{{\n{_values(constant)}\n}};"
                )
            names[constant.role] = self._written[key]
            yield constant.role, names[constant.role]
        for struct in step.structs:
            fields = _initializer(struct.fields, names)
            key = struct.c_type, fields.encode()
            if key not in self._written:
                self._written[key] = f"{struct.role}_{number}"
                parts.append(f"static const {struct.c_type} {self._written[key]} = {fields};")
            yield struct.role, f"&{self._written[key]}"
        parts.append("")

    def _given(self, step: Step) -> dict[str, str]:
        """Returns what the function of a step takes: names and types of the memory."""
        given = {}
        for argument in step.arguments:
            memory = argument[0] if isinstance(argument, tuple) else argument
            if isinstance(memory, Memory):
                given[memory.name or "memory"] = self._types().get(memory.name, "unsigned char*")
        return given

    def _types(self) -> dict[str, str]:
        """Returns the types of the caller's memory by its names."""
        inputs = {p.memory.name: f"const {C_TYPES[p.tensor.dtype]}*" for p in self._plan.inputs}
        outputs = {p.memory.name: f"{C_TYPES[p.tensor.dtype]}*" for p in self._plan.outputs}
        return inputs | outputs

    @staticmethod
    def _step(name: str, given: dict[str, str], call: str) -> list[str]:
        """Returns the function of a step.

        In one function of all steps, compilers keep addresses of one for others on the stack, which
        so grew with the model: to 280 bytes for 64 tensors.
        """
        parameters = ", ".join(f"{given[word]} {word}" for word in given)
        return [f"LE_KERNEL void {name}({parameters}) {{", call, "}", ""]

    def _call(self, step: Step, names: dict[str, str]) -> str:
        function = step.instance.name if step.instance is not None else step.function
        arguments = ", ".join(self._argument(argument, names) for argument in step.arguments)
        return _wrapped(f"  {function}({arguments});")

    def _argument(self, argument: Any, names: dict[str, str]) -> str:
        if isinstance(argument, Reference):
            return names[argument.role]
        if isinstance(argument, Memory):
            return self._pointer(argument, 0)
        if isinstance(argument, tuple):
            return self._pointer(*argument)
        return str(argument)

    def _pointer(self, memory: Memory, skip: int) -> str:
        """Returns the address of bytes in memory, as a kernel of any type takes it."""
        if not memory.name:
            return f"(void*)(memory + {memory.offset + skip})"
        const = "const " if memory.name.startswith("input") else ""
        if not skip:
            return f"({const}void*){memory.name}"
        return f"({const}void*)(({const}unsigned char*){memory.name} + {skip})"


def _initializer(fields: dict[str, Any], names: dict[str, str]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, Reference):
            return names[value.role]
        if isinstance(value, dict):
            return _initializer(value, names)
        if isinstance(value, list):
            return "{" + ", ".join(map(text, value)) + "}"
        return _integer(int(value))

    entries = [f"\n    .{name} = {text(value)}," for name, value in fields.items()]
    return "{" + "".join(entries) + "}"


def _integer(value: int) -> str:
    if value > 2**31 - 1:
        return f"{value:#x}u"
    if value == -(2**31):
        return "(-2147483647 - 1)"
    return str(value)


def _values(constant: Constant) -> str:
    values = constant.values
    if constant.c_type == "le_factor64":
        texts = [
            f"{{{_wide(row['addend'])}, {_integer(row['multiplier'])}, {row['shift']}}}"
            for row in values
        ]
    elif constant.c_type == "le_factor_float":
        texts = [
            f"{{{_wide(row['addend'])}, {_integer(row['multiplier'])}, {row['shift']}, "
            f"{row['float_multiplier']:#010x}u, {row['float_addend']:#010x}u, "
            f"{row['floats_only']}u}}"
            for row in values
        ]
    elif constant.c_type == "le_factor_near":
        texts = [
            f"{{{_integer(row['multiplier'])}, {_integer(row['addend'])}, "
            f"{row['float_multiplier']:#010x}u, {row['float_addend']:#010x}u}}"
            for row in values
        ]
    elif constant.c_type == "le_factor32":
        texts = [f"{{{_integer(int(a))}, {_integer(int(b))}}}" for a, b in values]
    else:
        texts = _numbers(constant.c_type, values)
    lines, line = [], "   "
    for text in texts or ["0"]:
        if len(line) + len(text) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([*lines, line])


def _wide(value: Any) -> str:
    return f"INT64_C({int(value)})"


def _numbers(c_type: str, values: Array) -> list[str]:
    flat = values.reshape(-1)
    if c_type == "uint32_t":
        return [f"{int(value):#010x}u" for value in flat]
    if c_type == "float":
        return [_float(value) for value in flat]
    return [_integer(int(value)) for value in flat]


def _float(value: Any) -> str:
    """Returns a float as C99 reads it, to the bit."""
    number = float(np.float32(value))
    if np.isnan(number):
        return "(0.0f / 0.0f)"
    if np.isinf(number):
        return "(1.0f / 0.0f)" if number > 0 else "(-1.0f / 0.0f)"
    return f"{number.hex()}f"


def _decimal(value: Any) -> str:
    """Returns a float as C++ reads it too: nine digits are exact."""
    text = f"{float(np.float32(value)):.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _comment(text: str) -> str:
    """Makes any name something that stays within a comment."""
    safe = "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in text)
    return safe.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").rstrip("\\")


def _wrapped(call: str) -> str:
    if len(call) <= _WIDTH:
        return call
    begin, _, rest = call.partition("(")
    return f"{begin}(\n      {rest}"
