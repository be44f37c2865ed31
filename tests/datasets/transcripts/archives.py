"""Zip archives, written byte by byte, so that they may say of themselves what is not so."""

import struct
import zlib
from functools import cache
from pathlib import Path

import zstandard

DEFLATED, ZSTANDARD = 8, 93


@cache
def zeros(method: int, size: int) -> tuple[bytes, int]:
    """So many blanks, packed, and their checksum. They are never in memory all at once."""
    piece, check, found = b" " * (1 << 20), 0, []
    packer = zlib.compressobj(9, zlib.DEFLATED, -15) if method == DEFLATED else zstandard.ZstdCompressor().compressobj()
    for _ in range(size >> 20):
        found.append(packer.compress(piece))
        check = zlib.crc32(piece, check)
    return b"".join([*found, packer.flush()]), check


def packed(path: Path, entries: dict[str, tuple[int, bytes, int, int]]) -> Path:
    """Writes an archive. An entry has a method, packed bytes, and the unpacked size and checksum that are told."""
    directory = b""
    with path.open("wb") as file:
        for name, (method, data, size, check) in entries.items():
            told = struct.pack("<HHHHHIIIHH", 63, 0, method, 0, 33, check, len(data), size, len(name), 0)
            where = file.tell()
            file.write(b"PK\x03\x04" + told + name.encode() + data)
            directory += b"PK\x01\x02" + struct.pack("<H", 63) + told + struct.pack("<HHHII", 0, 0, 0, 0, where)
            directory += name.encode()
        where = file.tell()
        ends = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), where, 0)
        file.write(directory + b"PK\x05\x06" + ends)
    return path
