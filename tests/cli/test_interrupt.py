"""SIGINT, SIGTERM and SIGHUP: exit codes 130, 143 and 129, whole outputs, nothing temporary. SIGXFSZ: an error."""
import os
import resource
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

import png_file
from conftest import files_below


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


def catches(process, number):
    """Whether the process has a handler for this signal: before, the signal ends it without a word."""
    status = Path("/proc/%d/status" % process.pid).read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return int(caught, 16) >> (number - 1) & 1


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_in_a_batch(satin, noise, number):
    count = 200
    (satin.folder / "in").mkdir()
    data = png_file.encode(noise((300, 400, 3)))
    for i in range(count):
        (satin.folder / "in" / ("%03d.png" % i)).write_bytes(data)
    out = satin.folder / "out"
    process = satin.start("blur", "in", "-o", "out", "--radius", "20")
    wait_until(lambda: out.exists() and len(files_below(out)) > 1)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"nterrupted" in error and b"of %d" % count in error
    done = files_below(out)
    assert 0 < len(done) < count
    for name in done:
        assert name.endswith(".png") and name[0] != "."
        assert (out / name).read_bytes()[-8:-4] == b"IEND"


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_while_waiting_for_standard_input(satin, number):
    process = satin.start("blur", "-", "-o", "out.png", stdin=subprocess.PIPE)
    process.stdin.write(png_file.SIGNATURE)
    process.stdin.flush()
    wait_until(lambda: catches(process, number))
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(timeout=10) == 128 + number
    process.stdin.close()
    assert files_below(satin.folder) == []


def test_nohup(satin, picture):
    process = satin.start("blur", "-", "-o", "out.png", stdin=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until(lambda: catches(process, signal.SIGINT))
    process.send_signal(signal.SIGHUP)
    _, error = process.communicate(picture.read_bytes(), timeout=60)
    assert process.returncode == 0, error


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_while_files_are_written_beside_a_batch(satin, noise, number):
    """The masks of `bins` take a second to write, one after another."""
    (satin.folder / "in.png").write_bytes(png_file.encode(noise((2000, 2000))))
    process = satin.start("bins", "in.png", "-o", "zones", "--bins", "100")
    zones = satin.folder / "zones"
    wait_until(lambda: zones.exists() and len(files_below(zones)) > 1)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    for name in files_below(zones):
        assert name.startswith("zone_") and (zones / name).read_bytes()[-8:-4] == b"IEND"


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


def test_a_file_above_the_limit_of_the_shell(satin, noise):
    (satin.folder / "in").mkdir()
    for i in range(9):
        (satin.folder / "in" / ("%d.png" % i)).write_bytes(png_file.encode(noise((300, 400, 3))))
    for line in (["in/0.png", "-o", "out.png"], ["in", "-o", "out"]):
        process = satin.start("blur", *line, "--radius", "0", preexec_fn=small_files)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 3, error
        assert b"ulimit -f" in error
        assert [name for name in files_below(satin.folder) if not name.startswith("in/")] == []


def test_signal_while_standard_output_is_blocked(satin, noise):
    data = png_file.encode(noise((600, 600, 3)))  # far more than a pipe holds
    (satin.folder / "in.png").write_bytes(data)
    process = satin.start("blur", "in.png", "-o", "-", "--radius", "0")
    assert select.select([process.stdout], [], [], 30)[0]
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130


SLOW = [["gloss", "--roughness", "1", "--levels", "16"], ["blur", "--radius-map", "in.pgm", "--radius-max", "500"]]


@pytest.mark.parametrize("filter", SLOW, ids=lambda line: line[0])
def test_signal_inside_of_a_long_filter(satin, filter):
    """Each takes many seconds for 12 megapixels, without windows or frames between which it might end."""
    width, height = 4000, 3000
    (satin.folder / "in.pgm").write_bytes(b"P5\n%d %d\n255\n" % (width, height) + os.urandom(width * height))
    process = satin.start(filter[0], "in.pgm", "-o", "out.pgm", "--threads", "1", *filter[1:])
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, error = process.communicate(timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 130
    # Time of one thread, which does not depend on what else runs: a second before the signal, and what follows. With a
    # sanitizer the whole filter takes a minute.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 6
    assert b"nterrupted" in error and files_below(satin.folder) == ["in.pgm"]
