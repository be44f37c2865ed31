"""Object storage: files under names, in whatever store `pyarrow.fs` reaches by a URI.

Four operations, all of which every store has: put, get, list, remove. None of them is conditional, and none is relied
on to be atomic: whoever reads an object knows its digest. What a store says of itself is not believed: a name that it
lists may be anybody's, and an object may be larger than it was.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from umpirical.domain.errors import StoreError, UsageError
from umpirical.store.manifests import Damaged

if TYPE_CHECKING:
    from pyarrow import fs


AT_A_TIME = 1_000_000
"""Bytes of an object that are in memory."""

SETTINGS = frozenset(
    {
        "blob_storage_authority",
        "blob_storage_scheme",
        "dfs_storage_authority",
        "dfs_storage_scheme",
        "enable_tls",
        "endpoint_override",
        "project_id",
        "region",
        "retry_limit_seconds",
        "scheme",
    }
)
"""What may follow the question mark of a URI. Every other setting may be a secret, such as an account's key."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]*(/[A-Za-z0-9][A-Za-z0-9._=-]*)*")
"""Of an object: no part of it is a step to another folder."""


def check_uri(uri: str) -> None:
    """Raises UsageError unless this is a URI without credentials. It is shown, and sent to other machines."""
    try:
        parts = urlsplit(uri)
        settings = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    except ValueError:
        raise UsageError("--through needs an object storage URI", fix="use --through s3://bucket/prefix") from None
    # The message has nothing of the URI: what is wrong with it may be the secret.
    if "@" in parts.netloc or settings - SETTINGS or parts.fragment:
        raise UsageError(
            "the --through URI contains credentials, or settings that may contain them",
            fix="remove them: every machine uses the credentials in its own environment, such as AWS_ACCESS_KEY_ID",
        )
    if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
        raise UsageError("--through needs an object storage URI", fix="use --through s3://bucket/prefix")
    if ".." in parts.path.split("/"):
        raise UsageError("the --through URI contains `..`", fix="give the full prefix")


class ObjectStore:
    """The objects under one URI. May be used by several threads."""

    def __init__(self, uri: str) -> None:
        check_uri(uri)
        self.uri = uri
        # Without what follows the question mark, for messages.
        self._shown = uri.partition("?")[0].rstrip("/")
        self._filesystem, self._prefix = _connected(uri)

    def put(self, name: str, file: Path) -> None:
        """Writes a file as an object; if it fails, there may be one that is not whole."""
        path = self._path(name)
        with self._naming(name, "written"), file.open("rb") as source:
            if self._filesystem.type_name == "local":
                # Elsewhere a folder is only a part of the name.
                self._filesystem.create_dir(path.rpartition("/")[0], recursive=True)
            with self._filesystem.open_output_stream(path) as target:
                while some := source.read(AT_A_TIME):
                    target.write(some)

    def get(self, name: str, file: Path, *, most: int) -> None:
        """Writes an object to a file. Raises Damaged if there is none, or if it has more than `most` bytes."""
        path, left = self._path(name), most
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._naming(name, "read"), self._filesystem.open_input_stream(path) as source, file.open("wb") as target:
            while some := source.read(min(AT_A_TIME, left + 1)):
                left -= len(some)
                if left < 0:
                    raise Damaged(f"{self.shown(name)} has more than {most:,} bytes", fix=_FIX)
                target.write(some)

    def names(self, under: str) -> list[str]:
        """Returns the names that begin with a folder, in order; without those that no object of ours can have."""
        from pyarrow import fs

        folder = self._path(under)
        with self._naming(under, "listed"):
            found = self._filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
        names = [
            f"{under}/{each.path[len(folder) + 1 :]}"
            for each in found
            if each.type == fs.FileType.File and each.path.startswith(f"{folder}/")
        ]
        return sorted(name for name in names if _NAME.fullmatch(name))

    def clear(self, folder: str) -> None:
        """Removes everything whose name begins with a folder."""
        path = self._path(folder)
        with self._naming(folder, "removed"), suppress(FileNotFoundError):
            self._filesystem.delete_dir(path)

    def shown(self, name: str) -> str:
        return f"{self._shown}/{name}"

    def _path(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise Damaged(f"invalid object name {name!r}", fix=_FIX)
        return f"{self._prefix}/{name}"

    @contextmanager
    def _naming(self, name: str, done: str) -> Iterator[None]:
        """Raises what goes wrong as an error of the store's, with the object's name."""
        import pyarrow as pa

        try:
            yield
        except FileNotFoundError:
            raise Damaged(f"{self.shown(name)} is missing", fix=_FIX) from None
        except (pa.ArrowException, OSError) as error:
            raise StoreError(
                f"{self.shown(name)} cannot be {done}: {_first_line(error)}",
                fix="check that this machine may read and write there, then run the same command again",
            ) from None


_FIX = "check who else writes there, then run the same command again"


def _connected(uri: str) -> "tuple[fs.FileSystem, str]":
    import pyarrow as pa
    from pyarrow import fs

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(
            f"cannot reach --through {uri}: {_first_line(error)}", fix="use --through s3://bucket/prefix"
        ) from None
    filesystem, prefix = found[0], found[1].rstrip("/")
    if not prefix:
        raise UsageError(f"--through {uri} contains no bucket or folder", fix="use --through s3://bucket/prefix")
    return filesystem, prefix


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
