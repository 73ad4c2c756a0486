"""Depth of arrays by the user's own model."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any, Optional, Union

from satin import _native
from satin._errors import InvalidArgumentError
from satin._files import _page, need_files

if TYPE_CHECKING:
    from numpy.typing import NDArray


def name_runtime() -> None:
    """Names the package onnxruntime in SATIN_ONNXRUNTIME, where that is not set, for models of this process."""
    spec = None if os.environ.get("SATIN_ONNXRUNTIME") else importlib.util.find_spec("onnxruntime")
    if spec is not None and spec.origin:
        os.environ["SATIN_ONNXRUNTIME"] = os.path.dirname(spec.origin)


def depth(
    image: Any,
    model: Union[str, "os.PathLike[str]"] = "",
    *,
    metadata: Optional[_native.Metadata] = None,
    alpha: Optional[str] = None,
    threads: int = 0,
    memory_limit: int = 0,
) -> NDArray[Any]:
    """Returns the depth of a picture as a model estimates it: float32, in about the size of the model's output, as
    ``satin depth`` writes it. ``satin.dof(image, depth=...)`` enlarges it along the edges of the picture.

    model : an ONNX file, with its description MODEL.json beside it; by default the one that SATIN_DEPTH_MODEL names. It stays
        open for the next picture
    metadata : what :func:`satin.read` gave with the picture, whose colour profile is applied
    alpha : as for :func:`satin.write`
    threads : threads of ONNX Runtime; 0: all that the process may use
    memory_limit : bytes that ONNX Runtime may hold; 0: no limit

    The runtime is PyPI's package onnxruntime, or what SATIN_ONNXRUNTIME names. Values are inverse depth, or metres if the
    description says "output": "depth"; then `satin.dof` needs ``depth_kind="depth"``. Raises ValueError for a model that does
    not fit, OSError for one that cannot be read or fails, RuntimeError without the runtime.

    >>> import numpy, satin
    >>> image = numpy.zeros((480, 640, 3), numpy.uint8)
    >>> depth = satin.depth(image, "depth_anything_v2_vits.onnx")  # doctest: +SKIP
    >>> try:
    ...     satin.depth(image, "missing.onnx")
    ... except OSError as error:
    ...     print(error)
    There is no model 'missing.onnx'. Check the path.
    """
    native = need_files()
    if not os.fspath(model) and not os.environ.get("SATIN_DEPTH_MODEL"):
        raise InvalidArgumentError("There is no model: give model=, the path of an ONNX file, or set SATIN_DEPTH_MODEL.")
    name_runtime()
    view, carried = _page(image, ".png", metadata, alpha)
    values: NDArray[Any] = native.estimate_depth(view, carried, model, threads, memory_limit)
    return values
