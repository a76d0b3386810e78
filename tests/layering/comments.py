"""Comments and docstrings of a source file."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

_SLASHES = (".cc", ".h", ".cu", ".inc", ".S")
_LINE = {True: re.compile(r"\s*//+ ?(.*)"), False: re.compile(r"\s*#+ ?(.*)")}

Comment = tuple[int, str]


def comments_of(file: Path, text: str) -> list[Comment]:
    """Returns the first line of each block of comments, and of each docstring, by line number.

    Comments behind code belong to what they stand beside, and are left out.
    """
    if file.suffix in (".py", ".pyi"):
        return sorted([*_python_blocks(text), *_docstrings(text)])
    return list(_blocks(enumerate(text.splitlines(), 1), _LINE[file.suffix in _SLASHES]))


def _blocks(lines: Iterator[tuple[int, str]], comment: re.Pattern[str]) -> Iterator[Comment]:
    last = 0
    for number, line in lines:
        if found := comment.fullmatch(line):
            if number > last + 1 or last == 0:
                yield number, found[1]
            last = number


def _python_blocks(text: str) -> Iterator[Comment]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = (
        (token.start[0], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    )
    return _blocks(lines, _LINE[False])


def _docstrings(text: str) -> Iterator[Comment]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, docstring.splitlines()[0]
