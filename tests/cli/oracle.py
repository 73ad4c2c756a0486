"""A box blur of stored values in exact integers."""
import math

import numpy as np


def _weights(radius, size):
    """weights[x, i]: 256 times the part of pixel i that the window around pixel x covers."""
    quantum = math.floor(radius * 256 + 0.5)
    whole, part = divmod(quantum, 256)
    distance = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :])
    return np.where(distance <= whole, 256, np.where(distance == whole + 1, part, 0)).astype(np.int64)


def box_blur(array, radius_x, radius_y=None, counted=None):
    """Mean over the pixels that exist (and are `counted`, if given; 0 where none is), rounded to nearest, ties up."""
    radius_y = radius_x if radius_y is None else radius_y
    along_x = _weights(radius_x, array.shape[1])
    along_y = _weights(radius_y, array.shape[0])
    planes = array.astype(np.int64).reshape(array.shape[0], array.shape[1], -1)
    counted = np.ones(array.shape[:2], np.int64) if counted is None else counted.astype(np.int64)
    planes = planes * counted[:, :, None]
    total = np.einsum("yi,xj,ijc->yxc", along_y, along_x, planes, optimize=True)
    weight = np.maximum(np.einsum("yi,xj,ij->yx", along_y, along_x, counted, optimize=True), 1)[:, :, None]
    mean = (2 * total + weight) // (2 * weight)
    return mean.astype(array.dtype).reshape(array.shape)
