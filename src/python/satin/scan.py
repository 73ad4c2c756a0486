"""Prefix sums and functions built on them, on one-dimensional arrays.

Arrays are NumPy's or GPU arrays with DLPack or `__cuda_array_interface__`, of uint8, uint16, uint32, uint64, int32,
float32 or float64, with adjacent values; they are not copied. Results are new arrays of the same library, or `out`; for
JAX, which has no uint64 by default, they are NumPy's. Work on GPU arrays is queued in the library's current stream;
functions that return a number, or arrays whose length depends on the values, wait for it.

Operators are sum, product, min and max. Sums and products of unsigned integers are uint64 unless `dtype` names another
type; integers wrap around. A `selection` is a mask of uint8 or bool, or a comparison with a number such as ``(">",
0)``. Bins are a number of even bins over a range, or their ascending edges; values beyond the ends fall into the outer
bins, NaN into the last.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy

from satin import _native
from satin._arrays import Call, DeviceLike
from satin._errors import InvalidArgumentError
from satin._native import Values

__all__ = [
    "ByBin",
    "Pairs",
    "compact",
    "compact_indices",
    "counting_sort",
    "counting_sort_pairs",
    "exclusive_scan",
    "exclusive_to_inclusive",
    "extract_bin",
    "extract_bins",
    "histogram",
    "inclusive_scan",
    "inclusive_to_exclusive",
    "mean",
    "median",
    "partition",
    "percentile",
    "percentiles",
    "radix_sort",
    "radix_sort_pairs",
    "reduce",
    "segmented_exclusive_scan",
    "segmented_inclusive_scan",
    "segmented_reduce",
]

Number = Union[int, float]
Selection = Union[Any, tuple[str, Number]]
BinsLike = Union[int, Sequence[float]]

_ENDS = {"uint8": (0.0, 256.0), "uint16": (0.0, 65536.0)}


class Pairs(NamedTuple):
    """Sorted keys and their values."""

    keys: Any
    values: Any


class ByBin(NamedTuple):
    """Values sorted by bin."""

    values: Any  #: values bin after bin, each in their order
    counts: Any  #: number of values in each bin, uint64
    indices: Any  #: index of each value in the input, uint64


# --- Arguments for the native module ---


def _number(value: Any) -> Number:
    return operator.index(value) if isinstance(value, numbers.Integral) else float(value)


def _state(values: Values, op: str, dtype: Optional[str]) -> str:
    """Returns the type of sums and other reductions."""
    wide = op in ("sum", "product") and values.dtype.startswith("uint")
    return dtype or ("uint64" if wide else values.dtype)


def _bins_for(bins: BinsLike, range: Optional[tuple[float, float]], dtype: str) -> _native.Bins:
    """Returns the bins that a caller describes."""
    if not isinstance(bins, (int, numpy.integer)):
        return _native.Bins.between([float(edge) for edge in bins])
    lower, upper = range or _ENDS.get(dtype) or (None, None)
    if lower is None or upper is None:
        raise InvalidArgumentError(f"Bins of {dtype} need a range: say range=(lower, upper), or give their edges as bins.")
    return _native.Bins.even(float(lower), float(upper), operator.index(bins))


# --- Reduce and scan. ---


def reduce(values: Any, op: str = "sum", *, dtype: Optional[str] = None, device: DeviceLike = None) -> Number:
    """Returns values[0] op values[1] op ..., or the identity for no values.

    >>> import numpy, satin
    >>> satin.scan.reduce(numpy.array([3, 1, 2], numpy.uint8), "max")
    3
    """
    call = Call(device, values=values)
    result = numpy.empty(1, _state(call["values"], op, dtype))
    call.run("reduce", call["values"], op, Values(result, "result", 0))
    number: Number = result[0].item()
    return number


def mean(values: Any, *, device: DeviceLike = None) -> float:
    """Returns the arithmetic mean, NaN for no values. For integers it is the exact sum, modulo 2^64, divided once.

    >>> import numpy, satin
    >>> satin.scan.mean(numpy.array([3, 1, 2], numpy.uint8))
    2.0
    """
    call = Call(device, values=values)
    found: float = call.run("mean", call["values"])
    return found


def _scan(
    function: str, call: Call, dtype: str, op: str, initial: Optional[Number], out: Any, *more: Any
) -> Any:
    """Scans the first array of the call, with the arrays `more`, into an array of the same length."""
    first = call.first
    result, view = call.result(first.size, dtype, out)
    call.run(function, first, *more, view, op, *(() if initial is None else (_number(initial),)))
    return result


def inclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    initial: Optional[Number] = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """result[i] = initial op values[0] op ... op values[i]; `out` may be `values`.

    >>> import numpy, satin
    >>> satin.scan.inclusive_scan(numpy.array([3, 1, 2], numpy.uint8)).tolist()
    [3, 4, 6]
    """
    call = Call(device, values=values)
    return _scan("inclusive_scan", call, _state(call.first, op, dtype), op, initial, out)


def exclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    initial: Optional[Number] = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """result[i] = initial op values[0] op ... op values[i - 1]; `out` may be `values`.

    >>> import numpy, satin
    >>> satin.scan.exclusive_scan(numpy.array([3, 1, 2], numpy.uint8)).tolist()
    [0, 3, 4]
    """
    call = Call(device, values=values)
    return _scan("exclusive_scan", call, _state(call.first, op, dtype), op, initial, out)


def inclusive_to_exclusive(
    inclusive: Any, op: str = "sum", *, initial: Optional[Number] = None, out: Any = None, device: DeviceLike = None
) -> Any:
    """Converts an inclusive scan to the exclusive one.

    >>> import numpy, satin
    >>> satin.scan.inclusive_to_exclusive(numpy.array([3, 4, 6], numpy.uint64)).tolist()
    [0, 3, 4]
    """
    call = Call(device, inclusive=inclusive)
    return _scan("inclusive_to_exclusive", call, call.first.dtype, op, initial, out)


def exclusive_to_inclusive(
    exclusive: Any, values: Any, op: str = "sum", *, out: Any = None, device: DeviceLike = None
) -> Any:
    """Converts the exclusive scan of `values` to the inclusive one.

    >>> import numpy, satin
    >>> values, before = numpy.array([3, 1, 2], numpy.uint64), numpy.array([0, 3, 4], numpy.uint64)
    >>> satin.scan.exclusive_to_inclusive(before, values).tolist()
    [3, 4, 6]
    """
    call = Call(device, exclusive=exclusive, values=values)
    return _scan("exclusive_to_inclusive", call, call.first.dtype, op, None, out, call["values"])


# --- Segments: heads (uint8 or bool, not 0 where one begins), or groups (uint32, never decreasing). ---


def _segmented_call(values: Any, heads: Any, groups: Any, device: DeviceLike) -> tuple[Call, tuple[Values, bool]]:
    """Returns the call, and its segments for the native module."""
    if (heads is None) == (groups is None):
        raise TypeError("Segments are told by heads or by groups, one of the two.")
    call = Call(device, values=values, marks=heads if groups is None else groups)
    return call, (call["marks"], groups is None)


def segmented_inclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    heads: Any = None,
    groups: Any = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """Inclusive scan that restarts at every segment.

    >>> import numpy, satin
    >>> values, heads = numpy.array([3, 1, 2], numpy.uint8), numpy.array([1, 0, 1], bool)
    >>> satin.scan.segmented_inclusive_scan(values, heads=heads).tolist()
    [3, 4, 2]
    """
    call, segments = _segmented_call(values, heads, groups, device)
    return _scan("segmented_inclusive_scan", call, _state(call.first, op, dtype), op, None, out, segments)


def segmented_exclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    heads: Any = None,
    groups: Any = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """Exclusive scan that starts each segment with the identity.

    >>> import numpy, satin
    >>> values, heads = numpy.array([3, 1, 2], numpy.uint8), numpy.array([1, 0, 1], bool)
    >>> satin.scan.segmented_exclusive_scan(values, heads=heads).tolist()
    [0, 3, 0]
    """
    call, segments = _segmented_call(values, heads, groups, device)
    return _scan("segmented_exclusive_scan", call, _state(call.first, op, dtype), op, None, out, segments)


def segmented_reduce(
    values: Any,
    op: str = "sum",
    *,
    heads: Any = None,
    groups: Any = None,
    count: Optional[int] = None,
    dtype: Optional[str] = None,
    device: DeviceLike = None,
) -> Any:
    """Returns one result per segment. With groups there are `count` results, result[g] belongs to group g, and a group
    without values has the identity.

    >>> import numpy, satin
    >>> values, groups = numpy.array([3, 1, 2], numpy.uint8), numpy.array([0, 0, 2], numpy.uint32)
    >>> satin.scan.segmented_reduce(values, groups=groups, count=4).tolist()
    [4, 0, 2, 0]
    """
    call, segments = _segmented_call(values, heads, groups, device)
    if groups is not None and count is None:
        raise TypeError("Groups need count, the number of results.")
    result, view = call.result(call.first.size if count is None else count, _state(call.first, op, dtype))
    found = call.run("segmented_reduce", call.first, segments, view, op)
    return result[:found]


# --- Compaction: keeps the order. ---


def _select(
    function: str, values: Any, selection: Selection, device: DeviceLike, dtype: Optional[str] = None
) -> tuple[Any, int]:
    """Returns the result, as long as the values, and the number of selected values in it."""
    chosen: Any
    if isinstance(selection, tuple):
        call = Call(device, values=values)
        chosen = (selection[0], _number(selection[1]))
    else:
        call = Call(device, values=values, mask=selection)
        chosen = call["mask"]
    result, view = call.result(call.first.size, dtype or call.first.dtype)
    return result, call.run(function, call.first, chosen, view)


def compact(values: Any, selection: Selection, *, device: DeviceLike = None) -> Any:
    """Returns the selected values in their order.

    >>> import numpy, satin
    >>> satin.scan.compact(numpy.array([3, 1, 2], numpy.uint8), (">", 1)).tolist()
    [3, 2]
    """
    result, found = _select("compact", values, selection, device)
    return result[:found]


def partition(values: Any, selection: Selection, *, device: DeviceLike = None) -> tuple[Any, int]:
    """Returns the selected values first, then the others, both in their order; and how many are selected.

    >>> import numpy, satin
    >>> values, selected = satin.scan.partition(numpy.array([3, 1, 2], numpy.uint8), ("<", 3))
    >>> values.tolist(), selected
    ([1, 2, 3], 2)
    """
    return _select("partition", values, selection, device)


def compact_indices(values: Any, selection: Optional[Selection] = None, *, device: DeviceLike = None) -> Any:
    """Returns the indices (uint64) of the selected values, or of the elements of a mask that are not 0.

    >>> import numpy, satin
    >>> satin.scan.compact_indices(numpy.array([3, 0, 2], numpy.uint8)).tolist()
    [0, 2]
    """
    if isinstance(selection, tuple):
        result, found = _select("compact_indices", values, selection, device, "uint64")
    else:
        call = Call(device, values=values, mask=values if selection is None else selection)
        result, view = call.result(call.first.size, "uint64")
        found = call.run("compact_indices", call["mask"], view)
    return result[:found]


# --- Bins. ---


def histogram(
    values: Any,
    bins: BinsLike = 256,
    range: Optional[tuple[float, float]] = None,
    *,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """Returns the number of values (uint64) in each bin. The range defaults to that of the type for uint8 and uint16.

    >>> import numpy, satin
    >>> satin.scan.histogram(numpy.array([3, 200, 2], numpy.uint8), 4).tolist()
    [2, 0, 0, 1]
    """
    call = Call(device, values=values)
    wanted = _bins_for(bins, range, call["values"].dtype)
    counts, view = call.result(wanted.count, "uint64", out)
    call.run("histogram", call["values"], wanted, view)
    return counts


def extract_bin(
    values: Any,
    bin: int,
    bins: BinsLike,
    range: Optional[tuple[float, float]] = None,
    *,
    device: DeviceLike = None,
) -> Any:
    """Returns the values of one bin in their order.

    >>> import numpy, satin
    >>> satin.scan.extract_bin(numpy.array([3, 200, 2], numpy.uint8), 0, 4).tolist()
    [3, 2]
    """
    call = Call(device, values=values)
    result, view = call.result(call["values"].size, call["values"].dtype)
    wanted = _bins_for(bins, range, call["values"].dtype)
    found = call.run("extract_bin", call["values"], wanted, bin, view)
    return result[:found]


def extract_bins(
    values: Any, bins: BinsLike, range: Optional[tuple[float, float]] = None, *, device: DeviceLike = None
) -> ByBin:
    """Returns the values sorted by bin, stably, with counts and indices.

    >>> import numpy, satin
    >>> satin.scan.extract_bins(numpy.array([3, 200, 2], numpy.uint8), 2).values.tolist()
    [3, 2, 200]
    """
    call = Call(device, values=values)
    wanted = _bins_for(bins, range, call["values"].dtype)
    size = call["values"].size
    result, result_view = call.result(size, call["values"].dtype)
    counts, counts_view = call.result(wanted.count, "uint64")
    indices, indices_view = call.result(size, "uint64")
    call.run("extract_bins", call["values"], wanted, result_view, counts_view, indices_view)
    return ByBin(result, counts, indices)


# --- Sorts, ascending and stable: -0 equals +0, NaN come last. They and percentiles take all types but float64. ---


def _sort(function: str, call: Call, out: Any, *settings: int) -> Any:
    result, view = call.result(call.first.size, call.first.dtype, out)
    call.run(function, call.first, *settings, view)
    return result


def _sort_pairs(function: str, call: Call, *settings: int) -> Pairs:
    keys, values = call["keys"], call["values"]
    sorted_keys, keys_view = call.result(keys.size, keys.dtype)
    sorted_values, values_view = call.result(values.size, values.dtype)
    call.run(function, keys, values, *settings, keys_view, values_view)
    return Pairs(sorted_keys, sorted_values)


def radix_sort(keys: Any, *, out: Any = None, device: DeviceLike = None) -> Any:
    """The keys in order.

    >>> import numpy, satin
    >>> satin.scan.radix_sort(numpy.array([3, 1, 2], numpy.float32)).tolist()
    [1.0, 2.0, 3.0]
    """
    return _sort("radix_sort", Call(device, keys=keys), out)


def radix_sort_pairs(keys: Any, values: Any, *, device: DeviceLike = None) -> Pairs:
    """Sorts values by their keys.

    >>> import numpy, satin
    >>> keys, values = numpy.array([3, 1, 2], numpy.uint8), numpy.array([7, 8, 9], numpy.uint32)
    >>> satin.scan.radix_sort_pairs(keys, values).values.tolist()
    [8, 9, 7]
    """
    return _sort_pairs("radix_sort_pairs", Call(device, keys=keys, values=values))


def counting_sort(keys: Any, range: int, *, out: Any = None, device: DeviceLike = None) -> Any:
    """Sorts unsigned keys below `range`, which is at most 65536.

    >>> import numpy, satin
    >>> satin.scan.counting_sort(numpy.array([3, 1, 2], numpy.uint8), 4).tolist()
    [1, 2, 3]
    """
    return _sort("counting_sort", Call(device, keys=keys), out, range)


def counting_sort_pairs(keys: Any, values: Any, range: int, *, device: DeviceLike = None) -> Pairs:
    """Sorts values by their unsigned keys below `range`.

    >>> import numpy, satin
    >>> keys, values = numpy.array([3, 1, 2], numpy.uint8), numpy.array([7, 8, 9], numpy.uint32)
    >>> satin.scan.counting_sort_pairs(keys, values, 4).values.tolist()
    [8, 9, 7]
    """
    return _sort_pairs("counting_sort_pairs", Call(device, keys=keys, values=values), range)


def percentiles(values: Any, percents: Sequence[float], *, device: DeviceLike = None) -> list[float]:
    """Returns percentiles, interpolated between neighbours; NaN if there is a NaN or no value.

    >>> import numpy, satin
    >>> satin.scan.percentiles(numpy.array([3, 1, 2], numpy.uint8), [0, 50, 75])
    [1.0, 2.0, 2.5]
    """
    call = Call(device, values=values)
    found: list[float] = call.run("percentiles", call["values"], [float(each) for each in percents])
    return found


def percentile(values: Any, percent: float, *, device: DeviceLike = None) -> float:
    """Returns one of :func:`percentiles`.

    >>> import numpy, satin
    >>> satin.scan.percentile(numpy.array([3, 1, 2], numpy.uint8), 100)
    3.0
    """
    return percentiles(values, (percent,), device=device)[0]


def median(values: Any, *, device: DeviceLike = None) -> float:
    """Returns the 50th percentile.

    >>> import numpy, satin
    >>> satin.scan.median(numpy.array([3, 1, 2], numpy.uint8))
    2.0
    """
    return percentile(values, 50, device=device)
