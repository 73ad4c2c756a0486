"""Filters on arrays of Dask, chunk by chunk.

    >>> import dask.array, satin.dask
    >>> picture = dask.array.zeros((300, 400, 3), chunks=100, dtype="uint8")   # or from_zarr("huge.zarr")
    >>> sky = dask.array.ones((300, 400), chunks=100, dtype=bool)
    >>> soft = satin.dask.map("blur radius=12 mask=sky | unsharp amount=0.5", picture, inputs={"sky": sky})
    >>> soft.shape, soft.dtype                                                 # soft.to_zarr("soft.zarr") computes it
    ((300, 400, 3), dtype('uint8'))

Needs ``pip install 'satin-image[dask]'``.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

import numpy

try:
    import dask.array
except ImportError as error:
    raise ImportError("satin.dask needs Dask: pip install 'satin-image[dask]'") from error

from satin import _native
from satin._arrays import DeviceLike, device_for, picture
from satin._errors import InvalidArgumentError
from satin._pipeline import pipeline_words, run

__all__ = ["map"]

_SAMPLE = 64  # pixels: the short side of pictures on which a pipeline is asked for its reach


def _deep_enough(array: Any, depth: dict[int, int]) -> Any:
    """Rechunks so that each chunk has all channels and is at least as long as the margin that its neighbours read."""
    least: Any = dask.array.overlap.ensure_minimum_chunksize
    chunks = {axis: least(wanted, array.chunks[axis]) if wanted else array.chunks[axis] for axis, wanted in depth.items()}
    return array.rechunk({**chunks, 2: -1} if array.ndim == 3 else chunks)


def _zeros(array: Any, height: int, width: int) -> Any:
    """Returns zeros of at most this size, with the channels and the type of a picture; booleans become uint8."""
    dtype = numpy.dtype("uint8") if array.dtype == bool else array.dtype
    return numpy.zeros((min(height, array.shape[0]), min(width, array.shape[1]), *array.shape[2:]), dtype)


class _Call:
    """A pipeline with the properties of its picture and its side inputs."""

    def __init__(self, pipeline: str, inputs: dict[str, Any], alpha: str, order: str, device: DeviceLike) -> None:
        self.pipeline, self.inputs, self.alpha, self.order, self.device = pipeline, inputs, alpha, order, device

    def reach(self, array: Any) -> tuple[int, int]:
        """Returns the reach of results in pixels along columns and along rows. Each is computed for a sample with the
        picture's whole length along that axis, because some filters reach no farther than the picture's length."""
        reach = []
        for axis, size in enumerate(((array.shape[0], _SAMPLE), (_SAMPLE, array.shape[1]))):
            view = picture(_zeros(array, *size), "array", None, self.alpha, self.order)
            sides = {name: picture(_zeros(side, *size), name) for name, side in self.inputs.items()}
            with pipeline_words():
                text = _native.Pipeline(self.pipeline)
                across_and_down = _native.local_reach(device_for(self.device, (view,)), text, view, sides)
            reach.append(across_and_down[1 - axis])
        return reach[0], reach[1]

    def run(self, image: Any, sides: Mapping[str, Any]) -> Any:
        return run(self.pipeline, image, inputs=sides, alpha=self.alpha, order=self.order, device=self.device)

    def sample(self, array: Any) -> Any:
        """Returns the result of a small picture, for its type and channels."""
        return self.run(
            _zeros(array, _SAMPLE, _SAMPLE), {name: _zeros(side, _SAMPLE, _SAMPLE) for name, side in self.inputs.items()}
        )


def _side(array: Any, name: str, image: Any) -> Any:
    """Returns a side input as an array of Dask, in the picture's chunks."""
    if array.shape != image.shape[:2]:
        raise InvalidArgumentError(f"{name} has the shape {array.shape}: (height, width) of the picture, {image.shape[:2]}, is expected.")
    from_array: Any = dask.array.from_array
    return array if isinstance(array, dask.array.Array) else from_array(array, image.chunks[:2])


def map(
    pipeline: str,
    array: Any,
    *,
    inputs: Optional[Mapping[str, Any]] = None,
    alpha: str = "none",
    order: str = "rgb",
    device: DeviceLike = None,
) -> Any:
    """Filters a picture in an array of Dask. The result is lazy and has the chunks of the array.

    `array` is (height, width) or (height, width, channels) of uint8 or uint16, in any chunks. Every chunk is filtered
    with as many of its neighbours' pixels as the pipeline reads, so the bytes equal those for the whole picture,
    whatever the chunks are. `pipeline`, `inputs`, `alpha`, `order` and `device` are those of :func:`satin.run`; each
    process that computes opens its own device, so pass its name. `inputs` are masks, radius maps and guides (height,
    width) of the picture's size, arrays of Dask in any chunks or of NumPy, and are cut like the picture.

    Raises ValueError, before anything is computed, for pipelines whose results depend on more than the pixels around
    each pixel: recursive filters, thresholds and statistics of the whole picture, depth of field, floats (which are
    scaled by the largest value of the picture), and lengths in percent.

    >>> import dask.array, satin.dask
    >>> page = dask.array.full((300, 400), 200, chunks=(100, 130), dtype="uint8")
    >>> int(satin.dask.map("median radius=2", page).compute().max())
    200
    """
    if not isinstance(array, dask.array.Array):
        raise TypeError("An array of Dask is expected: dask.array.from_array(array, chunks), or satin.run for one in memory.")
    if array.ndim not in (2, 3):
        raise InvalidArgumentError(f"The array has {array.ndim} dimensions: (height, width) or (height, width, channels) is expected.")
    sides = {name: _side(side, name, array) for name, side in (inputs or {}).items()}
    call = _Call(pipeline, sides, alpha, order, device)
    down, across = call.reach(array)
    made = call.sample(array)
    # A picture that is no longer than a filter looks is one chunk.
    depth = {axis: reach if reach < array.shape[axis] else 0 for axis, reach in ((0, down), (1, across))}
    whole = {axis: -1 for axis in depth if depth[axis] == 0 and (down, across)[axis] != 0}
    deep = _deep_enough(array.rechunk(whole) if whole else array, depth)
    # Sides get the picture's number of axes, so that their blocks go beside its blocks.
    cut = [side.rechunk(deep.chunks[:2]) for side in sides.values()]
    wide = [_overlapped(each, depth) for each in (deep, *(side[..., None] if array.ndim == 3 else side for side in cut))]
    map_blocks: Any = dask.array.map_blocks
    filtered = map_blocks(
        _filter, *wide, _Call(pipeline, dict.fromkeys(sides), alpha, order, device), depth, deep.numblocks, dtype=made.dtype,
        chunks=_result_chunks(deep, made), drop_axis=[2] if made.ndim < array.ndim else [],
        meta=numpy.empty((0,) * made.ndim, made.dtype),
    )  # fmt: skip
    return filtered.rechunk(_result_chunks(array, made))


def _overlapped(array: Any, depth: dict[int, int]) -> Any:
    overlap: Any = dask.array.overlap.overlap
    return overlap(array, {**depth, **({2: 0} if array.ndim == 3 else {})}, boundary="none")


def _result_chunks(array: Any, made: Any) -> tuple[Any, ...]:
    chunks: tuple[Any, ...] = array.chunks
    return chunks[: made.ndim] if made.ndim < 3 else (*chunks[:2], (made.shape[2],))


def _filter(block: Any, *others: Any, block_info: Any = None) -> Any:
    """Filters one chunk with its neighbours' pixels, and cuts those off again. There are none beyond the picture's
    borders."""
    *sides, call, depth, blocks = others
    flat = (side[..., 0] if side.ndim == 3 else side for side in sides)
    made = call.run(numpy.ascontiguousarray(block), dict(zip(call.inputs, flat)))
    place = block_info[0]["chunk-location"]
    inner = tuple(
        slice(depth[axis] if place[axis] > 0 else 0, -depth[axis] if depth[axis] and place[axis] < blocks[axis] - 1 else None)
        for axis in (0, 1)
    )
    return made[inner]
