"""PNG files of 8 and 16 bits and 1 to 4 channels, without any imaging library."""
import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}
CHANNELS = {kind: channels for channels, kind in COLOUR_TYPE.items()}


def _chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def encode(array):
    """(h, w) or (h, w, c) of uint8 or uint16."""
    array = np.asarray(array)
    if array.ndim == 2:
        array = array[:, :, None]
    height, width, channels = array.shape
    depth = 8 * array.dtype.itemsize
    samples = array.astype(array.dtype.newbyteorder(">"))
    rows = b"".join(b"\0" + samples[y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, COLOUR_TYPE[channels], 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 1)) + _chunk(b"IEND", b"")


def _chunks(data):
    at = len(SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += size + 12


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, row, above, step):
    if kind == 0:
        return row
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner))[kind - 1]
        row[i] = (row[i] + guess) & 255
    return row


def decode(data):
    """Array (h, w) for one channel, otherwise (h, w, c)."""
    assert data[:8] == SIGNATURE, "no PNG file"
    chunks = list(_chunks(data))
    assert chunks[-1][0] == b"IEND"
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert interlace == 0 and depth in (8, 16)
    channels = CHANNELS[kind]
    step = channels * depth // 8
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    pitch = width * step + 1
    above, rows = bytearray(width * step), []
    for y in range(height):
        line = raw[y * pitch : (y + 1) * pitch]
        above = _unfilter(line[0], bytearray(line[1:]), above, step)
        rows.append(bytes(above))
    array = np.frombuffer(b"".join(rows), dtype=">u%d" % (depth // 8)).astype("u%d" % (depth // 8))
    return array.reshape((height, width) if channels == 1 else (height, width, channels))


def write(path, array):
    path.write_bytes(encode(array))
    return path


def read(path):
    return decode(path.read_bytes())
