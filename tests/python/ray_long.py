"""Tests that take too long for every day, run by tests/long ray: processes killed in the middle of a
thousand files, and files of an object store."""
import collections
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import satin

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
pytest.importorskip("ray.data", reason="ray is not installed: pip install 'satin-image[ray]'")

FILES = 1000
PIPELINE = "blur radius=9 | unsharp amount=0.5"

DRIVER = """
import os, sys
folder, machines, scratch = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ["RAY_TMPDIR"] = scratch
os.makedirs(scratch + "/ray", exist_ok=True)
import ray, satin.ray
machine = dict(num_cpus=1, object_store_memory=150 << 20)
cluster = None
if machines == 1:
    ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="ERROR", **machine)
else:
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args=dict(include_dashboard=False, **machine))
    node = cluster.add_node(**machine)
    open(folder + "/raylet", "w").write(str(node.all_processes["raylet"][0].process.pid))
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
result = satin.ray.run(%r, folder + "/in", folder + "/out", actors=machines, cpus=1, report=folder + "/rows.jsonl")
print(result.done, result.skipped, result.failed, flush=True)
print(result.failures[:2], file=sys.stderr)
ray.shutdown()
if cluster is not None:
    cluster.shutdown()
sys.exit(result.exit_code)
""" % PIPELINE


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A thousand pictures, and what becomes of them."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(7)
    (folder / "in").mkdir()
    for i in range(FILES):
        satin.write(folder / "in" / f"{i:04}.png", random.integers(0, 256, (120, 160, 3), np.uint8))
    assert satin.batch(PIPELINE, folder / "in", folder / "expected").done == FILES
    return folder


@pytest.fixture
def folder(pictures, tmp_path):
    (tmp_path / "in").symlink_to(pictures / "in")
    yield tmp_path
    shutil.rmtree(f"/tmp/satin-long-{os.getpid()}", ignore_errors=True)


def start(folder, machines=1):
    scratch = f"/tmp/satin-long-{os.getpid()}"
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(folder), str(machines), scratch], stdout=subprocess.PIPE)


def wait_for_outputs(driver, folder, count):
    until = time.monotonic() + 120
    while len(list((folder / "out").glob("*.png"))) < count:
        assert driver.poll() is None and time.monotonic() < until, "there are no outputs"
        time.sleep(0.01)


def check(folder, pictures):
    """Checks that bytes are equal, nothing was done twice, and no half file is left."""
    for expected in (pictures / "expected").glob("*.png"):
        assert (folder / "out" / expected.name).read_bytes() == expected.read_bytes(), expected.name
    done = collections.Counter()
    for manifest in (folder / "out").glob(".satin-manifest*"):
        done.update(line.split()[1] for line in manifest.read_text().splitlines() if line.startswith("done "))
    assert len(done) == FILES and set(done.values()) == {1}, [name for name, count in done.items() if count > 1]
    assert not list((folder / "out").glob("*.tmp")) and not list((folder / "out").glob(".satin-[0-9]*"))
    assert not list((folder / "out" / ".satin-attempts").iterdir())


def actors_in(folder):
    return [int(path.name.split("-")[-2]) for path in (folder / "out").glob(".satin-manifest.*")]


def test_an_actor_is_killed(folder, pictures):
    driver = start(folder)
    wait_for_outputs(driver, folder, 200)
    os.kill(actors_in(folder)[0], signal.SIGKILL)
    assert driver.wait(300) == 0, driver.stdout.read()
    assert len((folder / "rows.jsonl").read_text().splitlines()) == FILES
    check(folder, pictures)


def test_a_machine_is_lost(folder, pictures):
    driver = start(folder, machines=2)
    wait_for_outputs(driver, folder, 200)
    os.kill(int((folder / "raylet").read_text()), signal.SIGKILL)
    try:
        driver.wait(180)
    except subprocess.TimeoutExpired:  # Ray waits for a machine to come back: as a user would, begin again
        driver.kill()
        driver.wait()
    if driver.returncode != 0:
        time.sleep(10)
        assert start(folder).wait(300) == 0
    check(folder, pictures)


def test_the_driver_is_killed(folder, pictures):
    driver = start(folder)
    wait_for_outputs(driver, folder, 300)
    driver.kill()
    driver.wait()
    time.sleep(10)  # until Ray has noticed
    made = {path: path.stat().st_ino for path in (folder / "out").glob("*.png")}
    assert 300 <= len(made) < FILES
    again = start(folder)
    assert again.wait(300) == 0
    done, skipped, failed = map(int, again.stdout.read().split())
    assert done + skipped == FILES and failed == 0 and skipped >= len(made) - 20
    changed = [path for path, inode in made.items() if path.stat().st_ino != inode]
    assert len(changed) == len(made) - skipped
    check(folder, pictures)


# --- Object stores. ---


@pytest.fixture
def store(tmp_path):
    """A bucket on loopback."""
    server = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"  # nobody else is asked
    thread = server.ThreadedMotoServer("127.0.0.1", 0)
    thread.start()
    host, port = thread.get_host_and_port()
    from pyarrow import fs

    system = fs.S3FileSystem(access_key="test", secret_key="test", endpoint_override=f"http://{host}:{port}",
                             allow_bucket_creation=True)  # fmt: skip
    system.create_dir("pictures")
    yield system
    thread.stop()


@pytest.fixture
def cluster():
    import ray

    folder = f"/tmp/satin-long-{os.getpid()}"
    ray.init(address="local", num_cpus=2, object_store_memory=150 << 20, include_dashboard=False, log_to_driver=False, _temp_dir=folder,
             _node_ip_address="127.0.0.1", logging_level="ERROR")  # fmt: skip
    yield
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


def test_an_object_store(store, pictures, cluster):
    import satin.ray

    for i in range(12):
        with store.open_output_stream(f"pictures/in/{'sub/' if i % 2 else ''}{i:04}.png") as stream:
            stream.write((pictures / "in" / f"{i:04}.png").read_bytes())
    with store.open_output_stream("pictures/in/broken.png") as stream:
        stream.write(b"no picture")
    settings = ("s3://pictures/in", "s3://pictures/out/{sub}/{stem}_soft.{ext}")
    first = satin.ray.run(PIPELINE, *settings, recursive=True, filesystem=store)
    assert (first.total, first.done, first.failed) == (13, 12, 1)
    assert first.failures[0]["path"] == "s3://pictures/in/broken.png"
    assert "s3://pictures/in/broken.png" in first.failures[0]["error"]
    for i in range(12):
        with store.open_input_stream(f"pictures/out/{'sub/' if i % 2 else ''}{i:04}_soft.png") as stream:
            assert stream.read() == (pictures / "expected" / f"{i:04}.png").read_bytes()
    store.delete_file("pictures/out/0000_soft.png")
    again = satin.ray.run(PIPELINE, *settings, recursive=True, filesystem=store)
    assert (again.done, again.skipped, again.failed) == (1, 11, 1)
    other = satin.ray.run("blur radius=1", *settings, recursive=True, filesystem=store)
    assert other.done == 12
