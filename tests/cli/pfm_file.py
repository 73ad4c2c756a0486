"""Portable float maps (PFM) as arrays of height x width, or height x width x 3; rows are stored from the bottom up."""
import numpy as np


def read(path):
    with open(path, "rb") as file:
        channels = 3 if file.readline().strip() == b"PF" else 1
        width, height = map(int, file.readline().split())
        order = "<f4" if float(file.readline()) < 0 else ">f4"
        return np.frombuffer(file.read(), order).reshape(height, width, channels)[::-1].astype(float)


def write(path, values):
    values = np.asarray(values, "<f4")
    kind = b"PF" if values.ndim == 3 else b"Pf"
    path.write_bytes(kind + b"\n%d %d\n-1.0\n" % (values.shape[1], values.shape[0]) + values[::-1].tobytes())
    return path
