"""Reads a whole file, and writes whole files or none."""

import contextlib
import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

# Until its final mode is set, nobody else may read a file.
_PRIVATE = 0o600


def read_file(path: str | os.PathLike[str], name: str, advice: str) -> bytes:
    """Returns a file's content; `name` and `advice` are for the error if there is no such file."""
    try:
        with _naming(path):
            return Path(path).read_bytes()
    except IsADirectoryError:
        raise IsADirectoryError(f"{name}: expected a file, got a folder; {advice}") from None
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{name}: expected a file, got nothing of that name; {advice}"
        ) from None


def content_of(source: bytes | str | os.PathLike[str]) -> bytes:
    """Returns a model's bytes as they are, or the content of the file of this path.

    Raises:
        TypeError: The source is neither.
        OSError: There is no such file, or it cannot be read.
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"model: expected the bytes of a .tflite file or its path, got {type(source).__name__}"
        )
    return read_file(source, f"model '{os.fspath(source)}'", "check the path")


def is_tflite(content: bytes) -> bool:
    """Tells whether a file that begins so is a .tflite file, whatever its name."""
    return content[4:8] == b"TFL3"


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Writes all files; if one fails, writes none, and existing files stay as they were.

    A replaced file keeps its mode. Something that is no file, such as a pipe or a device, is
    written to in place, before any file is replaced.

    Raises:
        OSError: It fails; the error names the file.
    """
    written: dict[Path, tuple[Path, Path]] = {}
    try:
        for path, content in contents.items():
            if not is_stream(path):
                # Within one folder, a rename replaces a file in one step.
                file = Path(os.path.realpath(path))
                temporary = file.with_name(f".larq-engine-{uuid.uuid4().hex}")
                written[temporary] = file, path
                with _naming(path):
                    _write(temporary, content, like=file)
        for path, content in contents.items():
            if is_stream(path):
                with _naming(path):
                    path.write_bytes(content)
        for temporary, (file, path) in written.items():
            with _naming(path):
                temporary.replace(file)
    finally:
        for temporary in written:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files by their paths in a folder, all or none; makes the folders that are missing.

    Raises:
        OSError: It fails; the error names the file. Folders that were made are gone again.
    """
    parents = {parent for name in files for parent in (folder / name).parents}
    within = {parent for parent in parents if parent.is_relative_to(folder)}
    made = [parent for parent in sorted(within) if not parent.exists()]
    try:
        for path in made:
            path.mkdir()
        write_files({folder / name: content for name, content in files.items()})
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def write_export(folder: Path, files: Mapping[str, bytes], mark: str) -> None:
    """Writes an export to a folder that has no files of these names, or all of an earlier export.

    Raises:
        ValueError: A file of such a name is there, and no README.md with the words `mark`, which
            are in that of each export of this kind.
        OSError: It fails; the error names the file.
    """
    there = sorted(name for name in files if (folder / name).exists())
    readme = folder / "README.md"
    is_own = readme.is_file() and mark.encode() in readme.read_bytes()
    if there and (not is_own or not all((folder / name).is_file() for name in there)):
        raise ValueError(
            f"folder '{folder}': expected a folder for this export alone, got one with "
            f"{there[0]} of another origin or prefix; choose a new folder"
        )
    write_folder(folder, files)


def is_stream(path: Path) -> bool:
    """Tells whether there is something that is neither a file nor a folder: a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write(path: Path, content: bytes, like: Path) -> None:
    """Makes a new file with the mode, and if permitted the owner, of an existing one."""
    known = like.stat() if like.exists() else None
    mode = 0o666 if known is None else _PRIVATE
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode), "wb"
    ) as new:
        new.write(content)
    if known is not None:
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(path, known.st_uid, known.st_gid)
        path.chmod(stat.S_IMODE(known.st_mode))


_BINARY = getattr(os, "O_BINARY", 0)  # exists on Windows


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Makes errors of this block name the file: the error of a full disk names none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
