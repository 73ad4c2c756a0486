"""The progress line of a batch appears on a terminal, and nowhere else."""
import os
import pty
import re
import subprocess

import pytest

import png_file
from conftest import BINARY

COUNT = 60


@pytest.fixture
def many(satin, noise):
    (satin.folder / "in").mkdir()
    data = png_file.encode(noise((500, 700, 3)))
    for i in range(COUNT):
        (satin.folder / "in" / ("%02d.png" % i)).write_bytes(b"broken" if i == 2 else data)
    return ("blur", "in", "-o", "out", "--sigma", "20", "--threads", "1")


def on_terminal(satin, *arguments):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BINARY, *arguments], cwd=satin.folder, env=satin.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    process.wait(timeout=60)
    return text.decode("utf-8", "replace")


def test_on_a_terminal(satin, many):
    text = on_terminal(satin, *many)
    lines = re.findall(r"\[[=> ]{24}\] (\d+) of %d, ([\d.]+)/s, (?:\d+ (?:min|s|h) ?)+left, 1 failed" % COUNT, text)
    if not lines:
        pytest.skip("the batch took less than a second")
    counts = [int(count) for count, _ in lines]
    assert counts == sorted(counts) and 2 < counts[-1] <= COUNT
    assert all(float(rate) > 0 for _, rate in lines)
    assert "1 of %d files failed" % COUNT in text


def test_quiet_and_elsewhere(satin, many):
    assert " of %d, " % COUNT not in on_terminal(satin, *many, "--quiet")
    result = satin(*many, "--overwrite")
    assert "/s" not in result.error and "\r" not in result.error


def test_a_long_filter_of_one_file(satin, noise):
    (satin.folder / "in.png").write_bytes(png_file.encode(noise((1500, 2000, 3))))
    line = ("blur radius=1 | gloss levels=16", "in.png", "-o", "out.png", "--threads", "1")
    text = on_terminal(satin, "run", *line)
    shares = re.findall(r"\r(?:filtering|\[[=> ]{24}\] (\d+) %), (\d+) s", text)
    assert shares, text
    assert [int(seconds) for _, seconds in shares] == sorted(int(seconds) for _, seconds in shares)
    # The first line comes long before the end; when exactly depends on what else runs.
    assert shares[0][0] == "50" and 2 * int(shares[0][1]) < int(shares[-1][1]) + 2
    assert {share for share, _ in shares} <= {"50", "100"}  # the second is being written
    assert text.endswith("\r")  # it is wiped away
    assert satin("run", *line, "--overwrite").error == ""
