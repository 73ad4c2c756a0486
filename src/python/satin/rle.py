"""Masks as run lengths in the format of COCO: column by column, starting with a run outside.

A mask is ``{"size": [height, width], "counts": ...}``, where counts are a list of numbers or COCO's text.
"""

from __future__ import annotations

from typing import Any, Iterable, Union

from satin import _native
from satin._arrays import picture as _picture

RunLengths = dict[str, Any]
_Native = _native.RunLengths


def _dictionary(runs: _Native, compressed: bool) -> RunLengths:
    return {"size": list(runs.size), "counts": runs.text if compressed else runs.counts}


def _native_runs(runs: RunLengths) -> _Native:
    counts: Union[str, bytes, list[int]] = runs["counts"]
    height, width = runs["size"]
    if isinstance(counts, bytes):
        counts = counts.decode("ascii", "replace")
    if isinstance(counts, str):
        return _Native.from_text(counts, height, width)
    return _Native.from_counts(list(counts), height, width)


def encode(mask: Any, *, compressed: bool = False) -> RunLengths:
    """Encodes the pixels of a mask (height, width) of uint8 or bool that are not 0.

    >>> import numpy, satin
    >>> satin.rle.encode(numpy.array([[0, 1], [1, 1]], bool))
    {'size': [2, 2], 'counts': [1, 3]}
    """
    return _dictionary(_Native.encode(_picture(mask, "mask", booleans=True)), compressed)


def encode_labels(labels: Any, wanted: Iterable[int], *, compressed: bool = False) -> list[RunLengths]:
    """Encodes the pixels of each wanted label of a uint32 picture, all in one pass.

    >>> import numpy, satin
    >>> satin.rle.encode_labels(numpy.array([[2, 2, 3]], numpy.uint32), [3])
    [{'size': [1, 3], 'counts': [2, 1]}]
    """
    found = _Native.encode_labels(_picture(labels, "labels"), list(wanted))
    return [_dictionary(runs, compressed) for runs in found]


def decode(runs: RunLengths) -> Any:
    """Decodes a mask of uint8 (height, width), 255 inside. Raises ValueError for invalid run lengths.

    >>> import satin
    >>> satin.rle.decode({"size": [2, 2], "counts": [1, 3]})
    array([[  0, 255],
           [255, 255]], dtype=uint8)
    """
    return _native_runs(runs).decode()


def area(runs: RunLengths) -> int:
    """Returns the number of pixels inside.

    >>> import satin
    >>> satin.rle.area({"size": [2, 2], "counts": [1, 3]})
    3
    """
    return _native_runs(runs).area


def bbox(runs: RunLengths) -> tuple[int, int, int, int]:
    """Returns x, y, width and height of the smallest box around the pixels inside; all 0 if there are none.

    >>> import satin
    >>> satin.rle.bbox({"size": [2, 2], "counts": [2, 2]})
    (1, 0, 1, 2)
    """
    return _native_runs(runs).box


def unite(masks: Iterable[RunLengths], *, compressed: bool = False) -> RunLengths:
    """The pixels that are inside any of these masks, which have one size.

    >>> import satin
    >>> satin.rle.unite([{"size": [1, 3], "counts": [0, 1, 2]}, {"size": [1, 3], "counts": [2, 1]}])
    {'size': [1, 3], 'counts': [0, 1, 1, 1]}
    """
    return _dictionary(_Native.unite([_native_runs(mask) for mask in masks]), compressed)
