"""Objects under a URI: in a folder, and on a server of S3's protocol."""

import subprocess
import sys
import traceback

import pytest

from tests.store.s3 import s3_server
from umpirical.domain.errors import StoreError, UsageError
from umpirical.integrations.object_storage.objects import AT_A_TIME, ObjectStore, check_uri
from umpirical.store.manifests import Damaged


@pytest.fixture(scope="module", params=["file", "s3"])
def place(request, tmp_path_factory):
    if request.param == "file":
        yield tmp_path_factory.mktemp("objects").as_uri()
        return
    with s3_server() as uri:
        yield uri


@pytest.fixture
def objects(place):
    store = ObjectStore(place)
    yield store
    store.clear("run")


@pytest.fixture
def file(tmp_path):
    def written(content: bytes):
        path = tmp_path / "written"
        path.write_bytes(content)
        return path

    return written


@pytest.mark.parametrize("size", [0, 5, AT_A_TIME, 6 * AT_A_TIME + 1])
def test_what_is_put_is_got(objects, file, tmp_path, size):
    content = bytes(range(256)) * (size // 256 + 1)
    objects.put("run/a/b=1.parquet", file(content[:size]))
    objects.get("run/a/b=1.parquet", tmp_path / "got" / "it", most=size)
    assert (tmp_path / "got" / "it").read_bytes() == content[:size]


def test_names_are_listed_in_order_and_only_those_below_the_folder(objects, file):
    for name in ("run/sealed/b/2.json", "run/sealed/a/1.json", "run/sealed-not/1.json", "run/stock/x"):
        objects.put(name, file(b"x"))
    assert objects.names("run/sealed") == ["run/sealed/a/1.json", "run/sealed/b/2.json"]
    assert objects.names("run/nothing") == []


def test_what_is_cleared_is_gone_and_the_rest_is_there(objects, file, tmp_path):
    objects.put("run/one/a/1", file(b"x"))
    objects.put("run/other/1", file(b"x"))
    objects.clear("run/one")
    objects.clear("run/one")
    assert objects.names("run") == ["run/other/1"]
    with pytest.raises(Damaged, match=r"run/one/a/1 is missing"):
        objects.get("run/one/a/1", tmp_path / "got", most=1)


def test_an_object_that_is_larger_than_it_may_be_is_refused_by_name_and_is_not_read_to_its_end(objects, file, tmp_path):
    objects.put("run/large", file(b"x" * 5 * AT_A_TIME))
    with pytest.raises(Damaged, match=r"/run/large has more than 1,000 bytes"):
        objects.get("run/large", tmp_path / "got", most=1000)
    assert (tmp_path / "got").stat().st_size <= 1001


@pytest.mark.parametrize(
    "name", ["../x", "run/../../x", "/etc/passwd", "run//x", "", "run/.", "run/\\x", "run/a\nb", "x/"]
)
def test_no_name_leads_out_of_the_prefix(objects, file, tmp_path, name):
    for attempt in (
        lambda: objects.put(name, file(b"x")),
        lambda: objects.get(name, tmp_path / "got", most=1),
        lambda: objects.clear(name),
        lambda: objects.names(name),
    ):
        with pytest.raises(Damaged, match="invalid object name"):
            attempt()


def test_a_name_that_is_not_ours_is_not_listed(tmp_path):
    objects = ObjectStore(tmp_path.as_uri())
    (tmp_path / "run").mkdir()
    for name in ("fine", "with space", "new\nline", "..hidden"):
        (tmp_path / "run" / name).write_text("x")
    assert objects.names("run") == ["run/fine"]


SECRET = "wJalrXUtnFEMI"  # noqa: S105  # of nobody


@pytest.mark.parametrize(
    "uri",
    [
        f"s3://AKIA:{SECRET}@bucket/prefix",
        f"s3://{SECRET}@bucket",
        f"gs://{SECRET}@bucket/prefix",
        f"abfs://:{SECRET}@account.dfs.core.windows.net/container",
        f"s3://bucket/prefix?secret_key={SECRET}",
        f"s3://bucket/prefix?region=x&{SECRET}",
        f"abfs://container/prefix?sig={SECRET}",
        f"s3://bucket/prefix#{SECRET}",
    ],
)
def test_credentials_in_a_uri_are_refused_and_never_said_again(uri):
    with pytest.raises(UsageError, match="credentials") as refused:
        ObjectStore(uri)
    assert SECRET not in "".join(traceback.format_exception(refused.value, chain=True)) + refused.value.fix


@pytest.mark.parametrize("uri", ["bucket/prefix", "s3://", "file:///", "", "s3://[bucket", "nothing://bucket/prefix"])
def test_what_is_no_place_for_objects_is_refused(uri):
    with pytest.raises(UsageError, match="--through"):
        ObjectStore(uri)


def test_a_prefix_with_a_step_to_the_folder_above_is_refused():
    with pytest.raises(UsageError, match=r"contains `\.\.`"):
        check_uri("file:///srv/studies/../others")


def test_a_store_that_cannot_be_reached_is_an_error_with_its_name(monkeypatch, file):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    # Port 9 discards, and here nobody listens.
    objects = ObjectStore("s3://bucket/prefix?region=x&scheme=http&endpoint_override=127.0.0.1%3A9")
    with pytest.raises(StoreError, match=r"s3://bucket/prefix/run/x cannot be written") as refused:
        objects.put("run/x", file(b"x"))
    assert SECRET not in str(refused.value)


def test_its_library_is_not_imported_before_there_is_a_uri():
    seen = (
        "import sys, umpirical.integrations.object_storage.objects, umpirical.cli; print('pyarrow.fs' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
