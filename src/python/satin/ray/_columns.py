"""Actors that filter columns of a dataset: arrays, and the bytes of files."""

from __future__ import annotations

import collections
import os
import tempfile
from pathlib import Path
from typing import Any, Optional

import numpy

from satin._errors import InvalidArgumentError
from satin._pipeline import Plan
from satin.ray._filter import Filter, share_of_actor

_MOST_PLANS = 4  # plans of different shapes that are kept, the most recently used


class Arrays:
    """Filters arrays: a class for ``map_batches``.

    The `column` holds pictures (height, width) or (height, width, channels) of uint8, uint16 or float32, in the result too
    unless `into` names another column. Pictures of one shape are filtered in one run, with `layout` ("HWC" and the like)
    and `alpha` as for :func:`satin.run`. Plans are kept by shape, at most four. Raises what :func:`satin.run` raises: a
    picture that cannot be filtered fails its batch.
    """

    def __init__(
        self,
        pipeline: str,
        *,
        column: str = "image",
        into: Optional[str] = None,
        layout: Optional[str] = None,
        alpha: str = "none",
        device: Optional[str] = None,
        memory_limit: int = 0,
    ) -> None:
        self._pipeline, self._column, self._into = pipeline, column, into or column
        self._look = {"alpha": alpha}
        self._layout = layout
        self._device = share_of_actor(device, 0, 0, memory_limit).devices[0]
        self._plans: collections.OrderedDict[Any, Plan] = collections.OrderedDict()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        images = [numpy.asarray(image) for image in batch[self._column]]
        groups: dict[Any, list[int]] = {}
        for index, image in enumerate(images):
            groups.setdefault((image.shape, image.dtype.str), []).append(index)
        results: list[Any] = [None] * len(images)
        for indices in groups.values():
            stack = numpy.stack([images[index] for index in indices])
            for index, result in zip(indices, self._filter(stack)):
                results[index] = result
        one_shape = len({result.shape for result in results}) <= 1
        column = numpy.stack(results) if results and one_shape else numpy.empty(len(results), object)
        if not one_shape:
            column[:] = results
        return {**batch, self._into: column}

    def _filter(self, stack: numpy.ndarray) -> numpy.ndarray:
        """Filters pictures of one shape, stacked along the first axis."""
        key = (stack.shape, stack.dtype.str)
        plan = self._plans.pop(key, None)
        if plan is None:
            layout = "N" + (self._layout or "HWC"[: stack.ndim - 1])
            plan = Plan(self._pipeline, stack, layout=layout, device=self._device, **self._look)
        self._plans[key] = plan
        while len(self._plans) > _MOST_PLANS:
            self._plans.popitem(last=False)
        return plan(stack)


class Bytes:
    """Filters files that are stored in a column, for instance of Parquet: a class for ``map_batches``.

    The `column` holds the bytes of files; in the result it holds the filtered files, as the command would write them,
    with metadata, or None for failures. The columns status ('done' or 'failed') and error are added. `name` is a column
    of names, whose extensions say what the results are encoded as unless `format` does. The options are those of
    :class:`Filter`. Files pass through a folder of the actor's in `scratch`, by default in memory (/dev/shm) where that
    is. They have no name that outlives the actor, so the attempts log does not apply to them.
    """

    def __init__(
        self,
        pipeline: str,
        *,
        column: str = "bytes",
        name: str = "path",
        format: str = "",
        scratch: Optional[str] = None,
        **options: Any,
    ) -> None:
        self._column, self._name, self._format = column, name, format
        place = scratch or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self._folder = tempfile.TemporaryDirectory(prefix="satin-", dir=place)
        self._filter = Filter(pipeline, Path(self._folder.name) / "out", format=format, skip_existing=True, **options)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        count = len(batch[self._column])
        if not self._format and self._name not in batch:
            raise InvalidArgumentError(f"There is no column '{self._name}' of names to take formats from: say format=\".png\".")
        inputs = [self._input(batch, index) for index in range(count)]
        rows = self._filter({"path": inputs})
        results = [self._result(rows, index) for index in range(count)]
        for path in inputs:
            Path(path).unlink()
        errors = [error.replace(self._folder.name + "/", "") for error in rows["error"]]
        column = numpy.empty(count, object)
        column[:] = results
        return {**batch, self._column: column, "status": rows["status"], "error": numpy.array(errors, object)}

    def _input(self, batch: dict[str, Any], index: int) -> str:
        extension = os.path.splitext(str(batch[self._name][index]))[1] if self._name in batch else ""
        path = Path(self._folder.name) / f"{index}{extension}"
        path.write_bytes(bytes(batch[self._column][index]))
        return str(path)

    @staticmethod
    def _result(rows: dict[str, Any], index: int) -> Optional[bytes]:
        if rows["status"][index] == "failed":
            return None
        output = Path(rows["output"][index])
        data = output.read_bytes()
        output.unlink()
        return data
