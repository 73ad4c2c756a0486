"""Batches through Ray, on one machine: names, rows, resuming, and files that kill their process."""
import faulthandler
import inspect
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import satin

# These come before the import of Ray, which replaces 127.0.0.1 by another address unless it may make no clusters.
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'satin-image[ray]'")
pytest.importorskip("ray.data")
import pyarrow  # noqa: E402
from pyarrow import parquet  # noqa: E402

import satin.ray  # noqa: E402: only where there is Ray

LEAST_SHARED_MEMORY = 512 << 20
OBJECT_STORE = 300 << 20
TIME_LIMIT = 300  # seconds for all tests here, which take 70 on two idle cores: Ray tries for ever


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Ray with two CPUs, and a GPU that it counts but nobody opens, in a folder of its own, on loopback alone."""
    if not os.path.isdir("/dev/shm") or shutil.disk_usage("/dev/shm").total < LEAST_SHARED_MEMORY:
        pytest.skip("/dev/shm is below 512 MB, which Ray's object store needs")
    folder = f"/tmp/satin-ray-{os.getpid()}"  # short: names of sockets end at 107 bytes
    ray.init(address="local", num_cpus=2, num_gpus=1, object_store_memory=OBJECT_STORE, include_dashboard=False, log_to_driver=False,
             _temp_dir=folder, _node_ip_address="127.0.0.1", logging_level="ERROR")  # fmt: skip
    faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def folder(cluster, tmp_path, random):
    """Twelve pictures in two folders, and a broken one."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for i in range(12):
        satin.write(tmp_path / "in" / ("sub" if i % 2 else ".") / f"{i}.png", random.integers(0, 256, (30, 40, 3), np.uint8))
    (tmp_path / "in" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    return tmp_path


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and not path.relative_to(folder).parts[0].startswith(".")}  # fmt: skip


def expected(folder):
    satin.batch("blur radius=2", folder / "in", folder / "expected", recursive=True)
    return files_in(folder / "expected")


def test_twelve_good_pictures_and_a_broken_one(folder):
    names = satin.ray.find(folder / "in", recursive=True)
    assert set(names.schema().names) == {"path", "sub", "size", "mtime"}
    done = names.map_batches(satin.ray.Filter, fn_constructor_args=("blur radius=2", str(folder / "out")),
                             batch_size=None, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=2)).materialize()  # fmt: skip
    rows = done.take_all()
    assert names.size_bytes() + done.size_bytes() < 1000 * len(rows)  # names travel, and no pixel
    made = expected(folder)
    assert files_in(folder / "out") == made and len(made) == 12
    assert len(rows) == 13 and set(rows[0]) == set("path output status error milliseconds bytes hash".split())
    by_status = {row["path"]: row["status"] for row in rows}
    assert by_status.pop(str(folder / "in" / "broken.png")) == "failed"
    assert set(by_status.values()) == {"done"}
    assert all(row["bytes"] == os.path.getsize(row["output"]) and len(row["hash"]) == 16
               for row in rows if row["status"] == "done")  # fmt: skip
    assert "broken.png" in next(row["error"] for row in rows if row["status"] == "failed")
    run_again(folder, made)


def run_again(folder, made):
    """A second run leaves whole outputs alone and makes broken ones again."""
    inodes = {path: path.stat().st_ino for path in (folder / "out").rglob("*.png")}
    (folder / "out" / "0.png").write_bytes(b"cut")
    again = satin.ray.run("blur radius=2", folder / "in", folder / "out", recursive=True, device="cpu",
                          report=folder / "rows.jsonl")  # fmt: skip
    assert (again.total, again.done, again.skipped, again.failed, again.exit_code) == (13, 1, 11, 1, 1)
    assert files_in(folder / "out") == made
    assert [path.name for path, inode in inodes.items() if path.stat().st_ino != inode] == ["0.png"]
    assert len((folder / "rows.jsonl").read_text().splitlines()) == 13
    # The command knows what Ray's actors have done.
    whole = satin.batch("blur radius=2", folder / "in", folder / "out", recursive=True, resume=True)
    assert whole.skipped == 12


def test_what_is_to_be_corrected_is_told_before_anything_is_begun(folder):
    with pytest.raises(ValueError, match="radius"):
        satin.ray.run("blur radis=2", folder / "in", folder / "out")
    with pytest.raises(ValueError, match="both"):
        satin.ray.run("blur radius=2", [folder / "in", folder / "in" / "sub"], "{dir}/../all.png")
    (folder / "out").mkdir()
    (folder / "out" / "0.png").write_bytes(b"mine")
    with pytest.raises(ValueError, match="manifest"):
        satin.ray.run("blur radius=2", folder / "in", folder / "out")
    assert (folder / "out" / "0.png").read_bytes() == b"mine"


# A value for every option of satin.batch; None: satin.ray refuses it, and says why. Those that go together share a line.
OPTIONS = {
    "recursive": True, "progress": False, "report": "rows.jsonl", "finished": print, "threads": 1, "memory": 1 << 28,
    "memory_limit": 1 << 28, "device": ["cpu"], "overwrite": True, "resume": True, "format": "jpg", "quality": 40, "strip": True,
    "max_pixels": 2000, "max_bytes": 8 << 20, "mask_from": "alpha", "invert_mask": True, "gain_map": "drop", "allow_partial": True,
    "keep_depth": True, "keep_metadata": True, "depth_out": "{dir}/../depth/{stem}.png", "model": "none.onnx",
    "skip_existing": True, "page": 1, "part": "", "all_pages": True, "dither": True, "stream": True, "pyramid": True,
    "fail_fast": None, "gallery": None, "shard": None, "in_place": None, "backup": None,
}  # fmt: skip
OF_RUN = {"recursive", "progress", "report", "finished"}


def options_of_batch():
    from satin._batch import batch_options

    both = {**inspect.signature(satin.batch).parameters, **inspect.signature(batch_options).parameters}
    return {name for name, option in both.items() if option.kind is option.KEYWORD_ONLY}


def test_every_option_of_a_batch_is_known():
    assert set(OPTIONS) == options_of_batch()


@pytest.fixture
def tiffs(tmp_path, random):
    """Two pictures of 16 bits, and one that max_pixels refuses."""
    (tmp_path / "in").mkdir()
    for name, size in (("a", (30, 40, 3)), ("b", (20, 30, 3)), ("large", (60, 70, 3))):
        satin.write(tmp_path / "in" / f"{name}.tif", random.integers(0, 65536, size, np.uint16))
    return tmp_path


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_an_actor_has_the_options_of_a_batch(tiffs, name):
    options = {name: OPTIONS[name]}
    inputs = sorted(str(path) for path in (tiffs / "in").iterdir())
    if name in OF_RUN or OPTIONS[name] is None:
        with pytest.raises(ValueError, match=f"{name} is not an option here: "):
            satin.ray.Filter("blur radius=2", tiffs / "out", **options)
        return
    try:
        expected = satin.batch("blur radius=2", inputs, tiffs / "expected", **options)
    except ValueError as error:  # depth that a blur has not, or a picture of two pages
        with pytest.raises(ValueError, match=re.escape(str(error))):
            satin.ray.Filter("blur radius=2", tiffs / "out", **options)
        return
    rows = satin.ray.Filter("blur radius=2", tiffs / "out", **{"device": "cpu", **options})({"path": inputs})
    failed = {row["input"]: row["error"]["message"] for row in expected.failures}
    assert {path: error for path, error in zip(rows["path"], rows["error"]) if error} == failed
    assert files_in(tiffs / "out") == files_in(tiffs / "expected")


def test_a_run_has_the_options_of_a_batch(cluster, tiffs, monkeypatch):
    monkeypatch.chdir(tiffs)
    rows = []
    names = "recursive progress report threads memory memory_limit overwrite resume format quality strip max_pixels".split()
    options = {name: OPTIONS[name] for name in names}
    result = satin.ray.run("blur radius=2", "in", "out", cpus=1, device=["cpu"], finished=rows.append, **options)
    assert (result.total, result.done, result.failed) == (3, 2, 1) and len(rows) == 3
    satin.batch("blur radius=2", "in", "expected", **options, finished=lambda row: None)
    assert files_in(tiffs / "out") == files_in(tiffs / "expected")


@pytest.mark.parametrize("options,message", [
    *(({name: value or "2/3"}, f"{name} is not an option here: ") for name, value in OPTIONS.items() if value is None),
    ({"resume": False}, "always resume"),
    ({"device": [satin.Device("cpu")]}, "pass their names"),
])  # fmt: skip
def test_what_a_run_does_not_have_is_told_before_it_begins(tiffs, options, message):
    with pytest.raises(ValueError, match=message):
        satin.ray.run("blur radius=2", tiffs / "in", tiffs / "out", **options)
    assert not (tiffs / "out").exists()


class Killer(threading.Thread):
    """Kills whatever process begins one file, as the memory killer would, and counts."""

    def __init__(self, log):
        super().__init__(daemon=True)
        self._log, self.deaths, self.over = log, 0, False

    def run(self):
        while not self.over:
            time.sleep(0.02)
            lines = self._log.read_text().splitlines() if self._log.exists() else []
            if len(lines) > self.deaths:
                self.deaths = len(lines)
                os.kill(int(lines[-1].split("-")[-2]), signal.SIGKILL)


def test_a_file_that_kills_its_process_is_a_row(folder):
    poison = folder / "poison.png"
    os.mkfifo(poison)  # reading it takes until the process dies
    from satin.ray._filter import Attempts

    killer = Killer(Attempts(folder / "out" / ".satin-attempts", "test").file(str(poison)))
    killer.start()
    result = satin.ray.run("blur radius=2", [folder / "in", poison], folder / "out", recursive=True, device="cpu")
    killer.over = True
    assert killer.deaths == 2
    assert (result.total, result.done + result.skipped, result.failed) == (14, 12, 2)
    row = next(row for row in result.failures if row["path"] == str(poison))
    assert "died, twice" in row["error"] and ".satin-attempts" in row["error"]
    assert files_in(folder / "out") == expected(folder)


def test_files_in_a_column(folder):
    good = [folder / "in" / f"{i}.png" for i in (0, 2)]
    values = [{"path": path.name, "bytes": path.read_bytes()} for path in [*good, folder / "in" / "broken.png"]]
    parquet.write_table(pyarrow.Table.from_pylist(values), folder / "files.parquet")
    made = ray.data.read_parquet(str(folder / "files.parquet")).map_batches(
        satin.ray.Bytes, fn_constructor_args=("blur radius=2",), batch_size=None, num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=1))  # fmt: skip
    made.write_parquet(str(folder / "blurred"))
    rows = {row["path"]: row for row in parquet.read_table(folder / "blurred").to_pylist()}
    assert {name: row["status"] for name, row in rows.items()} == {"0.png": "done", "2.png": "done", "broken.png": "failed"}
    assert rows["broken.png"]["bytes"] is None and "broken" not in rows["0.png"]["error"]
    whole = expected(folder)
    assert rows["0.png"]["bytes"] == whole["0.png"] and rows["2.png"]["bytes"] == whole["2.png"]


def test_arrays(cluster, random):
    images = random.integers(0, 256, (10, 12, 16, 3), np.uint8)
    made = ray.data.from_numpy(images).map_batches(
        satin.ray.Arrays, fn_constructor_args=("blur radius=2",), fn_constructor_kwargs={"column": "data"},
        batch_size=4, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=1))  # fmt: skip
    found = np.stack([row["data"] for row in made.take_all()])
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(satin.blur(images, radius=2), axis=0))


@pytest.mark.parametrize("assigned,expected", [
    ({"CPU": 3.0}, [("cpu", 3, 0)]),
    ({"CPU": 1.0, "GPU": 0.25}, [("cuda:0", 1, 250)]),
    ({"CPU": 4.0, "GPU": 2.0}, [("cuda:0", 4, 0), ("cuda:1", 4, 0)]),
    ({}, [("auto", 0, 0)]),
], ids=["CPUs", "a quarter of a GPU", "two GPUs", "no actor"])  # fmt: skip
def test_an_actor_takes_its_share(monkeypatch, assigned, expected):
    opened = []

    class Device:
        memory = 1000

        def __init__(self, name, threads):
            self.id, self.threads = name, threads

        def limit_memory(self, size):
            opened.append((self.id, self.threads, size))

    from satin.ray import _filter

    monkeypatch.setattr(_filter, "_assigned", lambda: assigned)
    monkeypatch.setattr(_filter._native, "Device", Device)
    share = _filter.share_of_actor(None, 0, 0, 0)
    assert opened == expected and share.threads == expected[0][1]
    assert (share.memory == 0) == (not assigned)


def test_arrays_of_several_shapes_keep_few_plans(random):
    arrays = satin.ray.Arrays("blur radius=1", device="cpu")
    images = [random.integers(0, 256, (8, 8 + i), np.uint8) for i in range(6)]
    column = np.empty(6, object)
    column[:] = images
    for image, made in zip(images, arrays({"image": column})["image"]):
        np.testing.assert_array_equal(made, satin.blur(image, radius=1))
    assert len(arrays._plans) == 4
