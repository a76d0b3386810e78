"""What an archive of a stranger may hold: a few bytes can stand for more than all memory."""

import zipfile

_FILES = 10_000
_SMALL_BYTES = 64 << 20  # Whatever the ratio.
_LARGEST_RATIO = 100  # Weights of +-1 as floats shrink to a 30th.

# Python unpacks what the others make of a few KB at once, whatever size the archive tells.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError before anything is unpacked; `size` is that of the file in bytes.

    Python's reader unpacks no more of a file than the archive tells, so what it tells is enough.
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
