"""Sorts and percentiles of one-dimensional arrays, as :mod:`satin.scan` has them.

Sorts are ascending and stable; -0 equals +0, NaN come last. They take all types but float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from satin._arrays import Call, DeviceLike


class Pairs(NamedTuple):
    """Keys in order, and the values that went with them."""

    keys: Any
    values: Any


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
