"""Files in a zip archive behind the flatbuffer.

TensorFlow Lite's metadata refers to labels and vocabularies in this archive. A reader of
flatbuffers does not see it, and a reader of archives looks for it from the end.
"""

import io
import zipfile
from dataclasses import dataclass

from larq_engine.converter.archives import check_archive


@dataclass(frozen=True)
class Attached:
    """The files of the archive behind a flatbuffer."""

    files: tuple[tuple[zipfile.ZipInfo, bytes], ...] = ()
    comment: bytes = b""


def read_attached(content: bytes) -> Attached:
    """Returns the files behind the flatbuffer; there are none if there is no archive.

    Raises:
        ValueError: There is an archive, with a file that cannot be read.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        return Attached()
    with archive:
        try:
            check_archive(archive, len(content))
            files = tuple((info, archive.read(info)) for info in archive.infolist())
        except Exception as error:  # Damaged, encrypted, or compressed in an unknown way.
            raise ValueError(
                f"model ({len(content)} bytes): expected the zip archive behind the model, "
                f"which keeps labels and the like, to be whole, got a damaged one ({error}); copy "
                "the file again, or take the archive off: zip -A FILE; zip --delete FILE '*'"
            ) from error
        return Attached(files, archive.comment)


def attach(flatbuffer: bytes, attached: Attached) -> bytes:
    """Appends the archive's files to a flatbuffer; their offsets count from the file's start."""
    if not attached.files:
        return flatbuffer
    whole = io.BytesIO(flatbuffer)
    with zipfile.ZipFile(whole, "a") as archive:
        archive.comment = attached.comment
        for info, data in attached.files:
            archive.writestr(info, data)
    return whole.getvalue()
