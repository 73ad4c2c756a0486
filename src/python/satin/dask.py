"""Filters on arrays of Dask, chunk by chunk.

    >>> import dask.array, satin.dask
    >>> picture = dask.array.from_zarr("huge.zarr")                # (height, width) or (height, width, channels)
    >>> satin.dask.map("blur radius=12 | unsharp amount=0.5", picture).to_zarr("soft.zarr")

Needs ``pip install 'satin-image[dask]'``.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy

try:
    import dask.array
except ImportError as error:
    raise ImportError("satin.dask needs Dask: pip install 'satin-image[dask]'") from error

from satin import _native
from satin._arrays import DeviceLike, device_for, picture
from satin._pipeline import run

__all__ = ["map"]

_SAMPLE = 64  # pixels: the short side of pictures on which a pipeline is asked for its reach


def _deep_enough(array: Any, depth: dict[int, int]) -> Any:
    """All channels in each chunk, and no chunk smaller than what its neighbours want of it."""
    least = dask.array.overlap.ensure_minimum_chunksize
    chunks = {axis: least(wanted, array.chunks[axis]) if wanted else array.chunks[axis] for axis, wanted in depth.items()}
    return array.rechunk({**chunks, 2: -1} if array.ndim == 3 else chunks)


def _zeros(array: Any, height: int, width: int) -> numpy.ndarray:
    """A part of that size of a picture like this."""
    return numpy.zeros((min(height, array.shape[0]), min(width, array.shape[1]), *array.shape[2:]), array.dtype)


def _reach(pipeline: str, array: Any, look: dict[str, str], device: DeviceLike) -> tuple[int, int]:
    """The reach of results in pixels: up and down, then to the left and right. Each is asked of a stripe of the
    picture's whole length along that axis, as some filters look no farther than the picture is long."""
    reach = []
    for axis, stripe in enumerate((_zeros(array, array.shape[0], _SAMPLE), _zeros(array, _SAMPLE, array.shape[1]))):
        view = picture(stripe, "array", None, look["alpha"], look["order"])
        across_and_down = _native.local_reach(device_for(device, (view,)), _native.Pipeline(pipeline), view)
        reach.append(across_and_down[1 - axis])
    return reach[0], reach[1]


def map(pipeline: str, array: Any, *, alpha: str = "none", order: str = "rgb", device: DeviceLike = None) -> Any:
    """The picture in an array of Dask, filtered; lazy, and chunked as the array is.

    `array` is (height, width) or (height, width, channels) of uint8 or uint16, in any chunks. Every chunk is filtered with
    as many of its neighbours' pixels as the pipeline looks at, so the bytes are those of the whole picture whatever the
    chunks are. `pipeline`, `alpha`, `order` and `device` are those of :func:`satin.run`; a device is opened by each process
    that computes, so pass its name.

    Raises ValueError, before anything is computed, for pipelines whose results depend on more than what lies around a
    pixel: of recursive filters, thresholds and statistics of the whole, depth of field, of floats (which are scaled by the
    largest of the whole), for side inputs and for lengths in percent of the picture.
    """
    if array.ndim not in (2, 3):
        raise ValueError(f"The array has {array.ndim} dimensions: (height, width) or (height, width, channels) is expected.")
    look = {"alpha": alpha, "order": order}
    down, across = _reach(pipeline, array, look, device)
    made = run(pipeline, _zeros(array, _SAMPLE, _SAMPLE), device=device, **look)
    # A picture that is no longer than a filter looks is one chunk.
    depth = {axis: reach if reach < array.shape[axis] else 0 for axis, reach in ((0, down), (1, across))}
    whole = {axis: -1 for axis in depth if depth[axis] == 0 and (down, across)[axis] != 0}
    deep = _deep_enough(array.rechunk(whole) if whole else array, depth)
    wide = dask.array.overlap.overlap(deep, {**depth, **({2: 0} if array.ndim == 3 else {})}, boundary="none")
    filtered = wide.map_blocks(
        _filter, pipeline, depth, look, device, deep.numblocks, dtype=made.dtype, chunks=_result_chunks(deep, made),
        drop_axis=[2] if made.ndim < array.ndim else [], meta=numpy.empty((0,) * made.ndim, made.dtype),
    )  # fmt: skip
    return filtered.rechunk(_result_chunks(array, made))


def _result_chunks(array: Any, made: numpy.ndarray) -> tuple[Any, ...]:
    return array.chunks[: made.ndim] if made.ndim < 3 else (*array.chunks[:2], (made.shape[2],))


def _filter(
    block: numpy.ndarray,
    pipeline: str,
    depth: dict[int, int],
    look: dict[str, str],
    device: Optional[Any],
    blocks: tuple[int, ...],
    block_info: Any = None,
) -> numpy.ndarray:
    """One chunk, filtered with its neighbours' pixels, which are cut off again; beyond the picture's ends are none."""
    made = run(pipeline, numpy.ascontiguousarray(block), device=device, **look)
    place = block_info[0]["chunk-location"]
    inner = tuple(
        slice(depth[axis] if place[axis] > 0 else 0, -depth[axis] if depth[axis] and place[axis] < blocks[axis] - 1 else None)
        for axis in (0, 1)
    )
    return made[inner]
