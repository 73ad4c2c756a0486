"""Writes and reads OpenEXR files by the published layout: parts of scan lines, with windows."""
import struct
import zlib

import numpy as np

NUMBERS = {0: np.dtype("<u4"), 1: np.dtype("<f2"), 2: np.dtype("<f4")}
LINES = {0: 1, 2: 1, 3: 16}  # rows of a chunk without compression, with ZIPS, with ZIP


def attribute(name, kind, data):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<i", len(data)) + data


def box_of(plane):
    return 0, 0, plane.shape[1] - 1, plane.shape[0] - 1


def header_of(planes, part, data, display, several):
    listed = b"".join(channel.encode() + b"\0" + struct.pack("<iB3x2i", 2, 0, 1, 1) for channel in planes) + b"\0"
    attributes = [
        attribute("channels", "chlist", listed),
        attribute("compression", "compression", b"\0"),
        attribute("dataWindow", "box2i", struct.pack("<4i", *data)),
        attribute("displayWindow", "box2i", struct.pack("<4i", *display)),
        attribute("lineOrder", "lineOrder", b"\0"),
        attribute("pixelAspectRatio", "float", struct.pack("<f", 1)),
        attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0)),
        attribute("screenWindowWidth", "float", struct.pack("<f", 1))]
    attributes += [attribute(key, "string", part[key].encode()) for key in ("name", "view") if key in part]
    if several:
        attributes.append(attribute("type", "string", b"scanlineimage"))
        attributes.append(attribute("chunkCount", "int", struct.pack("<i", data[3] - data[1] + 1)))
    return b"".join(attributes) + b"\0"


def write_parts(path, parts):
    """Not compressed 32-bit floats. parts: dictionaries of channels (a name -> array of floats, all of one shape) and,
    where they are not plain, name, view, data (left, top, right, bottom) and display."""
    several = len(parts) > 1
    headers, rows = [], []
    for index, part in enumerate(parts):
        planes = {name: np.asarray(part["channels"][name], "<f4") for name in sorted(part["channels"])}
        data = part.get("data") or box_of(next(iter(planes.values())))
        headers.append(header_of(planes, part, data, part.get("display") or data, several))
        number = struct.pack("<i", index) if several else b""
        lines = [b"".join(plane[y].tobytes() for plane in planes.values()) for y in range(data[3] - data[1] + 1)]
        rows += [number + struct.pack("<2i", data[1] + y, len(line)) + line for y, line in enumerate(lines)]
    begin = struct.pack("<2i", 20000630, 0x1002 if several else 2) + b"".join(headers) + (b"\0" if several else b"")
    first = len(begin) + 8 * len(rows)
    offsets = first + np.cumsum([0] + [len(row) for row in rows[:-1]])
    path.write_bytes(begin + offsets.astype("<u8").tobytes() + b"".join(rows))
    return path


def write(path, channels, **part):
    return write_parts(path, [{"channels": channels, **part}])


def text_at(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def read_header(data, at):
    attributes = {}
    while data[at]:
        name, at = text_at(data, at)
        kind, at = text_at(data, at)
        size, = struct.unpack_from("<i", data, at)
        attributes[name] = data[at + 4:at + 4 + size]
        at += 4 + size
    return attributes, at + 1


def unpacked(data, size):
    """ZIP: differences of neighbours, of bytes whose even ones come first."""
    if len(data) == size:
        return data
    differences = np.frombuffer(zlib.decompress(data), np.uint8).astype(np.int64)
    differences[1:] -= 128
    halves = np.cumsum(differences).astype(np.uint8)
    result = np.empty_like(halves)
    middle = (len(halves) + 1) // 2
    result[0::2], result[1::2] = halves[:middle], halves[middle:]
    return result.tobytes()


def part_of(attributes):
    channels, at = {}, 0
    listed = attributes["channels"]
    while listed[at]:
        name, at = text_at(listed, at)
        channels[name] = NUMBERS[struct.unpack_from("<i", listed, at)[0]]
        at += 16
    data = struct.unpack("<4i", attributes["dataWindow"])
    width, height = data[2] - data[0] + 1, data[3] - data[1] + 1
    return {"name": attributes.get("name", b"").decode(), "view": attributes.get("view", b"").decode(), "data": data,
            "display": struct.unpack("<4i", attributes["displayWindow"]),
            "compression": attributes["compression"][0],
            "channels": {name: np.zeros((height, width), number) for name, number in channels.items()}}


def read_chunk(part, y, packed):
    rows = min(LINES[part["compression"]], part["data"][3] - y + 1)
    planes = part["channels"]
    width = next(iter(planes.values())).shape[1]
    data = unpacked(packed, rows * width * sum(plane.itemsize for plane in planes.values()))
    at = 0
    for row in range(y - part["data"][1], y - part["data"][1] + rows):
        for plane in planes.values():
            plane[row] = np.frombuffer(data, plane.dtype, width, at)
            at += width * plane.itemsize


def read(path):
    """The parts of a file, as write_parts() takes them."""
    data = path.read_bytes()
    magic, version = struct.unpack_from("<2i", data, 0)
    assert magic == 20000630
    several, at, parts = version & 0x1000, 8, []
    while not parts or (several and data[at]):
        attributes, at = read_header(data, at)
        parts.append(part_of(attributes))
    at += 1 if several else 0
    count = sum(-(-(part["data"][3] - part["data"][1] + 1) // LINES[part["compression"]]) for part in parts)
    for offset in struct.unpack_from("<%dQ" % count, data, at):
        number = struct.unpack_from("<i", data, offset)[0] if several else 0
        y, size = struct.unpack_from("<2i", data, offset + (4 if several else 0))
        start = offset + (12 if several else 8)
        read_chunk(parts[number], y, data[start:start + size])
    return parts
