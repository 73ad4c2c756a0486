"""Writes small ONNX graphs without the package onnx: the format is protobuf, and a graph needs only a few of its messages
(onnx.proto3 of the ONNX project has the numbers of their fields)."""
import struct

import numpy as np

FLOAT, UINT8, INT64 = 1, 2, 7


def _varint(value):
    out = bytearray()
    value &= 2**64 - 1
    while True:
        out.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def _field(number, value):
    """A field of a message: an integer, a float, or bytes and texts with their length."""
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _attribute(name, value):
    texts = _field(1, name)
    if isinstance(value, list):
        return texts + b"".join(_field(8, item) for item in value) + _field(20, 7)
    if isinstance(value, bytes):  # a graph
        return texts + _field(6, value) + _field(20, 5)
    if isinstance(value, float):
        return texts + _field(2, value) + _field(20, 1)
    return texts + _field(3, value) + _field(20, 2)


def node(kind, inputs, outputs, **attributes):
    """An operator between named values."""
    return b"".join([*(_field(1, name) for name in inputs), *(_field(2, name) for name in outputs), _field(4, kind),
                     *(_field(5, _attribute(name, value)) for name, value in attributes.items())])


def constant(name, values):
    """An initializer: float32, uint8, int64 or bool."""
    values = np.asarray(values)
    kind = {"float32": FLOAT, "uint8": UINT8, "int64": INT64, "bool": 9}[values.dtype.name]
    return b"".join([*(_field(1, side) for side in values.shape), _field(2, kind), _field(8, name), _field(9, values.tobytes())])


def value(name, sides=None, kind=FLOAT):
    """An input or output: sides are numbers or names, or nothing for any shape."""
    tensor = _field(1, kind)
    if sides is not None:
        each = [_field(2, side) if isinstance(side, str) else _field(1, side) for side in sides]
        tensor += _field(2, b"".join(_field(1, side) for side in each))
    return _field(1, name) + _field(2, _field(1, tensor))


def graph(nodes, inputs, outputs, constants=()):
    return b"".join([*(_field(1, each) for each in nodes), _field(2, "toy"), *(_field(5, each) for each in constants),
                     *(_field(11, each) for each in inputs), *(_field(12, each) for each in outputs)])


def model(*parts, **more):
    """The bytes of a file with graph(*parts)."""
    return _field(1, 8) + _field(7, graph(*parts, **more)) + _field(8, _field(1, "") + _field(2, 17))


LUMINANCE = np.array([0.25, 0.5, 0.25], np.float32)


def luminance(height="height", width="width"):
    """Luminance of an NCHW image as the model's output: 1 x 1 x height x width."""
    return model([node("Conv", ["image", "weights"], ["depth"])], [value("image", [1, 3, height, width])],
                 [value("depth", [1, 1, height, width])], [constant("weights", LUMINANCE.reshape(1, 3, 1, 1))])
