"""Zip archives of others, read within limits: what an archive says about its sizes is checked before it is unpacked.

Inspect packs its logs with Zstandard, which Python's own module does not know before 3.14.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from umpirical.datasets.readers import Source
from umpirical.datasets.spec import LimitsSpec
from umpirical.datasets.text_lines import check_size
from umpirical.domain.errors import ConfigError, UsageError


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What is read of an archive at most."""

    bytes: int = 1 << 28
    """Of the archive itself."""
    entries: int = 200_000
    entry: int = 1 << 26
    """Bytes that one file in it may have unpacked."""
    unpacked: int = 1 << 30
    """Bytes that everything that is read of it may have unpacked."""
    entry_folded_by: int = 1_000
    """How many times its packed size a file may have, beyond the first million bytes. Texts fold by ten."""
    folded_by: int = 200
    """The same for all files together, beyond the first 64 million bytes."""


_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_PIECE = 1 << 18
_WHOLE = "check that the file is complete"


def read_archive(
    path: Path, *, wanted: Callable[[str], bool], limits: ArchiveLimits | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yields name and contents of the wanted files. Raises ConfigError before anything too large is unpacked."""
    chosen = _chosen(path, wanted, limits or ArchiveLimits())
    with path.open("rb") as file:
        for info in chosen:
            yield info.filename, b"".join(_pieces(file, info, path))


def check_archive(path: Path, *, limits: ArchiveLimits | None = None) -> list[str]:
    """Returns the names in an archive of which every file unpacks to what the archive says, within the limits.

    Everything is unpacked once, piece by piece, so that whoever reads it next is not surprised.
    """
    chosen = _chosen(path, lambda _: True, limits or ArchiveLimits())
    with path.open("rb") as file:
        for info in chosen:
            for _ in _pieces(file, info, path):
                pass
    return [info.filename for info in chosen]


def _chosen(path: Path, wanted: Callable[[str], bool], limits: ArchiveLimits) -> list[ZipInfo]:
    check_size(Source(path, path.name, limits=LimitsSpec(bytes=limits.bytes)))
    try:
        with ZipFile(path) as archive:
            listed = archive.infolist()
    except (BadZipFile, ValueError, NotImplementedError, EOFError, struct.error) as error:
        raise ConfigError(f"not a valid archive: {error}", where=path.name, fix=_WHOLE) from None
    if len(listed) > limits.entries:
        raise ConfigError(f"the archive has {len(listed):,} files; the limit is {limits.entries:,}", where=path.name)
    # A log may hold an older version of a file before the newer one.
    chosen = list({info.filename: info for info in listed if wanted(info.filename)}.values())
    for info in chosen:
        _check(info, path, limits)
    _check_total(chosen, path, limits)
    return chosen


def _check(info: ZipInfo, path: Path, limits: ArchiveLimits) -> None:
    where = _place(path, info)
    if info.file_size > limits.entry:
        raise ConfigError(f"{info.file_size:,} bytes when unpacked; the limit is {limits.entry:,}", where=where)
    if info.file_size > 1_000_000 + limits.entry_folded_by * info.compress_size:
        message = f"it unpacks to more than {limits.entry_folded_by} times its size"
        raise ConfigError(message, where=where, fix="check where the file comes from")
    if info.flag_bits & 1:
        raise ConfigError("the file is encrypted", where=where, fix="save it without a password")


def _check_total(chosen: list[ZipInfo], path: Path, limits: ArchiveLimits) -> None:
    if (total := sum(info.file_size for info in chosen)) > limits.unpacked:
        raise ConfigError(f"{total:,} bytes when unpacked; the limit is {limits.unpacked:,}", where=path.name)
    size = path.stat().st_size
    if total > 64_000_000 + limits.folded_by * size:
        message = f"{size:,} bytes unpack to {total:,}, more than {limits.folded_by} times as many"
        raise ConfigError(message, where=path.name, fix="check where the file comes from")
    if sum(info.compress_size for info in chosen) > size:
        raise ConfigError("files in the archive overlap", where=path.name, fix="check where the file comes from")


def _pieces(file: BinaryIO, info: ZipInfo, path: Path) -> Iterator[bytes]:
    """Yields the contents of one file, of which no more than was announced is ever unpacked."""
    where = _place(path, info)
    file.seek(info.header_offset)
    head = file.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
        raise ConfigError("no file at the position listed in the archive", where=where, fix=_WHOLE)
    *_, name, extra = _LOCAL_HEADER.unpack(head)
    file.seek(name + extra, 1)
    size = check = 0
    try:
        for piece in _inflated(info.compress_type, _Section(file, info.compress_size)):
            size, check = size + len(piece), zlib.crc32(piece, check)
            if size > info.file_size:
                break
            yield piece
    except (zlib.error, ValueError) as error:
        raise ConfigError(f"cannot unpack it: {error}", where=where, fix=_WHOLE) from None
    if size != info.file_size or check != info.CRC:
        raise ConfigError("its contents do not match the archive listing", where=where, fix=_WHOLE)


class _Section:
    """So many bytes of a file, from where it stands."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(min(self._left, size if size >= 0 else _PIECE))
        self._left -= len(found)
        return found


def _inflated(method: int, section: _Section) -> Iterator[bytes]:
    if method == _STORED:
        yield from iter(lambda: section.read(_PIECE), b"")
    elif method == _DEFLATED:
        yield from _inflated_by_zlib(section)
    elif method == _ZSTANDARD:
        yield from _inflated_by_zstandard(section)
    else:
        raise ValueError(f"unknown compression method {method}")


def _inflated_by_zlib(section: _Section) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-15)
    while packed := inflater.unconsumed_tail or section.read(_PIECE):
        yield inflater.decompress(packed, _PIECE)
        if inflater.eof:
            return


def _inflated_by_zstandard(section: _Section) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            "reading Inspect logs requires the `inspect` extra", fix="pip install 'umpirical[inspect]'"
        ) from None
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(section) as stream:  # type: ignore[arg-type]  # it only reads
            yield from iter(lambda: bytes(stream.read(_PIECE)), b"")
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _place(path: Path, info: ZipInfo) -> str:
    return f"{path.name}: {info.filename[:100]}"
