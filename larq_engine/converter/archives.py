"""Limits what a stranger's archive may hold: a few bytes can unpack to more than all memory."""

import zipfile

_FILES = 10_000
_SMALL_BYTES = 64 << 20  # Unpacked files of this size are accepted at any ratio.
_LARGEST_RATIO = 100  # Weights of +-1 as floats shrink to a 30th.

# For other methods Python unpacks a few KB at once, whatever size the archive states.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError, before anything is unpacked, if the archive would take too much memory.

    `size` is the size of the file in bytes. Python's reader never unpacks more of a file than the
    size that the archive states, so checking the stated sizes is enough.
    """
    entries = archive.infolist()
    if len(entries) > _FILES:
        raise ValueError(f"expected at most {_FILES} files in the archive, got {len(entries)}")
    for entry in entries:
        if entry.compress_type not in _METHODS:
            raise ValueError(
                f"expected files in the archive that are stored or deflated, got {entry.filename!r}"
            )
    check_unpacked(sum(entry.file_size for entry in entries), size)


def check_unpacked(unpacked: int, size: int) -> None:
    """Raises ValueError if a file of `size` bytes would take far more when it is unpacked."""
    limit = _SMALL_BYTES + _LARGEST_RATIO * size
    if unpacked > limit:
        raise ValueError(
            f"expected at most {limit} bytes in a file of {size} bytes, got {unpacked} when "
            "unpacked; leave out what is not needed, or pack it less tightly"
        )
