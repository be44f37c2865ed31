"""Zip archives of others, read within limits: what an archive says about its sizes is checked before it is unpacked.

Inspect packs its logs with Zstandard, which Python's own module does not know before 3.14.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from umpirical.datasets.readers import Source
from umpirical.datasets.text_lines import check_size
from umpirical.datasets.verdicts.documents import LIMITS
from umpirical.domain.errors import ConfigError, UsageError

__all__ = ["read_archive"]

MOST_ENTRIES = 200_000
LARGEST_ENTRY = 1 << 26
"""Bytes that one file in an archive may have unpacked."""

UNPACKED = 1 << 30
"""Bytes that everything that is read of an archive may have unpacked."""

FOLDED_BY = 1_000
"""How many times its packed size a file may have, beyond the first million bytes. Texts fold by ten."""

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


def read_archive(path: Path, *, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yields name and contents of the wanted files. Raises ConfigError before anything too large is unpacked."""
    check_size(Source(path, path.name, limits=LIMITS))
    try:
        with ZipFile(path) as archive:
            listed = archive.infolist()
    except (BadZipFile, ValueError, NotImplementedError) as error:
        raise ConfigError(f"not an archive: {error}", where=path.name, fix="is it a whole .eval file?") from None
    if len(listed) > MOST_ENTRIES:
        raise ConfigError(f"{len(listed):,} files, at most {MOST_ENTRIES:,} are read", where=path.name)
    # A log may hold an older version of a file before the newer one.
    chosen = list({info.filename: info for info in listed if wanted(info.filename)}.values())
    for info in chosen:
        _check(info, path)
    if (total := sum(info.file_size for info in chosen)) > UNPACKED:
        raise ConfigError(f"{total:,} bytes unpacked, at most {UNPACKED:,} are read", where=path.name)
    with path.open("rb") as file:
        for info in chosen:
            yield info.filename, _unpacked(file, info, path)


def _check(info: ZipInfo, path: Path) -> None:
    where = f"{path.name}: {info.filename[:100]}"
    if info.file_size > LARGEST_ENTRY:
        raise ConfigError(f"{info.file_size:,} bytes unpacked, at most {LARGEST_ENTRY:,} are read", where=where)
    if info.file_size > 1_000_000 + FOLDED_BY * info.compress_size:
        raise ConfigError(f"unpacks to more than {FOLDED_BY} times its size", where=where, fix="it is no log")
    if info.flag_bits & 1:
        raise ConfigError("the file is encrypted", where=where, fix="unpack the log first")


def _unpacked(file: BinaryIO, info: ZipInfo, path: Path) -> bytes:
    """Returns the contents of one file, of which no more than was announced is ever unpacked."""
    where = f"{path.name}: {info.filename[:100]}"
    file.seek(info.header_offset)
    head = file.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
        raise ConfigError("no file stands where the archive says", where=where, fix="is it a whole .eval file?")
    *_, name, extra = _LOCAL_HEADER.unpack(head)
    file.seek(name + extra, 1)
    packed = file.read(info.compress_size)
    try:
        found = _inflate(info.compress_type, packed, info.file_size + 1)
    except (zlib.error, ValueError) as error:
        raise ConfigError(f"cannot be unpacked: {error}", where=where, fix="is it a whole .eval file?") from None
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise ConfigError("its contents are not what the archive says", where=where, fix="is it a whole .eval file?")
    return found


def _inflate(method: int, packed: bytes, most: int) -> bytes:
    if method == _STORED:
        return packed[:most]
    if method == _DEFLATED:
        return zlib.decompressobj(-15).decompress(packed, most)
    if method != _ZSTANDARD:
        raise ValueError(f"it is packed by method {method}, which is not known")
    try:
        import zstandard
    except ImportError:
        raise UsageError("a log of Inspect's needs zstandard", fix="pip install 'umpirical[inspect]'") from None
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed) as stream:
            return bytes(stream.read(most))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
