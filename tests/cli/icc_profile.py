"""ICC profiles, and PNG files that carry one."""
import struct
import zlib

import png_file


def s15(value):
    return struct.pack(">i", round(value * 65536))


def gamma_profile(gamma, space=b"RGB "):
    """A matrix profile of ICC version 2 with one exponent for all channels (Adobe RGB's primaries)."""
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256)) + bytes(2)
    text = b"text" + bytes(4) + b"none\0" + bytes(3)
    xyz = {b"rXYZ": (0.6097, 0.3111, 0.0195), b"gXYZ": (0.2053, 0.6257, 0.0609), b"bXYZ": (0.1492, 0.0632, 0.7446),
           b"wtpt": (0.9642, 1.0, 0.8249)}
    tags = [(name, b"XYZ " + bytes(4) + b"".join(map(s15, value))) for name, value in xyz.items()]
    tags += [(name, curve) for name in (b"rTRC", b"gTRC", b"bTRC")]
    tags += [(b"desc", b"desc" + bytes(4) + struct.pack(">I", 5) + b"none\0" + bytes(78 + 3)), (b"cprt", text)]
    table, body, at = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags:
        data += bytes(-len(data) % 4)
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    size = at + len(body)
    header = struct.pack(">I4sI4s4s4s", size, b"none", 0x02100000, b"mntr", space, b"XYZ ")
    header += bytes(12) + b"acsp" + bytes(28) + s15(0.9642) + s15(1.0) + s15(0.8249)
    return header + bytes(128 - len(header)) + table + body


def with_profile(array, profile):
    data = png_file.encode(array)
    return data[:33] + png_file._chunk(b"iCCP", b"p\0\0" + zlib.compress(profile)) + data[33:]
