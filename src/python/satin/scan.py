"""Prefix sums and what is built on them, on one-dimensional arrays.

Arrays are NumPy's or GPU arrays with DLPack or `__cuda_array_interface__`, of uint8, uint16, uint32, uint64, int32,
float32 or float64, with values that lie next to each other; they are not copied. Results are new arrays of the same
library, or `out`; of NumPy for arrays of JAX, which has no uint64 unless told. Work on GPU arrays is put into the
library's current stream; functions that return a number, or arrays whose length depends on the values, wait for it.

Operators are sum, product, min and max. Sums and products of unsigned integers are uint64 unless `dtype` says
otherwise; integers wrap around. A `selection` is a mask of uint8 or bool, or a comparison with a number such as
``(">", 0)``. Bins are a number of even bins over a range, or their ascending edges; values beyond the ends
belong to the outer bins, NaN to the last.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy

from satin import _native
from satin._arrays import Call, DeviceLike
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
    """Keys in order, and the values that went with them."""

    keys: Any
    values: Any


class ByBin(NamedTuple):
    """Values bin after bin."""

    values: Any  #: of all bins, each in their order
    counts: Any  #: uint64: how many are in each bin
    indices: Any  #: uint64: where each value was


# --- What callers say, as the native half takes it. ---


def _number(value: Any) -> Number:
    return operator.index(value) if isinstance(value, numbers.Integral) else float(value)


def _state(values: Values, op: str, dtype: Optional[str]) -> str:
    """The type of sums and the like."""
    wide = op in ("sum", "product") and values.dtype.startswith("uint")
    return dtype or ("uint64" if wide else values.dtype)


def _bins_for(bins: BinsLike, range: Optional[tuple[float, float]], dtype: str) -> _native.Bins:
    """Bins from what a caller says of them."""
    if not isinstance(bins, (int, numpy.integer)):
        return _native.Bins.between([float(edge) for edge in bins])
    lower, upper = range or _ENDS.get(dtype) or (None, None)
    if lower is None or upper is None:
        raise ValueError(f"Bins of {dtype} need a range: say range=(lower, upper), or give their edges as bins.")
    return _native.Bins.even(float(lower), float(upper), operator.index(bins))


# --- Reduce and scan. ---


def reduce(values: Any, op: str = "sum", *, dtype: Optional[str] = None, device: DeviceLike = None) -> Number:
    """values[0] op values[1] op ...; the identity for no values.

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
    """The arithmetic mean: of integers the exact sum, modulo 2^64, divided once; NaN for no values.

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
    """A scan of the first array of the call, `more` of them beside it, into one of the same length."""
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
    """The exclusive scan that belongs to an inclusive one.

    >>> import numpy, satin
    >>> satin.scan.inclusive_to_exclusive(numpy.array([3, 4, 6], numpy.uint64)).tolist()
    [0, 3, 4]
    """
    call = Call(device, inclusive=inclusive)
    return _scan("inclusive_to_exclusive", call, call.first.dtype, op, initial, out)


def exclusive_to_inclusive(
    exclusive: Any, values: Any, op: str = "sum", *, out: Any = None, device: DeviceLike = None
) -> Any:
    """The inclusive scan that belongs to the exclusive one of `values`.

    >>> import numpy, satin
    >>> values, before = numpy.array([3, 1, 2], numpy.uint64), numpy.array([0, 3, 4], numpy.uint64)
    >>> satin.scan.exclusive_to_inclusive(before, values).tolist()
    [3, 4, 6]
    """
    call = Call(device, exclusive=exclusive, values=values)
    return _scan("exclusive_to_inclusive", call, call.first.dtype, op, None, out, call["values"])


# --- Segments: heads (uint8 or bool, not 0 where one begins), or groups (uint32, never decreasing). ---


def _segmented_call(values: Any, heads: Any, groups: Any, device: DeviceLike) -> tuple[Call, tuple[Values, bool]]:
    """The call, and its segments as the native half takes them."""
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
    """The inclusive scan that begins anew at every segment.

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
    """The exclusive scan that begins each segment with the identity.

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
    """One result for each segment. With groups there are `count` of them, result[g] belongs to group g, and a
    group that does not occur has the identity.

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
    """The result with room for all of the values, and how many there are in it."""
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
    """The selected values in their order.

    >>> import numpy, satin
    >>> satin.scan.compact(numpy.array([3, 1, 2], numpy.uint8), (">", 1)).tolist()
    [3, 2]
    """
    result, found = _select("compact", values, selection, device)
    return result[:found]


def partition(values: Any, selection: Selection, *, device: DeviceLike = None) -> tuple[Any, int]:
    """Selected values first, then the others, both in their order; and how many are selected.

    >>> import numpy, satin
    >>> values, selected = satin.scan.partition(numpy.array([3, 1, 2], numpy.uint8), ("<", 3))
    >>> values.tolist(), selected
    ([1, 2, 3], 2)
    """
    return _select("partition", values, selection, device)


def compact_indices(values: Any, selection: Optional[Selection] = None, *, device: DeviceLike = None) -> Any:
    """The indices (uint64) of the selected values; of a mask alone those that are not 0.

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
    """How many values (uint64) are in each bin. The range of uint8 and uint16 is theirs unless it is told.

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
    """The values of one bin in their order.

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
    """The values of all bins, bin after bin, each in their order, with counts and indices.

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
    """The keys in order, and the values that go with them.

    >>> import numpy, satin
    >>> keys, values = numpy.array([3, 1, 2], numpy.uint8), numpy.array([7, 8, 9], numpy.uint32)
    >>> satin.scan.radix_sort_pairs(keys, values).values.tolist()
    [8, 9, 7]
    """
    return _sort_pairs("radix_sort_pairs", Call(device, keys=keys, values=values))


def counting_sort(keys: Any, range: int, *, out: Any = None, device: DeviceLike = None) -> Any:
    """Unsigned keys below `range`, which is at most 65536, in order.

    >>> import numpy, satin
    >>> satin.scan.counting_sort(numpy.array([3, 1, 2], numpy.uint8), 4).tolist()
    [1, 2, 3]
    """
    return _sort("counting_sort", Call(device, keys=keys), out, range)


def counting_sort_pairs(keys: Any, values: Any, range: int, *, device: DeviceLike = None) -> Pairs:
    """Unsigned keys below `range` in order, and the values that go with them.

    >>> import numpy, satin
    >>> keys, values = numpy.array([3, 1, 2], numpy.uint8), numpy.array([7, 8, 9], numpy.uint32)
    >>> satin.scan.counting_sort_pairs(keys, values, 4).values.tolist()
    [8, 9, 7]
    """
    return _sort_pairs("counting_sort_pairs", Call(device, keys=keys, values=values), range)


def percentiles(values: Any, percents: Sequence[float], *, device: DeviceLike = None) -> list[float]:
    """The values below which so many percent of the sorted ones lie, interpolated between neighbours; NaN if there
    is a NaN or no value.

    >>> import numpy, satin
    >>> satin.scan.percentiles(numpy.array([3, 1, 2], numpy.uint8), [0, 50, 75])
    [1.0, 2.0, 2.5]
    """
    call = Call(device, values=values)
    found: list[float] = call.run("percentiles", call["values"], [float(each) for each in percents])
    return found


def percentile(values: Any, percent: float, *, device: DeviceLike = None) -> float:
    """One of :func:`percentiles`.

    >>> import numpy, satin
    >>> satin.scan.percentile(numpy.array([3, 1, 2], numpy.uint8), 100)
    3.0
    """
    return percentiles(values, (percent,), device=device)[0]


def median(values: Any, *, device: DeviceLike = None) -> float:
    """The percentile 50.

    >>> import numpy, satin
    >>> satin.scan.median(numpy.array([3, 1, 2], numpy.uint8))
    2.0
    """
    return percentile(values, 50, device=device)
