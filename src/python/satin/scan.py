"""Prefix sums and what is built on them, on one-dimensional arrays.

Arrays are NumPy's or GPU arrays with DLPack or `__cuda_array_interface__`, of uint8, uint16, uint32, uint64, int32,
float32 or float64, with values that lie next to each other; they are not copied. Results are new arrays of the same
library, or `out`. Work on GPU arrays is put into the library's current stream; functions that return a number, or
arrays whose length depends on the values, wait for it.

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


class ByBin(NamedTuple):
    """Values bin after bin."""

    values: Any  #: of all bins, each in their order
    counts: Any  #: uint64: how many are in each bin
    indices: Any  #: uint64: where each value was


class Pairs(NamedTuple):
    """Keys in order, and the values that went with them."""

    keys: Any
    values: Any


# --- What callers say, as the native half takes it. ---


def _number(value: Any) -> Number:
    return operator.index(value) if isinstance(value, numbers.Integral) else float(value)


def _initial(value: Optional[Number]) -> Optional[Number]:
    return None if value is None else _number(value)


def _state(values: Values, op: str, dtype: Optional[str]) -> str:
    """The type of sums and the like."""
    wide = op in ("sum", "product") and values.dtype.startswith("uint")
    return dtype or ("uint64" if wide else values.dtype)


def bins_for(bins: BinsLike, range: Optional[tuple[float, float]], dtype: str) -> _native.Bins:
    """Bins from what a caller says of them."""
    if not isinstance(bins, (int, numpy.integer)):
        return _native.Bins.between([float(edge) for edge in bins])
    lower, upper = range or _ENDS.get(dtype) or (None, None)
    if lower is None or upper is None:
        raise ValueError(f"Bins of {dtype} need a range: say range=(lower, upper), or give their edges as bins.")
    return _native.Bins.even(float(lower), float(upper), operator.index(bins))


# --- Reduce and scan. ---


def reduce(values: Any, op: str = "sum", *, dtype: Optional[str] = None, device: DeviceLike = None) -> Number:
    """values[0] op values[1] op ...; the identity for no values."""
    call = Call(device, values=values)
    result = numpy.empty(1, _state(call["values"], op, dtype))
    _native.reduce(call.device, call["values"], op, Values(result, "result", 0), call.stream)
    return result[0].item()


def mean(values: Any, *, device: DeviceLike = None) -> float:
    """The arithmetic mean: of integers the exact sum, modulo 2^64, divided once; NaN for no values."""
    call = Call(device, values=values)
    return _native.mean(call.device, call["values"], call.stream)


def inclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    initial: Optional[Number] = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """result[i] = initial op values[0] op ... op values[i]; `out` may be `values`."""
    call = Call(device, values=values)
    result, view = call.result(call["values"].size, _state(call["values"], op, dtype), out)
    _native.inclusive_scan(call.device, call["values"], view, op, _initial(initial), call.stream)
    return result


def exclusive_scan(
    values: Any,
    op: str = "sum",
    *,
    initial: Optional[Number] = None,
    dtype: Optional[str] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """result[i] = initial op values[0] op ... op values[i - 1]; `out` may be `values`."""
    call = Call(device, values=values)
    result, view = call.result(call["values"].size, _state(call["values"], op, dtype), out)
    _native.exclusive_scan(call.device, call["values"], view, op, _initial(initial), call.stream)
    return result


def inclusive_to_exclusive(
    inclusive: Any,
    op: str = "sum",
    *,
    initial: Optional[Number] = None,
    out: Any = None,
    device: DeviceLike = None,
) -> Any:
    """The exclusive scan that belongs to an inclusive one."""
    call = Call(device, inclusive=inclusive)
    result, view = call.result(call["inclusive"].size, call["inclusive"].dtype, out)
    _native.inclusive_to_exclusive(call.device, call["inclusive"], view, op, _initial(initial), call.stream)
    return result


def exclusive_to_inclusive(
    exclusive: Any, values: Any, op: str = "sum", *, out: Any = None, device: DeviceLike = None
) -> Any:
    """The inclusive scan that belongs to the exclusive one of `values`."""
    call = Call(device, exclusive=exclusive, values=values)
    result, view = call.result(call["exclusive"].size, call["exclusive"].dtype, out)
    _native.exclusive_to_inclusive(
        call.device, call["exclusive"], call["values"], view, op, call.stream
    )
    return result


# --- Segments: heads (uint8 or bool, not 0 where one begins), or groups (uint32, never decreasing). ---


def _segmented_call(values: Any, heads: Any, groups: Any, device: DeviceLike) -> Call:
    if (heads is None) == (groups is None):
        raise TypeError("Segments are told by heads or by groups, one of the two.")
    return Call(device, values=values, marks=heads if groups is None else groups)


def _segmented_scan(
    scan: Any, call: Call, by_heads: bool, op: str, dtype: Optional[str], out: Any
) -> Any:
    values = call["values"]
    result, view = call.result(values.size, _state(values, op, dtype), out)
    scan(call.device, values, call["marks"], by_heads, view, op, call.stream)
    return result


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
    """The inclusive scan that begins anew at every segment."""
    call = _segmented_call(values, heads, groups, device)
    return _segmented_scan(_native.segmented_inclusive_scan, call, groups is None, op, dtype, out)


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
    """The exclusive scan that begins each segment with the identity."""
    call = _segmented_call(values, heads, groups, device)
    return _segmented_scan(_native.segmented_exclusive_scan, call, groups is None, op, dtype, out)


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
    group that does not occur has the identity."""
    call = _segmented_call(values, heads, groups, device)
    if groups is not None and count is None:
        raise TypeError("Groups need count, the number of results.")
    size = call["values"].size if count is None else count
    result, view = call.result(size, _state(call["values"], op, dtype))
    found = _native.segmented_reduce(
        call.device, call["values"], call["marks"], groups is None, view, op, call.stream
    )
    return result[:found]


# --- Compaction: keeps the order. ---


def _selecting_call(values: Any, selection: Selection, device: DeviceLike) -> Call:
    if isinstance(selection, tuple):
        return Call(device, values=values)
    return Call(device, values=values, mask=selection)


def _select(name: str, values: Any, selection: Selection, device: DeviceLike) -> tuple[Any, int]:
    call = _selecting_call(values, selection, device)
    result, view = call.result(call["values"].size, call["values"].dtype)
    if isinstance(selection, tuple):
        comparison, number = selection
        found = getattr(_native, name + "_where")(
            call.device, call["values"], comparison, _number(number), view, call.stream
        )
    else:
        found = getattr(_native, name)(call.device, call["values"], call["mask"], view, call.stream)
    return result, found


def compact(values: Any, selection: Selection, *, device: DeviceLike = None) -> Any:
    """The selected values in their order."""
    result, found = _select("compact", values, selection, device)
    return result[:found]


def partition(values: Any, selection: Selection, *, device: DeviceLike = None) -> tuple[Any, int]:
    """Selected values first, then the others, both in their order; and how many are selected."""
    return _select("partition", values, selection, device)


def compact_indices(values: Any, selection: Optional[Selection] = None, *, device: DeviceLike = None) -> Any:
    """The indices (uint64) of the selected values; of a mask alone those that are not 0."""
    if selection is None:
        selection = values
    call = _selecting_call(values, selection, device)
    result, view = call.result(call["values"].size, "uint64")
    if isinstance(selection, tuple):
        comparison, number = selection
        found = _native.compact_indices_where(
            call.device, call["values"], comparison, _number(number), view, call.stream
        )
    else:
        found = _native.compact_indices(call.device, call["mask"], view, call.stream)
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
    """How many values (uint64) are in each bin. The range of uint8 and uint16 is theirs unless it is told."""
    call = Call(device, values=values)
    wanted = bins_for(bins, range, call["values"].dtype)
    counts, view = call.result(wanted.count, "uint64", out)
    _native.histogram(call.device, call["values"], wanted, view, call.stream)
    return counts


def extract_bin(
    values: Any,
    bin: int,
    bins: BinsLike,
    range: Optional[tuple[float, float]] = None,
    *,
    device: DeviceLike = None,
) -> Any:
    """The values of one bin in their order."""
    call = Call(device, values=values)
    result, view = call.result(call["values"].size, call["values"].dtype)
    wanted = bins_for(bins, range, call["values"].dtype)
    found = _native.extract_bin(call.device, call["values"], wanted, bin, view, call.stream)
    return result[:found]


def extract_bins(
    values: Any, bins: BinsLike, range: Optional[tuple[float, float]] = None, *, device: DeviceLike = None
) -> ByBin:
    """The values of all bins, bin after bin, each in their order, with counts and indices."""
    call = Call(device, values=values)
    wanted = bins_for(bins, range, call["values"].dtype)
    size = call["values"].size
    result, result_view = call.result(size, call["values"].dtype)
    counts, counts_view = call.result(wanted.count, "uint64")
    indices, indices_view = call.result(size, "uint64")
    _native.extract_bins(
        call.device, call["values"], wanted, result_view, counts_view, indices_view, call.stream
    )
    return ByBin(result, counts, indices)


# --- Sort: ascending and stable; -0 equals +0, NaN come last. All types but float64. ---


def radix_sort(keys: Any, *, out: Any = None, device: DeviceLike = None) -> Any:
    """The keys in order."""
    call = Call(device, keys=keys)
    result, view = call.result(call["keys"].size, call["keys"].dtype, out)
    _native.radix_sort(call.device, call["keys"], view, call.stream)
    return result


def radix_sort_pairs(keys: Any, values: Any, *, device: DeviceLike = None) -> Pairs:
    """The keys in order, and the values that go with them."""
    call = Call(device, keys=keys, values=values)
    sorted_keys, keys_view = call.result(call["keys"].size, call["keys"].dtype)
    sorted_values, values_view = call.result(call["values"].size, call["values"].dtype)
    _native.radix_sort_pairs(
        call.device, call["keys"], call["values"], keys_view, values_view, call.stream
    )
    return Pairs(sorted_keys, sorted_values)


def counting_sort(keys: Any, range: int, *, out: Any = None, device: DeviceLike = None) -> Any:
    """Unsigned keys below `range`, which is at most 65536, in order."""
    call = Call(device, keys=keys)
    result, view = call.result(call["keys"].size, call["keys"].dtype, out)
    _native.counting_sort(call.device, call["keys"], range, view, call.stream)
    return result


def counting_sort_pairs(keys: Any, values: Any, range: int, *, device: DeviceLike = None) -> Pairs:
    """The same, with values that go with the keys."""
    call = Call(device, keys=keys, values=values)
    sorted_keys, keys_view = call.result(call["keys"].size, call["keys"].dtype)
    sorted_values, values_view = call.result(call["values"].size, call["values"].dtype)
    _native.counting_sort_pairs(
        call.device, call["keys"], call["values"], range, keys_view, values_view, call.stream
    )
    return Pairs(sorted_keys, sorted_values)


def percentiles(values: Any, percents: Sequence[float], *, device: DeviceLike = None) -> list[float]:
    """The values below which so many percent of the sorted ones lie, interpolated between neighbours; NaN if there
    is a NaN or no value."""
    call = Call(device, values=values)
    return _native.percentiles(call.device, call["values"], [float(each) for each in percents], call.stream)


def percentile(values: Any, percent: float, *, device: DeviceLike = None) -> float:
    """One of :func:`percentiles`."""
    return percentiles(values, (percent,), device=device)[0]


def median(values: Any, *, device: DeviceLike = None) -> float:
    """The percentile 50."""
    return percentile(values, 50, device=device)
