"""TIFF files as their specification says, for tests: classic and BigTIFF, little-endian, interleaved, in strips or tiles,
as they are or by deflate, with the horizontal predictor or without."""
import struct
import zlib
from pathlib import Path

import numpy as np

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8, 13: 4, 16: 8, 18: 8}
NUMBERS = {1: "B", 3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
SUBFILE, WIDTH, HEIGHT, BITS, COMPRESSION, SAMPLES, ROWS, PREDICTOR, FORMAT = 254, 256, 257, 258, 259, 277, 278, 317, 339
STRIPS, STRIP_BYTES, TILE_WIDTH, TILE_HEIGHT, TILES, TILE_BYTES = 273, 279, 322, 323, 324, 325
KINDS = {1: "u", 2: "i", 3: "f"}


class Page:
    """A directory of a file: the values of its tags by number, and its pixels."""

    def __init__(self, file, tags):
        self.file = file
        self.tags = tags
        self.width, self.height = self.number(WIDTH), self.number(HEIGHT)
        self.tiled = TILES in tags
        self.reduced = bool(self.number(SUBFILE, 0) & 1)

    def number(self, tag, default=None):
        return self.tags[tag][0] if tag in self.tags else default

    def crop(self, x, y, width, height):
        """Pixels, rows first; grey ones have no third axis."""
        samples = self.number(SAMPLES, 1)
        dtype = np.dtype("<%s%d" % (KINDS[self.number(FORMAT, 1)], self.number(BITS, 8) // 8))
        block_width = self.number(TILE_WIDTH) if self.tiled else self.width
        block_height = self.number(TILE_HEIGHT) if self.tiled else self.number(ROWS, self.height)
        offsets, sizes = (self.tags[tag] for tag in ((TILES, TILE_BYTES) if self.tiled else (STRIPS, STRIP_BYTES)))
        across = -(-self.width // block_width)
        result = np.empty((height, width, samples), dtype)
        for row in range(y // block_height, (y + height - 1) // block_height + 1):
            for column in range(x // block_width, (x + width - 1) // block_width + 1):
                left, top = column * block_width, row * block_height
                rows = block_height if self.tiled else min(block_height, self.height - top)
                block = self.block(offsets[row * across + column], sizes[row * across + column])
                block = block[:rows * block_width * samples * dtype.itemsize]
                pixels = np.frombuffer(block, dtype).reshape(rows, block_width, samples)
                if self.number(PREDICTOR, 1) == 2:
                    pixels = np.cumsum(pixels, axis=1, dtype=dtype)
                first_x, last_x = max(x, left), min(x + width, left + block_width, self.width)
                first_y, last_y = max(y, top), min(y + height, top + rows, self.height)
                result[first_y - y:last_y - y, first_x - x:last_x - x] = \
                    pixels[first_y - top:last_y - top, first_x - left:last_x - left]
        return result[:, :, 0] if samples == 1 else result

    def block(self, offset, size):
        with open(self.file, "rb") as file:
            file.seek(offset)
            data = file.read(size)
        return data if self.number(COMPRESSION, 1) == 1 else zlib.decompress(data)

    def pixels(self):
        return self.crop(0, 0, self.width, self.height)


def write(path, values):
    """Writes one channel in one strip without compression."""
    values = np.asarray(values, values.dtype.newbyteorder("<"))
    height, width = values.shape
    kind = {number: name for name, number in KINDS.items()}[values.dtype.kind]
    tags = {WIDTH: width, HEIGHT: height, BITS: 8 * values.dtype.itemsize, COMPRESSION: 1, 262: 1, STRIPS: 0, SAMPLES: 1,
            ROWS: height, STRIP_BYTES: values.nbytes, FORMAT: kind}
    tags[STRIPS] = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, tags[tag]) for tag in sorted(tags))
    Path(path).write_bytes(struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + bytes(4) + values.tobytes())


def pages(path):
    """Every directory of the file, those of a pyramid too."""
    found = []
    with open(Path(path), "rb") as file:
        header = file.read(16)
        assert header[:2] == b"II"
        big = struct.unpack("<H", header[2:4])[0] == 43
        at = struct.unpack("<Q", header[8:16])[0] if big else struct.unpack("<I", header[4:8])[0]
        while at:
            file.seek(at)
            count = struct.unpack("<Q", file.read(8))[0] if big else struct.unpack("<H", file.read(2))[0]
            entries = file.read((20 if big else 12) * count)
            following = file.read(8 if big else 4)
            tags = {}
            for entry in struct.iter_unpack("<HHQ8s" if big else "<HHI4s", entries):
                tag, kind, number, value = entry
                size = SIZES.get(kind, 1) * number
                if size > len(value):
                    file.seek(struct.unpack("<Q" if big else "<I", value)[0])
                    value = file.read(size)
                code = NUMBERS.get(kind)
                tags[tag] = struct.unpack("<%d%s" % (number, code), value[:size]) if code else value[:size]
            found.append(Page(path, tags))
            at = struct.unpack("<Q" if big else "<I", following)[0]
    return found
