"""Nothing lost: existing outputs, resuming, dry runs, reports, full disks and killed processes."""
import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

import png_file
from conftest import FULL_CODECS, files_below

BLUR = ("--radius", "2")


@pytest.fixture
def three(satin, noise):
    (satin.folder / "in").mkdir()
    for i, name in enumerate("abc"):
        png_file.write(satin.folder / "in" / (name + ".png"), noise((9, 14, 3), seed=i))
    return satin.folder / "in"


def statuses(satin, *arguments):
    result = satin("blur", "in", "-o", "out", *BLUR, "--json", *arguments)
    assert result.returncode == 0, result.error
    return [entry["status"] for entry in json.loads(result.stdout)["files"]]


def test_skip_existing(satin, three):
    (satin.folder / "out").mkdir()
    (satin.folder / "out" / "b.png").write_bytes(b"precious")
    assert statuses(satin, "--skip-existing") == ["done", "exists", "done"]
    assert (satin.folder / "out" / "b.png").read_bytes() == b"precious"
    assert statuses(satin, "--skip-existing") == ["exists"] * 3
    assert files_below(satin.folder / "out") == ["a.png", "b.png", "c.png"]


@pytest.mark.parametrize("options", [("--skip-existing", "--overwrite"), ("--skip-existing", "--resume"),
                                     ("--fail-fast", "--keep-going")])
def test_contradictions(satin, three, options):
    satin.bad(2, "blur", "in", "-o", "out", *options, says=list(options))


def test_resume_does_what_is_not_done(satin, three, noise):
    out = satin.folder / "out"
    assert statuses(satin, "--resume") == ["done"] * 3
    assert statuses(satin, "--resume") == ["unchanged"] * 3
    wanted = {name: (out / name).read_bytes() for name in ("a.png", "b.png", "c.png")}
    (out / "b.png").write_bytes(wanted["b.png"][:-1])  # cut
    assert statuses(satin, "--resume") == ["unchanged", "done", "unchanged"]
    (out / "c.png").write_bytes(wanted["c.png"][:-1] + b"x")  # same size, other bytes
    os.remove(out / "a.png")
    assert statuses(satin, "--resume") == ["done", "unchanged", "done"]
    assert {name: (out / name).read_bytes() for name in wanted} == wanted
    png_file.write(three / "b.png", noise((9, 14, 3), seed=9))  # another picture of the same size
    assert statuses(satin, "--resume") == ["unchanged", "done", "unchanged"]
    os.utime(three / "c.png", ns=(1, 1))
    assert statuses(satin, "--resume") == ["unchanged", "unchanged", "done"]


def test_resume_with_other_parameters_does_all_again(satin, three):
    png_file.write(satin.folder / "mask.png", np.zeros((9, 14), np.uint8))
    assert statuses(satin, "--resume") == ["done"] * 3
    assert statuses(satin, "--resume", "--border", "wrap") == ["done"] * 3
    assert statuses(satin, "--resume", "--border", "wrap") == ["unchanged"] * 3
    assert statuses(satin, "--resume", "--mask", "mask.png") == ["done"] * 3
    assert statuses(satin, "--resume", "--mask", "mask.png") == ["unchanged"] * 3
    png_file.write(satin.folder / "mask.png", np.full((9, 14), 255, np.uint8))
    assert statuses(satin, "--resume", "--mask", "mask.png") == ["done"] * 3


def test_resume_never_replaces_what_it_did_not_make(satin, three):
    (satin.folder / "out").mkdir()
    (satin.folder / "out" / "b.png").write_bytes(b"precious")
    satin.bad(2, "blur", "in", "-o", "out", "--resume", says=["out/b.png", "manifest", "--overwrite"])
    assert files_below(satin.folder / "out") == ["b.png"]
    assert statuses(satin, "--resume", "--overwrite") == ["done"] * 3


def test_manifest_of_another_kind(satin, three):
    (satin.folder / "out").mkdir()
    (satin.folder / "out" / ".satin-manifest").write_bytes(b"my notes\n")
    satin.bad(1, "blur", "in", "-o", "out", "--resume", says=".satin-manifest")
    assert (satin.folder / "out" / ".satin-manifest").read_bytes() == b"my notes\n"


def test_manifest_that_was_cut_anywhere(satin, three):
    assert statuses(satin, "--resume") == ["done"] * 3
    manifest = satin.folder / "out" / ".satin-manifest"
    whole = manifest.read_bytes()
    begun = {name: whole.index(b"begin " + name.encode()) for name in ("a.png", "b.png", "c.png")}
    for length in range(0, len(whole), 7):
        manifest.write_bytes(whole[:length])
        for name, at in begun.items():  # an output is written after its line
            if at + len("begin a.png\n") > length and (satin.folder / "out" / name).exists():
                os.remove(satin.folder / "out" / name)
        assert set(statuses(satin, "--resume")) <= {"done", "unchanged"}
        assert statuses(satin, "--resume") == ["unchanged"] * 3


def test_dry_run_changes_nothing(satin, three):
    (satin.folder / "in" / "d.png").write_bytes(b"")
    result = satin.good("run", " blur   radius=2|blur  sigma=1.50", "in", "-o", "out", "--dry-run")
    assert result.stdout.decode().splitlines() == [
        "pipeline  blur radius=2 | blur sigma=1.5"] + ["write     in/%s.png -> out/%s.png" % (c, c) for c in "abcd"]
    assert not (satin.folder / "out").exists()
    os.remove(satin.folder / "in" / "d.png")
    assert statuses(satin, "--resume") == ["done"] * 3
    os.remove(satin.folder / "out" / "b.png")
    before = files_below(satin.folder)
    result = satin("blur", "in", "none.png", "-o", "out", *BLUR, "--resume", "--dry-run")
    assert result.returncode == 1
    assert [line.split()[0] for line in result.stdout.decode().splitlines()[1:]] == [
        "unchanged", "write", "unchanged", "fail"]
    assert files_below(satin.folder) == before
    satin.bad(2, "blur", "in", "-o", "in", "--dry-run", says="same file")


def test_report(satin, three):
    (three / "b.png").write_bytes(b"broken")
    result = satin("blur", "in", "-o", "out", "--report", "report.jsonl", *BLUR)
    assert result.returncode == 1
    lines = [json.loads(line) for line in (satin.folder / "report.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines] == ["done", "failed", "done", "failed"]
    assert lines[1]["error"]["kind"] == "input" and lines[0]["output"] == "out/a.png"
    assert lines[3]["summary"]["done"] == 2 and lines[3]["summary"]["failed"] == 1 and lines[3]["exit_code"] == 1
    satin.bad(2, "blur", "in", "-o", "new", "--report", "report.jsonl", says="report.jsonl")
    satin.bad(2, "blur", "in/a.png", "-o", "x.png", "--report", "in/a.png", "--overwrite", says="in/a.png")
    satin.bad(2, "blur", "in/a.png", "-o", "x.png", "--report", "./x.png", says="x.png")
    satin.bad(3, "blur", "in", "-o", "new", "--report", "/dev/full", "--overwrite", says="/dev/full")


def test_fail_fast_begins_no_other_file(satin, noise):
    count = 100
    (satin.folder / "in").mkdir()
    for i in range(count):
        (satin.folder / "in" / ("%03d.png" % i)).write_bytes(b"broken" if i == 3 else png_file.encode(noise((4, 5))))
    result = satin("blur", "in", "-o", "out", "--fail-fast", "--json")
    assert result.returncode == 1 and "Stopped early" in result.error
    summary = json.loads(result.stdout)["summary"]
    assert summary["failed"] == 1 and 3 <= summary["done"] == len(files_below(satin.folder / "out")) < count
    assert summary["not_started"] == count - 1 - summary["done"]
    assert satin("blur", "in", "-o", "all").returncode == 1
    assert len(files_below(satin.folder / "all")) == count - 1


@pytest.mark.parametrize("text", ["0", "12X", "M", "", "1MM", "-5", "99999999999999999999"])
def test_memory_that_is_wrong(satin, picture, text):
    satin.bad(2, "blur", "in.png", "-o", "out.png", "--memory=" + text if text else "--memory=", says="--memory")


def test_little_memory_and_few_threads_change_no_byte(satin, noise):
    (satin.folder / "in").mkdir()
    for i in range(12):
        png_file.write(satin.folder / "in" / ("%02d.png" % i), noise((40 + i % 3, 50, 3), seed=i))
    satin.good("run", "blur radius=3 | unsharp amount=0.5", "in", "-o", "one")
    for number, options in enumerate([("--memory", "1"), ("--threads", "1"), ("--memory", "20K", "--threads", "2")]):
        satin.good("run", "blur radius=3 | unsharp amount=0.5", "in", "-o", str(number), *options)
        for name in files_below(satin.folder / "one"):
            assert (satin.folder / str(number) / name).read_bytes() == (satin.folder / "one" / name).read_bytes()


def mount(folder, options):
    """Mounts an empty file system in memory there; false if this user may not."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
                          stderr=subprocess.DEVNULL).returncode == 0


def test_folder_that_cannot_be_written(satin, three):
    out = satin.folder / "out"
    out.mkdir()
    out.chmod(0o555)
    mounted = os.access(out, os.W_OK) and mount(out, "ro")  # root may write into every folder
    if os.access(out, os.W_OK):
        pytest.skip("this user may write into every folder and mount none")
    try:
        satin.bad(1, "blur", "in", "-o", "out", says="out")
        satin.bad(1, "blur", "in", "-o", "out", "--resume", says="out")
        assert files_below(out) == []
    finally:
        if mounted:
            subprocess.run(["umount", str(out)], check=True)


def write_input(folder, stem, array, format):
    """A picture of a type that the format holds."""
    if format not in ("hdr", "pfm"):
        return png_file.write(folder / (stem + ".png"), array).name
    np.save(folder / (stem + ".npy"), array.astype(np.float32) / 255)
    return stem + ".npy"


FORMATS = ["bmp", "hdr", "jpg", "npy", "pfm", "png", "ppm", "tga"] + ["tif", "webp"] * FULL_CODECS


@pytest.mark.parametrize("format", FORMATS)
def test_full_device(satin, noise, format):
    name = write_input(satin.folder, "in", noise((30, 40, 3)), format)
    satin.bad(3, "blur", name, "-o", "/dev/full", "--format", format, says="full")


@pytest.fixture
def small_disk(tmp_path):
    """A folder with 256 KiB of space."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not mount(folder, "size=256k"):
        pytest.skip("a small tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("format", FORMATS)
def test_full_disk(satin, noise, small_disk, format):
    (satin.folder / "in").mkdir()
    for i in range(6):
        write_input(satin.folder / "in", str(i), noise((250, 250, 3), seed=i), format)
    old = small_disk / ("5." + format)
    old.write_bytes(b"old")
    result = satin("blur", "in", "-o", "small", "--format", format, "--overwrite", "--radius", "0", "--json")
    assert result.returncode == 3 and "full" in result.error
    done = {entry["output"][6:] for entry in json.loads(result.stdout)["files"] if entry["status"] == "done"}
    assert set(files_below(small_disk)) == done | {old.name}  # nothing temporary, nothing partial
    assert old.name in done or old.read_bytes() == b"old"
    for name in done:
        satin.good("stats", "small/" + name)


def test_killed_at_random_moments(satin, noise):
    """kill -9, again and again: whole files only, and --resume ends with the bytes of an undisturbed run."""
    count = 1000
    random.seed(7)
    (satin.folder / "in").mkdir()
    for i in range(count):
        png_file.write(satin.folder / "in" / ("%04d.png" % i), noise((20, 30, 3), seed=i))
    start = time.monotonic()
    satin.good("blur", "in", "-o", "calm", *BLUR)
    whole = time.monotonic() - start
    wanted = {name: (satin.folder / "calm" / name).read_bytes() for name in files_below(satin.folder / "calm")}
    assert len(wanted) == count
    out = satin.folder / "out"
    kills = 0
    for _ in range(12):
        process = satin.start("blur", "in", "-o", "out", *BLUR, "--resume")
        time.sleep(random.uniform(0.0, whole / 4))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
        for name in files_below(out) if out.exists() else []:
            if not name.startswith("."):
                assert (out / name).read_bytes() == wanted[name], name
    assert kills > 2
    satin.good("blur", "in", "-o", "out", *BLUR, "--resume")
    os.remove(out / ".satin-manifest")
    assert {name: (out / name).read_bytes() for name in files_below(out)} == wanted
