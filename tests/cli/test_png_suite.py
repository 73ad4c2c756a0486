"""Every valid PNG type decodes to the right pixels: palettes, 1 to 16 bits, transparency, interlacing."""
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import png_file

SUITE = Path(os.environ.get("SATIN_TEST_DATA", Path(__file__).parents[2].parent / "shared/data")) / "pngsuite"
FILES = sorted(SUITE.glob("*.png"))
VALID = [path for path in FILES if not path.name.startswith("x")]
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

pytestmark = pytest.mark.skipif(not FILES, reason="PngSuite is not in %s" % SUITE)


def unpacked(line, width, samples, depth):
    if depth == 16:
        return np.frombuffer(line, ">u2").astype(np.uint16).reshape(width, samples)
    values = np.frombuffer(line, np.uint8)
    if depth < 8:
        bits = np.unpackbits(values).reshape(-1, depth)
        values = bits @ (1 << np.arange(depth)[::-1])
    return values[: width * samples].reshape(width, samples).astype(np.uint16)


def stored_samples(chunks):
    """The samples as they are stored, (h, w, n)."""
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    samples = SAMPLES[kind]
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    step = max(1, samples * depth // 8)
    result, at = np.zeros((height, width, samples), np.uint16), 0
    for x0, y0, dx, dy in ADAM7 if interlace else ((0, 0, 1, 1),):
        columns, rows = len(range(x0, width, dx)), len(range(y0, height, dy))
        size = (columns * samples * depth + 7) // 8
        above = bytearray(size)
        for y in range(rows if columns else 0):
            above = png_file._unfilter(raw[at], bytearray(raw[at + 1 : at + 1 + size]), above, step)
            at += 1 + size
            result[y0 + y * dy, x0::dx] = unpacked(bytes(above), columns, samples, depth)
    return result, depth, kind


def oracle(data):
    chunks = list(png_file._chunks(data))
    parts = {name: body for name, body in chunks if name in (b"PLTE", b"tRNS")}
    values, depth, kind = stored_samples(chunks)
    clear = parts.get(b"tRNS")
    if kind == 3:
        palette = np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)
        alpha = np.full(len(palette), 255, np.uint8)
        if clear is None:
            return palette[values[..., 0]]
        alpha[: len(clear)] = np.frombuffer(clear, np.uint8)
        return np.dstack([palette[values[..., 0]], alpha[values[..., 0]]])
    largest = (1 << depth) - 1
    if clear is not None:
        key = np.frombuffer(clear, ">u2")
        opaque = (values != key).any(axis=2, keepdims=True)
        values = np.concatenate([values, opaque * largest], axis=2)
    scaled = values * (255 // largest if depth < 8 else 1)
    return scaled.astype(np.uint16 if depth == 16 else np.uint8)


def plain(array):
    return array[:, :, None] if array.ndim == 2 else array


@pytest.mark.parametrize("path", VALID, ids=[path.stem for path in VALID])
def test_valid_files_have_the_right_pixels(satin, path):
    satin.good("blur", path, "-o", "out.npy", "--radius", 0)
    result = plain(np.load(satin.folder / "out.npy"))
    expected = oracle(path.read_bytes())
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_broken_files_are_refused(satin):
    broken = [path for path in FILES if path.name.startswith("x")]
    assert len(broken) > 5
    for path in broken:
        satin.bad(1, "blur", path, "-o", "out.png", "--radius", 0, says=path.name)
    assert not (satin.folder / "out.png").exists()
