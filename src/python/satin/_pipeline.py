"""Filters on arrays: run once, or planned and run many times."""

from __future__ import annotations

import contextlib
import functools
import json
import warnings
from typing import Any, Callable, Mapping, Optional

from satin import _native
from satin._arrays import DeviceLike, as_read, current_stream, device_for, empty_like, given_back, picture, single
from satin._errors import InvalidArgumentError
from satin._translation import Options, in_python_words, options_of, python_words

__all__ = ["Plan", "apply", "run", "single"]

Inputs = Optional[Mapping[str, Any]]


def _side_axes(axes: str, dimensions: Optional[int]) -> Optional[str]:
    """Returns the axes of a side input beside a picture with these axes: all of them, or without C, or H and W alone."""
    size = "".join(axis for axis in axes if axis in "HW")
    for candidate in (axes, axes.replace("C", ""), size):
        if len(candidate) == dimensions:
            return candidate
    return None


def _side(array: Any, name: str, image: _native.Picture, alpha: str, order: str) -> _native.Picture:
    shape = getattr(array, "shape", None)
    axes = _side_axes(image.axes, None if shape is None else len(shape))
    side = picture(array, name, axes, "none", order)
    return side if alpha == "none" or side.channels % 2 else picture(array, name, axes, alpha, order)


class _Arguments:
    """The arrays of one call as the native module sees them."""

    def __init__(self, image: Any, inputs: Inputs, layout: Optional[str], alpha: str, order: str) -> None:
        self.image = picture(as_read(image), "image", layout, alpha, order)
        self.sides = {
            name: _side(as_read(array), name, self.image, alpha, order) for name, array in (inputs or {}).items()
        }

    def device(self, device: DeviceLike) -> _native.Device:
        return device_for(device, (self.image, *self.sides.values()))


def _parsed(pipeline: Any, image: Any) -> _native.Pipeline:
    if isinstance(pipeline, str):
        return _native.Pipeline(pipeline)
    if isinstance(image, str):
        raise TypeError(f"The pipeline comes first, then the picture: run({image!r}, picture).")
    if isinstance(pipeline, (list, tuple)):
        raise TypeError("A pipeline is one text with its filters separated by '|': run('blur radius=2 | unsharp', picture).")
    raise TypeError(f"A pipeline is a text such as 'blur radius=2', not {type(pipeline).__name__}.")


def _fill(plan: _native.Plan, arguments: _Arguments, image: Any, out: Any, stream: int) -> Any:
    if plan.makes_json:
        if out is not None:
            raise InvalidArgumentError("out: there is no array in what this pipeline makes.")
        return json.loads(plan.json(arguments.image, arguments.sides, stream))
    if out is not None:
        plan.run(arguments.image, arguments.sides, picture(out, "out", plan.axes), stream)
        return out
    result = empty_like(image, arguments.image.on_cuda, plan.shape, plan.dtype)
    plan.run(arguments.image, arguments.sides, picture(result, "out", plan.axes), stream)
    return given_back(result, image)


@functools.lru_cache(maxsize=None)
def _options_of_pipelines() -> Options:
    """Returns the settings of every filter."""
    return options_of(json.loads(_native.describe_filters())["filters"])


def pipeline_words() -> contextlib.AbstractContextManager[None]:
    """Raises errors in the words of a pipeline's text, whose names have dashes."""
    return in_python_words(_options_of_pipelines(), str)


def apply(
    pipeline: _native.Pipeline,
    image: Any,
    inputs: Inputs,
    out: Any,
    layout: Optional[str],
    alpha: str,
    order: str,
    device: DeviceLike,
    options: Options,
    spelled: Callable[[str], str],
) -> Any:
    """Plans the pipeline for the image, runs it once, and waits. Warnings are translated by :func:`python_words`."""
    arguments = _Arguments(image, inputs, layout, alpha, order)
    plan = _native.Plan(arguments.device(device), pipeline, arguments.image, arguments.sides)
    stream = current_stream(image)
    result = _fill(plan, arguments, image, out, stream)
    for message in plan.check(stream):
        warnings.warn(python_words(message, options, spelled), RuntimeWarning, stacklevel=3)
    return result


def run(
    pipeline: str,
    image: Any,
    *,
    inputs: Inputs = None,
    out: Any = None,
    layout: Optional[str] = None,
    alpha: str = "none",
    order: str = "rgb",
    device: DeviceLike = None,
) -> Any:
    """Runs several filters one after another: ``run("blur radius=8 | unsharp amount=0.5", image)``.

    The text has the syntax of the command ``satin run``, with the command's names (radius-map). The setting
    ``mask=sky`` uses the array ``inputs["sky"]``. A pipeline that ends with `stats`, `bins` or `regions` returns a
    dictionary. The other arguments, results and exceptions are those of the filters. Pictures between the filters stay
    on the device.

    >>> import numpy, satin
    >>> page = numpy.full((48, 64), 200, numpy.uint8)
    >>> page[10:20, 10:40] = 30
    >>> satin.run("threshold window=15 invert=true | regions", page)["regions"][0]["bbox"]
    [10, 10, 30, 10]
    >>> sky = numpy.zeros((48, 64), bool)
    >>> bool((satin.run("blur radius=3 mask=sky", page, inputs={"sky": sky}) == page).all())
    True
    """
    with pipeline_words():
        return apply(_parsed(pipeline, image), image, inputs, out, layout, alpha, order, device, _options_of_pipelines(), str)


class Plan:
    """A pipeline prepared for arrays like `image`: plan once, run many times.

    The plan owns all workspace. Calling it with arrays in GPU memory and `out` allocates nothing, copies no interleaved
    arrays, and does not wait: the work is queued in `stream`, by default the current one of the array's library, and
    :meth:`check` reports NaN and infinity. Depth of field waits to read the picture of an aperture. For arrays in host
    memory the call returns with the result. Threads may share a plan and take turns; all work of a plan must be in one
    stream.

    >>> import numpy, satin
    >>> frames = numpy.zeros((3, 48, 64), numpy.uint8)
    >>> plan = satin.Plan("blur radius=2.5", frames[0])
    >>> plan.shape, plan.dtype
    ((48, 64), 'uint8')
    >>> soft = [plan(frame) for frame in frames]
    """

    def __init__(
        self,
        pipeline: str,
        image: Any,
        *,
        inputs: Inputs = None,
        layout: Optional[str] = None,
        alpha: str = "none",
        order: str = "rgb",
        device: DeviceLike = None,
    ) -> None:
        """Uses only shape, type and memory of the arrays. Arguments and errors are those of :func:`run`."""
        with pipeline_words():
            parsed = _parsed(pipeline, image)
            arguments = _Arguments(image, inputs, layout, alpha, order)
            self._look = (arguments.image.axes, alpha, order)
            self._plan = _native.Plan(arguments.device(device), parsed, arguments.image, arguments.sides)
        self._stream = current_stream(image)

    def __call__(self, image: Any, *, inputs: Inputs = None, out: Any = None, stream: Optional[int] = None) -> Any:
        """Filters `image` into `out`, or into a new array, and returns the result.

        `stream` is a CUDA stream as a number (1: CUDA's default stream).
        """
        with pipeline_words():
            arguments = _Arguments(image, inputs, *self._look)
            self._stream = current_stream(image) if stream is None else stream
            return _fill(self._plan, arguments, image, out, self._stream)

    def check(self) -> list[str]:
        """Waits for the last run. Returns warnings; raises ValueError if it met NaN or infinity."""
        with pipeline_words():
            return [python_words(each, _options_of_pipelines(), str) for each in self._plan.check(self._stream)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return self._plan.shape

    @property
    def dtype(self) -> str:
        """The element type of the result, as named by NumPy."""
        return self._plan.dtype

    @property
    def workspace_bytes(self) -> int:
        """Bytes of device memory that the plan holds."""
        return self._plan.workspace_bytes
