"""The peak of resident memory: of every filter under --memory-limit, on wide, tall and ordinary pictures, and of
files that their header says are too large."""
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import png_file
from conftest import BINARY, FULL_CODECS

pytestmark = pytest.mark.skipif(b"AddressSanitizer" in Path(BINARY).read_bytes(),
                                reason="sanitizers take memory of their own, and keep what is freed")

REFERENCE = (Path(__file__).resolve().parents[2] / "src" / "app" / "README.md").read_text()


def documented(text):
    """The numbers that the reference's table of memory has at the groups of this expression."""
    return [int(number) for number in re.search(text, REFERENCE).groups()]


LIMIT = 4 << 20
ALLOWANCE = documented(r"the filter's workspace, and at most (\d+) MB")[0] << 20  # the program itself
SHAPES = {"wide": (1, 1 << 20), "tall": (1 << 20, 1), "ordinary": (1100, 1400)}
# Every row of a lobe looks at all rows: a million of them take minutes.
TALL_LOBES = (1 << 10, 1)
# Bytes a pixel of what makes JSON, where there is no limit to set.
ANALYSIS = documented(r"`stats`, `bins`, `regions` \| up to (\d+) bytes per pixel")[0]

# A small process starts the command, because what is inherited from a large one counts in the peak.
MEASURE = ("import os, sys\n"
           "child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])\n"
           "_, status, usage = os.wait4(child, 0)\n"
           "print('\\npeak', usage.ru_maxrss * 1024)\n"
           "sys.exit(os.waitstatus_to_exitcode(status))\n")

FILTERS = json.loads(subprocess.check_output([BINARY, "list", "--json"]))["filters"]


def run(satin, *arguments, timeout=120):
    """The finished process, with the peak of its resident memory in bytes."""
    line = [sys.executable, "-S", "-E", "-c", MEASURE, BINARY, *map(str, arguments)]
    result = subprocess.run(line, cwd=satin.folder, env=satin.environment, capture_output=True, timeout=timeout,
                            stdin=subprocess.DEVNULL)
    result.peak = int(result.stdout.split()[-1])
    result.error = result.stderr.decode()
    return result


def write_pgm(path, shape, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    path.write_bytes(b"P5\n%d %d\n255\n" % (shape[1], shape[0]) + pixels.tobytes())


def line_of(record, folder):
    name, output = record["name"], {"image": "out.pgm", "table": "out.npy", "json": "out.json"}[record["output"]]
    own = {"dof": ["--depth", "depth.pgm", "--focus", "100", "--strength", "0.02"], "redact": ["--box", "0,0,1,1"],
           "mask": ["--grow", "20", "--feather", "9"], "resize": ["--size", "50%"], "crop": ["--aspect", "1:1"], "bins": ["--bins", "2"]}.get(name, [])
    if name == "stats":
        return ["stats", "in.pgm"]
    return [name, "in.pgm", "-o", "zones" if name == "bins" else output, *own]


def written_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name not in
               ("in.pgm", "depth.pgm"))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("record", FILTERS, ids=lambda record: record["name"])
def test_the_peak_is_bounded(satin, record, kind):
    shape = TALL_LOBES if record["name"] == "gloss" and kind == "tall" else SHAPES[kind]
    pixels = shape[0] * shape[1]
    write_pgm(satin.folder / "in.pgm", shape, 1)
    write_pgm(satin.folder / "depth.pgm", shape, 2)
    limited = record["output"] != "json"
    limit = LIMIT if limited else ANALYSIS * pixels
    result = run(satin, *line_of(record, satin.folder), "--device", "cpu",
                 *(["--memory-limit", str(LIMIT)] if limited else []))
    encoded = written_below(satin.folder)
    decoded = pixels * (2 if record["name"] == "dof" else 1)
    made = pixels * 8 if record["output"] == "table" else pixels
    if result.returncode == 3:
        assert "memory limit of %d bytes" % LIMIT in result.error and encoded == 0, result.error
        needed = int(result.error.split(" bytes or more")[0].split()[-1])
        assert needed > LIMIT
        assert result.peak <= ALLOWANCE
    else:
        assert result.returncode == 0, result.error
        assert result.peak <= ALLOWANCE + 2 * decoded + made + encoded + limit, (result.peak, encoded)


def test_many_filters_share_the_limit(satin):
    write_pgm(satin.folder / "in.pgm", (1100, 1400), 1)
    steps = " | ".join(["guided radius=3"] * 4)
    result = run(satin, "run", steps, "in.pgm", "-o", "out.pgm", "--device", "cpu", "--memory-limit", "16M")
    assert result.returncode == 0, result.error
    assert result.peak <= ALLOWANCE + 4 * 1100 * 1400 + (16 << 20)


def test_a_process_of_dof_takes_what_the_reference_says(satin):
    """From the difference between two sizes, beside what a process takes that only reads and writes."""
    least, most = documented(r"a process of `dof` on the CPU \| (\d+) to (\d+) bytes per pixel of 8-bit RGB")
    lines = {"dof": ["dof", "in.npy", "--depth", "depth.npy", "--focus", "0.9", "--strength", "8"],
             "copy": ["blur", "in.npy", "--radius", "0"]}
    peaks = {name: [] for name in lines}
    for height, width in [(450, 600), (900, 1200)]:
        y, x = np.mgrid[0:height, 0:width]
        disc = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2
        np.save(satin.folder / "in.npy", np.stack([x * 255 // width, y * 255 // height, (x // 40 + y // 40) % 2 * 200],
                                                  axis=2).astype(np.uint8))
        np.save(satin.folder / "depth.npy", np.where(disc, 59000, 6000 + 26000 * x // width).astype(np.uint16))
        for name, line in lines.items():
            result = run(satin, *line, "-o", "out.npy", "--overwrite", "--device", "cpu", "--threads", "1")
            assert result.returncode == 0, result.error
            peaks[name].append(result.peak)
    taken = {name: (large - small) / (900 * 1200 - 450 * 600) for name, (small, large) in peaks.items()}
    assert least <= taken["dof"] - taken["copy"] <= most, taken


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def with_chunks(png, chunks):
    end_of_header = 33
    return png[:end_of_header] + chunks + png[end_of_header:]


@pytest.mark.skipif(not FULL_CODECS, reason="texts of PNG are read by libpng")
@pytest.mark.parametrize("kind", ["zTXt", "iTXt"])
def test_compressed_texts(satin, kind):
    start = b"Comment\0\0" if kind == "zTXt" else b"XML:com.adobe.xmp\0\1\0\0\0"
    text = chunk(kind.encode(), start + zlib.compress(b"a" * 9_000_000, 9))
    png = png_file.encode(np.zeros((8, 8, 3), np.uint8))
    (satin.folder / "in.png").write_bytes(with_chunks(png, 150 * text))
    result = run(satin, "blur", "in.png", "-o", "out.png", "--radius", "1", "--device", "cpu", "--memory-limit",
                 "1M", "--max-bytes", "10000000")
    assert result.returncode == 0, result.error
    assert result.peak <= ALLOWANCE
    assert ("XMP text" in result.error) == (kind == "iTXt"), result.error
    assert (satin.folder / "out.png").read_bytes().count(text) == (150 if kind == "zTXt" else 0)


def test_narrow_maps_of_gloss(satin):
    np.save(satin.folder / "tall.npy", np.ones((14000, 1), np.float32))
    np.save(satin.folder / "allowed.npy", np.ones((2048, 1), np.float32))
    line = ["--roughness", "0.5", "--levels", "16", "--device", "cpu", "--memory-limit", str(LIMIT), "-o", "out.npy"]
    result = run(satin, "gloss", "tall.npy", *line)
    assert result.returncode == 2 and "twice as wide as it is high" in result.error, result.error
    assert result.peak <= ALLOWANCE
    result = run(satin, "gloss", "allowed.npy", *line)
    assert result.returncode == 3 and "memory limit of %d bytes" % LIMIT in result.error, result.error
    assert result.peak <= ALLOWANCE


HUGE = {"PGM": ("in.pgm", b"P5\n30000 30000\n255\n"),
        "PAM": ("in.pam", b"P7\nWIDTH 30000\nHEIGHT 30000\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"),
        "PFM": ("in.pfm", b"PF\n30000 30000\n-1\n"),
        "NPY": ("in.npy", b"\x93NUMPY\x01\x00\x76\x00" +
                b"{'descr': '<f4', 'fortran_order': False, 'shape': (30000, 30000), }".ljust(117) + b"\n")}
REFUSALS = {"pixels": ["--max-pixels", "1000000"], "bytes": ["--max-bytes", "800000000"],
            "memory": ["--memory-limit", "1M", "--device", "cpu"]}


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("kind", HUGE)
def test_headers_are_enough_to_refuse(satin, kind, refusal):
    """The header refuses a file on standard input, too: the rest of it never comes, and nobody waits for it."""
    name, header = HUGE[kind]
    with open(satin.folder / name, "wb") as file:
        file.write(header)
        file.truncate(900_000_000)
    line = ["smooth", "-o", "out.png", *REFUSALS[refusal]]
    code = 3 if refusal == "memory" else 1
    result = run(satin, *line, name)
    assert result.returncode == code and "limit" in result.error, result.error
    assert result.peak <= ALLOWANCE
    process = satin.start(*line, "-", stdin=subprocess.PIPE)
    try:
        process.stdin.write((header + bytes(1 << 16))[:1 << 16])
        process.stdin.flush()
        assert process.wait(timeout=20) == code
    finally:
        process.kill()
        process.communicate()
