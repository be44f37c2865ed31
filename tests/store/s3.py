"""A server of S3's protocol on this machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from urllib.parse import quote

import pytest

BUCKET = "bucket"

SERVER = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("{}:{}".format(*server.get_host_and_port()), flush=True)
sys.stdin.read()  # until the test lets go of it, however it ends
"""


@contextmanager
def s3_server() -> Iterator[str]:
    """Serves an empty bucket, and lends its URI. Where it must be there, as in CI, its absence is no skip."""
    if find_spec("moto") is None or find_spec("flask_cors") is None:
        if os.environ.get("UMPIRICAL_REQUIRE_S3"):
            pytest.fail("moto's server is not installed")
        pytest.skip("needs moto's server: uv sync")
    from pyarrow import fs

    with pytest.MonkeyPatch.context() as patch, _serving() as at:
        patch.setenv("AWS_ACCESS_KEY_ID", "of-the-test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-test")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        maker = fs.S3FileSystem(endpoint_override=at, scheme="http", region="us-east-1", allow_bucket_creation=True)
        maker.create_dir(BUCKET)
        yield f"s3://{BUCKET}/studies?region=us-east-1&scheme=http&endpoint_override={quote(at, safe='')}"


@contextmanager
def _serving() -> Iterator[str]:
    """Moto's server in a process of its own: it leaves open files to the garbage collector, which then warns."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()
