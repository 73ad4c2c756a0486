"""The scan family against NumPy."""
import math

import numpy as np
import pytest

from satin import scan

TYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int32, np.float32, np.float64]
UFUNCS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def values_of(random, dtype, size=10007):
    if np.dtype(dtype).kind == "f":
        return random.integers(-50, 50, size).astype(dtype)  # whole numbers: sums are exact
    return random.integers(0, 100, size).astype(dtype)


def wide(dtype, op="sum"):
    return np.uint64 if np.dtype(dtype).kind == "u" and op in ("sum", "product") else dtype


@pytest.mark.parametrize("op", UFUNCS)
@pytest.mark.parametrize("dtype", TYPES)
def test_scans(random, dtype, op):
    values = values_of(random, dtype, 13 if op == "product" else 10007)
    expected = UFUNCS[op].accumulate(values, dtype=wide(dtype, op))
    inclusive = scan.inclusive_scan(values, op)
    assert inclusive.dtype == wide(dtype, op)
    np.testing.assert_array_equal(inclusive, expected)
    exclusive = scan.exclusive_scan(values, op, initial=1)
    with_initial = UFUNCS[op](np.concatenate(([1], expected[:-1])).astype(expected.dtype), expected.dtype.type(1))
    np.testing.assert_array_equal(exclusive[1:], with_initial[1:])
    assert exclusive[0] == 1
    assert scan.reduce(values, op) == expected[-1]


def test_from_one_scan_to_the_other(random):
    values = values_of(random, np.int32)
    inclusive, exclusive = np.cumsum(values, dtype=np.int32), np.cumsum(values, dtype=np.int32) - values
    np.testing.assert_array_equal(scan.inclusive_to_exclusive(inclusive), exclusive)
    np.testing.assert_array_equal(scan.exclusive_to_inclusive(exclusive, values), inclusive)


def test_types_and_places_of_results(random):
    values = values_of(random, np.uint8)
    assert scan.inclusive_scan(values, dtype="uint32").dtype == np.uint32
    sums = np.empty(len(values), np.uint32)
    assert scan.inclusive_scan(values, out=sums) is sums
    np.testing.assert_array_equal(sums, np.cumsum(values))
    in_place = values.astype(np.int32)
    scan.inclusive_scan(in_place, out=in_place)
    np.testing.assert_array_equal(in_place, np.cumsum(values))


def test_mean(random):
    values = values_of(random, np.uint16)
    assert scan.mean(values) == values.sum() / len(values)
    assert math.isnan(scan.mean(values[:0]))


def test_nothing():
    nothing = np.empty(0, np.float32)
    assert scan.reduce(nothing) == 0 and scan.reduce(nothing, "min") == math.inf
    assert scan.inclusive_scan(nothing).shape == (0,)
    assert scan.compact(nothing, (">", 0)).shape == (0,)
    assert scan.radix_sort(nothing).shape == (0,)
    np.testing.assert_array_equal(scan.histogram(nothing, 4, (0, 1)), np.zeros(4))


def test_segments(random):
    values = values_of(random, np.int32)
    groups = np.sort(random.integers(0, 300, len(values))).astype(np.uint32)
    heads = np.concatenate(([True], groups[1:] != groups[:-1]))
    parts = np.split(values, np.flatnonzero(heads)[1:])
    sums = np.concatenate([np.cumsum(part) for part in parts])
    for marks in ({"heads": heads}, {"groups": groups}):
        np.testing.assert_array_equal(scan.segmented_inclusive_scan(values, **marks), sums)
        np.testing.assert_array_equal(scan.segmented_exclusive_scan(values, **marks), sums - values)
    np.testing.assert_array_equal(
        scan.segmented_reduce(values, heads=heads), [part.sum() for part in parts]
    )
    by_group = np.bincount(groups, values, 305)
    np.testing.assert_array_equal(scan.segmented_reduce(values, groups=groups, count=305), by_group)
    with pytest.raises(TypeError, match="one of the two"):
        scan.segmented_reduce(values)
    with pytest.raises(ValueError, match="group"):
        scan.segmented_reduce(values, groups=groups, count=3)


COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_compaction(random, comparison):
    values = values_of(random, np.float32)
    chosen = COMPARISONS[comparison](values, 7)
    for selection in ((comparison, 7), (comparison, np.float32(7)), chosen, chosen.astype(np.uint8) * 9):
        np.testing.assert_array_equal(scan.compact(values, selection), values[chosen])
        np.testing.assert_array_equal(scan.compact_indices(values, selection), np.flatnonzero(chosen))
        result, count = scan.partition(values, selection)
        assert count == chosen.sum()
        np.testing.assert_array_equal(result, np.concatenate((values[chosen], values[~chosen])))
    np.testing.assert_array_equal(scan.compact_indices(chosen), np.flatnonzero(chosen))


def test_histograms(random):
    codes = random.integers(0, 256, 5000, np.uint8)
    np.testing.assert_array_equal(scan.histogram(codes), np.bincount(codes, minlength=256))
    values = random.random(5000).astype(np.float32)
    np.testing.assert_array_equal(scan.histogram(values, 16, (0, 1)), np.histogram(values, 16, (0, 1))[0])
    edges = [0, 0.1, 0.5, 0.75, 1]
    np.testing.assert_array_equal(scan.histogram(values, edges), np.histogram(values, edges)[0])
    with pytest.raises(ValueError, match="range="):
        scan.histogram(values)


def test_bins(random):
    values = random.integers(0, 256, 3000, np.uint8)
    index = values // 32
    found = scan.extract_bins(values, 8)
    order = np.argsort(index, kind="stable")
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.values, values[order])
    np.testing.assert_array_equal(found.counts, np.bincount(index, minlength=8))
    np.testing.assert_array_equal(scan.extract_bin(values, 3, 8), values[index == 3])


@pytest.mark.parametrize("dtype", TYPES[:-1])
def test_sorts(random, dtype):
    keys = values_of(random, dtype)
    np.testing.assert_array_equal(scan.radix_sort(keys), np.sort(keys))
    values = np.arange(len(keys), dtype=np.uint64)
    pairs = scan.radix_sort_pairs(keys, values)
    np.testing.assert_array_equal(pairs.keys, np.sort(keys))
    np.testing.assert_array_equal(pairs.values, np.argsort(keys, kind="stable"))


def test_counting_sorts(random):
    keys = random.integers(0, 1000, 5000).astype(np.uint16)
    np.testing.assert_array_equal(scan.counting_sort(keys, 1000), np.sort(keys))
    pairs = scan.counting_sort_pairs(keys, np.arange(5000, dtype=np.uint32), 1000)
    np.testing.assert_array_equal(pairs.values, np.argsort(keys, kind="stable"))
    with pytest.raises(ValueError, match="999"):
        scan.counting_sort(keys, 999)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_percentiles(random, dtype):
    values = values_of(random, dtype)
    np.testing.assert_allclose(scan.percentiles(values, [0, 12.5, 99, 100]), np.percentile(values, [0, 12.5, 99, 100]))
    assert scan.median(values) == np.median(values) == scan.percentile(values, 50)
    with pytest.raises(ValueError, match="101"):
        scan.percentile(values, 101)


@pytest.mark.parametrize(
    "values,message",
    [
        (np.zeros((3, 3), np.uint8), r"one dimension is expected; pass values.reshape\(-1\)"),
        (np.zeros(10, np.uint8)[::2], "stride of 2 bytes.*ascontiguousarray"),
        (np.zeros(10, np.uint8)[::-1], "stride of -1 bytes"),
        (np.zeros(10, np.int64), "int64"),
        (np.zeros(10, ">u4"), "byte order"),
    ],
    ids=["two dimensions", "stride", "negative stride", "int64", "byte order"],
)
def test_what_values_cannot_be(values, message):
    with pytest.raises(ValueError, match=message):
        scan.inclusive_scan(values)


def test_wrong_results_and_operators(random):
    values = values_of(random, np.uint8)
    with pytest.raises(ValueError, match="did you mean 'product'"):
        scan.reduce(values, "produkt")
    with pytest.raises(ValueError, match="u64|u32|sums|type"):
        scan.inclusive_scan(values, dtype="float32")
    out = np.empty(len(values), np.uint64)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        scan.inclusive_scan(values, out=out)
    with pytest.raises(ValueError, match="300"):
        scan.compact(values, (">", 300))
