"""Writes OpenEXR files by the published layout: scan lines of 32-bit floats, not compressed."""
import struct

import numpy as np


def write(path, channels):
    """channels: a name -> array of floats, all of one shape."""
    names = sorted(channels)
    planes = {name: np.asarray(channels[name], "<f4") for name in names}
    height, width = planes[names[0]].shape

    def attribute(name, kind, data):
        return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<i", len(data)) + data

    box = struct.pack("<4i", 0, 0, width - 1, height - 1)
    listed = b"".join(name.encode() + b"\0" + struct.pack("<iB3x2i", 2, 0, 1, 1) for name in names) + b"\0"
    header = b"".join([
        struct.pack("<2i", 20000630, 2),
        attribute("channels", "chlist", listed),
        attribute("compression", "compression", b"\0"),
        attribute("dataWindow", "box2i", box),
        attribute("displayWindow", "box2i", box),
        attribute("lineOrder", "lineOrder", b"\0"),
        attribute("pixelAspectRatio", "float", struct.pack("<f", 1)),
        attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0)),
        attribute("screenWindowWidth", "float", struct.pack("<f", 1)),
        b"\0"])
    rows = [struct.pack("<2i", y, 4 * width * len(names)) + b"".join(planes[name][y].tobytes() for name in names)
            for y in range(height)]
    begin = len(header) + 8 * height
    offsets = [begin + sum(map(len, rows[:y])) for y in range(height)]
    path.write_bytes(header + struct.pack("<%dQ" % height, *offsets) + b"".join(rows))
    return path
