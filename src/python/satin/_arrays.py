"""Arrays of other libraries: their streams, new arrays of the same kind, and the device that works on them."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import warnings
from typing import Any, Iterable, Optional, Union

import numpy

from satin import _native
from satin._native import Device, Picture, Values

DeviceLike = Union[Device, str, None]

_DEFAULT_STREAM = 1  # as CUDA and DLPack number it
_CUDA = (2, 13)  # device kinds of DLPack: memory of a CUDA device, and managed memory


def _library(array: Any, name: str, type_name: str) -> Any:
    """Returns the module of the array's library, if it has been imported."""
    module = sys.modules.get(name)
    array_type = getattr(module, type_name, None)
    return module if array_type is not None and isinstance(array, array_type) else None


def current_stream(array: Any) -> int:
    """Returns the current CUDA stream of the array's library; 0 for arrays in host memory."""
    if isinstance(array, numpy.ndarray):
        return 0
    torch = _library(array, "torch", "Tensor")
    if torch is not None:
        return (torch.cuda.current_stream(array.device).cuda_stream or _DEFAULT_STREAM) if array.is_cuda else 0
    cupy = _library(array, "cupy", "ndarray")
    if cupy is not None:
        with array.device:
            return cupy.cuda.get_current_stream().ptr or _DEFAULT_STREAM
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return interface.get("stream") or _DEFAULT_STREAM
    place = getattr(array, "__dlpack_device__", None)
    return _DEFAULT_STREAM if place is not None and place()[0] in _CUDA else 0


def single(array: Any) -> Any:
    """Converts the array to float32, in its own library and memory."""
    torch = _library(array, "torch", "Tensor")
    return array.to(torch.float32) if torch is not None else array.astype("float32")


def _levels_to_caller() -> int:
    """Returns the stack level of the first function outside this package, as warnings count from this function's
    caller."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "satin":
        level, frame = level + 1, frame.f_back
    return level + 1


@functools.lru_cache(maxsize=None)
def _tell_of_float64() -> None:
    warnings.warn(
        "float64 is converted to float32, here and from now on without a word. As all floats it is taken for linear light; "
        "values from 0 to 1 of an sRGB file want space='encoded'.",
        UserWarning,
        stacklevel=_levels_to_caller(),
    )


def as_read(array: Any) -> Any:
    """Returns the array as Satin reads it: booleans become 0 and 255, float64 becomes float32 with a warning once per
    process."""
    dtype = str(getattr(array, "dtype", "")).rpartition(".")[2]
    if dtype == "bool":
        torch = _library(array, "torch", "Tensor")
        return (array.to(torch.uint8) if torch is not None else array.astype("uint8")) * 255
    if dtype != "float64":
        return array
    _tell_of_float64()
    return single(array)


def empty_like(array: Any, on_cuda: bool, shape: tuple[int, ...], dtype: str) -> Any:
    """Allocates an array in the library and memory of `array`; in NumPy for JAX, whose arrays cannot be written."""
    torch = _library(array, "torch", "Tensor")
    if torch is not None:
        if not hasattr(torch, dtype):
            raise TypeError(f"This PyTorch has no {dtype}, which the result is of: give a NumPy array.")
        return torch.empty(shape, dtype=getattr(torch, dtype), device=array.device)
    cupy = _library(array, "cupy", "ndarray")
    if cupy is not None:
        with array.device:
            return cupy.empty(shape, dtype)
    if on_cuda and _library(array, "jax", "Array") is not None:
        raise TypeError("Satin writes no arrays of JAX in GPU memory: pass one of the CPU, or go by torch.from_dlpack().")
    if on_cuda:
        raise TypeError(
            f"Satin cannot allocate GPU memory by {type(array).__module__}: give out, an array of the shape "
            f"{tuple(shape)} and type {dtype}."
        )
    return numpy.empty(shape, dtype)


def given_back(result: Any, array: Any) -> Any:
    """Converts the result from :func:`empty_like` to an array of the caller's library. For JAX this takes over memory
    that is aligned to 64 bytes and copies other memory."""
    jax = _library(array, "jax", "Array")
    if jax is None:
        return result
    made = jax.dlpack.from_dlpack(result)
    if str(made.dtype) != str(result.dtype):
        raise TypeError(f"This JAX has no {result.dtype}, which the result is of: set jax_enable_x64, or give a NumPy array.")
    return made


def adopt(result: Any, array: Any) -> Any:
    """Converts an array that Satin allocated to the library of `array`."""
    torch = _library(array, "torch", "Tensor")
    if torch is not None:
        return torch.from_dlpack(result)
    if _library(array, "jax", "Array") is not None:
        return given_back(result, array)
    cupy = _library(array, "cupy", "ndarray")
    return result if cupy is None or isinstance(result, numpy.ndarray) else cupy.from_dlpack(result)


@functools.lru_cache(maxsize=None)
def _opened(spec: str) -> Device:
    return Device(spec)


atexit.register(_opened.cache_clear)  # the module is gone when Python clears the cache, which it would report as a leak


def device_for(device: DeviceLike, arrays: Iterable[Union[Picture, Values, None]]) -> Device:
    """Returns the given device, or else the device of the arrays, or else the best one."""
    if isinstance(device, Device):
        return device
    if device is None:
        device = next((f"cuda:{array.ordinal}" for array in arrays if array is not None and array.on_cuda), "auto")
    return _opened(device)


def picture(
    array: Any,
    name: str,
    layout: Optional[str] = None,
    alpha: str = "none",
    order: str = "rgb",
    booleans: bool = False,
) -> Picture:
    """Returns the view of a picture, called `name` in messages."""
    if isinstance(array, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is the name of a file: satin.read({array!r}) reads it, and satin.batch filters files.")
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array: give {name}.filled(value). Filters with mask_mode leave pixels out of their means "
            f"by mask=~{name}.mask, mask_mode='exclude'."
        )
    return Picture(array, name, layout, alpha, order, booleans, current_stream(array))


class Call:
    """The one-dimensional arrays of one call, their device and their stream."""

    def __init__(self, device: DeviceLike, **arrays: Any) -> None:
        self._like = next(iter(arrays.values()))
        self.stream = current_stream(self._like)
        self._views = {name: Values(array, name, self.stream) for name, array in arrays.items()}
        self.device = device_for(device, self._views.values())
        self.first = next(iter(self._views.values()))

    def __getitem__(self, name: str) -> Values:
        return self._views[name]

    def run(self, function: str, *arguments: Any) -> Any:
        """Calls a function of the native module on the device and the stream."""
        return getattr(_native, function)(self.device, *arguments, self.stream)

    def result(self, size: int, dtype: str, out: Any = None) -> tuple[Any, Values]:
        """Returns a new array, or `out`, and its view."""
        array = empty_like(self._like, self.first.on_cuda, (size,), dtype) if out is None else out
        return array, Values(array, "out", self.stream)
