"""Bytes out of what packs them: gzip, bzip2, xz, zip, tar and zstd, told by their first bytes."""

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any

SQLITE, LZ4 = b"SQLite format 3", b"\x04\x22\x4d\x18"
ZIP, ZSTD = b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
TAR_AT, TAR = 257, b"ustar"

STREAMS: dict[bytes, tuple[str, Callable[[BytesIO], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
}
"""The first bytes of each kind, its name, and how it is opened."""

MOST_LAYERS = 3
"""Packers around one another, as a tar in gzip."""


def unpacked(data: bytes, largest: int, packed: bool = False) -> bytes:
    """Return bytes without what packs them, or as they are when nothing does.

    At most `largest` + 1 bytes are unpacked: the last one tells that there are too many. `packed`
    says that the name of the file is that of a gzip file. Raise ValueError when the pack is not
    whole, has several files, or is of a kind that cannot be opened here.
    """
    if packed and not data.startswith(b"\x1f\x8b"):
        raise ValueError("is not a whole gzip file")
    for _ in range(MOST_LAYERS):
        inner = _layer(data, largest)
        if inner is None:
            break
        data = inner
    return data


def _layer(data: bytes, largest: int) -> bytes | None:
    for mark, (name, opened) in STREAMS.items():
        if data.startswith(mark):
            try:
                with opened(BytesIO(data)) as stream:
                    found: bytes = stream.read(largest + 1)
                    return found
            except (OSError, EOFError, zlib.error, lzma.LZMAError):
                raise ValueError(f"is not a whole {name} file") from None
    if data.startswith(ZIP):
        return _zip(data, largest)
    if data[TAR_AT : TAR_AT + len(TAR)] == TAR:
        return _tar(data, largest)
    if data.startswith(ZSTD):
        return _zstd(data, largest)
    if data.startswith(LZ4):
        raise ValueError("is packed by lz4: unpack it, as in lz4 -dc FILE | ratiolab COMMAND -")
    if data.startswith(SQLITE):
        raise ValueError("is an SQLite database: export the table of the requests as CSV")
    return None


def _zip(data: bytes, largest: int) -> bytes:
    try:
        with zipfile.ZipFile(BytesIO(data)) as pack:
            names = [info.filename for info in pack.infolist() if not info.is_dir()]
            names = [name for name in names if not name.startswith("__MACOSX/")]
            if "xl/workbook.xml" in names:
                raise ValueError("is an Excel workbook: save the sheet as CSV")
            _require_one(names)
            with pack.open(names[0]) as file:
                return file.read(largest + 1)
    except (zipfile.BadZipFile, EOFError, zlib.error, RuntimeError, NotImplementedError):
        raise ValueError("is not a whole zip file without a password") from None


def _tar(data: bytes, largest: int) -> bytes:
    try:
        with tarfile.open(fileobj=BytesIO(data)) as pack:
            members = [member for member in pack.getmembers() if member.isfile()]
            _require_one([member.name for member in members])
            file = pack.extractfile(members[0])
            return b"" if file is None else file.read(largest + 1)
    except (tarfile.TarError, EOFError, OSError):
        raise ValueError("is not a whole tar file") from None


def _zstd(data: bytes, largest: int) -> bytes:
    try:
        zstandard = import_module("zstandard")  # not among the dependencies
    except ImportError:
        if (found := _by_pyarrow(data, largest)) is not None:
            return found
        raise ValueError(
            "is packed by zstd: pip install zstandard, or zstd -dc FILE | ratiolab COMMAND -"
        ) from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(BytesIO(data)) as stream:
            return bytes(stream.read(largest + 1))
    except zstandard.ZstdError:
        raise ValueError("is not a whole zstd file") from None


def _by_pyarrow(data: bytes, largest: int) -> bytes | None:
    """Return bytes that zstd packs, where pyarrow is installed and can do it."""
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        return None
    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
            return bytes(stream.read(largest + 1))
    except pyarrow.ArrowNotImplementedError:
        return None
    except OSError:
        raise ValueError("is not a whole zstd file") from None


def _require_one(names: list[str]) -> None:
    if len(names) != 1:
        listed = ", ".join(names[:5]) or "none"
        raise ValueError(f"packs {len(names)} files ({listed}): unpack the one to read")
