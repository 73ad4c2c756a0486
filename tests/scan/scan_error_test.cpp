// Refused arguments of the scan family, and their messages.

#include <gtest/gtest.h>

#include <limits>

#include "tests/oracles/expect_error.h"
#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class ScanRefused : public testing::Test {
 protected:
  template <class Call>
  void expect_refused(const std::string& piece, const Call& call) {
    expect_error(ErrorKind::usage, piece, [&] {
      call();
      return 0;
    });
  }

  const Device& device_ = device_under_test();
  std::vector<std::uint32_t> values_ = random_values<std::uint32_t>(12, 1);
  std::vector<std::uint32_t> result_ = std::vector<std::uint32_t>(12, 0xCDCDCDCD);
  std::vector<std::uint32_t> short_ = std::vector<std::uint32_t>(11);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(12, 1);
  std::vector<float> floats_ = std::vector<float>(12, 1.0F);
  std::vector<std::uint64_t> wide_ = std::vector<std::uint64_t>(12);
};

TEST_F(ScanRefused, Sizes) {
  expect_refused("result has 11 elements; it must have 12, as many as values",
                 [&] { inclusive_scan(device_, values_, short_); });
  expect_refused("exclusive_scan(): result has 11", [&] { exclusive_scan(device_, values_, short_); });
  expect_refused("it must have 1, the one value of all",
                 [&] { reduce(device_, values_, Operator::sum, result_); });
  expect_refused("marks has 12 elements; it must have 11",
                 [&] { segmented_inclusive_scan(device_, short_, Segments::by_flags(bytes_), result_); });
  expect_refused("result has 11",
                 [&] { segmented_reduce(device_, values_, Segments::by_flags(bytes_), short_); });
  expect_refused("compact(): result has 11", [&] { compact(device_, values_, Predicate{}, short_); });
  expect_refused("mask has 12 elements; it must have 11",
                 [&] { partition(device_, short_, ArrayView(bytes_), result_); });
  expect_refused("indices has 11", [&] { compact_indices(device_, bytes_, short_); });
  expect_refused("counts has 12 elements; it must have 5, one a bin",
                 [&] { histogram(device_, values_, Bins::even(0, 1, 5), result_); });
  expect_refused("sorted_values has 11",
                 [&] { radix_sort_pairs(device_, values_, values_, result_, short_); });
  expect_refused("values has 11", [&] { counting_sort_pairs(device_, bytes_, short_, 5, result_, result_); });
  expect_refused("exclusive has 11",
                 [&] { exclusive_to_inclusive(device_, short_, values_, result_, Operator::sum); });
  const ArrayView negative(values_.data(), -1);
  expect_refused("values has -1 elements", [&] { inclusive_scan(device_, negative, result_); });
}

TEST_F(ScanRefused, Types) {
  expect_refused("result is of type f32; for values of type u32 it must be u32 or u64",
                 [&] { inclusive_scan(device_, values_, floats_); });
  expect_refused("result is of type u64; for values of type u32 it must be u32.",
                 [&] { inclusive_scan(device_, values_, wide_, Operator::max); });
  expect_refused("for values of type u8 it must be u8 or u32 or u64",
                 [&] { segmented_inclusive_scan(device_, bytes_, Segments::by_flags(bytes_), floats_); });
  std::vector<double> doubles(1);
  expect_refused("result is of type f64", [&] { reduce(device_, values_, Operator::sum, doubles); });
  expect_refused("marks is of type u32; it must be u8",
                 [&] { segmented_inclusive_scan(device_, values_, Segments::by_flags(values_), result_); });
  expect_refused("marks is of type u8; it must be u32",
                 [&] { segmented_reduce(device_, values_, Segments::by_group(bytes_), result_); });
  expect_refused("result is of type u64; it must be u32, as values",
                 [&] { compact(device_, values_, Predicate{}, wide_); });
  expect_refused("mask is of type u32; it must be u8",
                 [&] { compact(device_, floats_, ArrayView(values_), floats_); });
  expect_refused("indices is of type f32; it must be u32 or u64",
                 [&] { compact_indices(device_, bytes_, floats_); });
  expect_refused("counts is of type f32",
                 [&] { histogram(device_, values_, Bins::even(0, 1, 12), floats_); });
  std::vector<double> keys(12);
  expect_refused("keys is of type f64; it must be u8, u16, u32, u64, i32 or f32",
                 [&] { radix_sort(device_, keys, keys); });
  expect_refused("keys is of type f32; it must be u8, u16 or u32",
                 [&] { counting_sort(device_, floats_, 5, result_); });
  expect_refused("sorted_keys is of type u32; it must be u8, as keys",
                 [&] { radix_sort_pairs(device_, bytes_, values_, result_, result_); });
  expect_refused("values is of type f64", [&] { static_cast<void>(median(device_, keys)); });
  expect_refused("result is of type u32; it must be f32, as inclusive",
                 [&] { inclusive_to_exclusive(device_, floats_, result_, Operator::sum); });
}

TEST_F(ScanRefused, Overlap) {
  const ArrayView all(values_);
  MutableArrayView own(values_);
  expect_refused("result overlaps values; in place, both are the same array of one type and size",
                 [&] { inclusive_scan(device_, all.part(0, 11), own.part(1, 11)); });
  expect_refused("in place", [&] { inclusive_scan(device_, all.part(1, 11), own.part(0, 11)); });
  expect_refused("result overlaps values; they must be apart",
                 [&] { reduce(device_, all, Operator::sum, own.part(3, 1)); });
  expect_refused("they must be apart", [&] { compact(device_, all, Predicate{}, own); });
  expect_refused("result overlaps inclusive",
                 [&] { inclusive_to_exclusive(device_, all, own, Operator::sum); });
  expect_refused("result overlaps values",
                 [&] { exclusive_to_inclusive(device_, result_, all, own, Operator::sum); });
  expect_refused("in place, both are the same array of one type and size", [&] {
    MutableArrayView as_signed = own;
    as_signed.type = Type::i32;
    inclusive_scan(device_, all, as_signed);
  });
  expect_refused("sorted_values overlaps sorted_keys",
                 [&] { radix_sort_pairs(device_, all, all, result_, result_); });
  expect_refused("result overlaps marks",
                 [&] { segmented_inclusive_scan(device_, bytes_, Segments::by_flags(bytes_), bytes_); });
  expect_refused("indices overlaps counts", [&] {
    std::vector<float> moved(12);
    extract_bins(device_, floats_, Bins::even(0, 1, 12), moved, result_, result_);
  });
  EXPECT_NO_THROW(inclusive_scan(device_, all.part(0, 6), own.part(6, 6)));
  EXPECT_NO_THROW(inclusive_scan(device_, all, own));
}

TEST_F(ScanRefused, ArraysWithoutMemory) {
  const ArrayView none(static_cast<const std::uint32_t*>(nullptr), 5);
  expect_refused("values has 5 elements, but no data", [&] { static_cast<void>(mean(device_, none)); });
  const ArrayView crooked(reinterpret_cast<const std::byte*>(bytes_.data()) + 1, 2, Type::u32);
  expect_refused("values is not aligned", [&] { static_cast<void>(mean(device_, crooked)); });
  const ArrayView elsewhere(values_.data(), 12, Memory::device);
  if (!device_.is_cuda())
    expect_refused("in the memory of a GPU", [&] { inclusive_scan(device_, elsewhere, result_); });
  expect_refused("not possible", [&] { Array(device_, Type::u8, -1); });
  expect_refused("made of values in host memory", [&] { Array(device_, elsewhere); });
  const Array array(device_, values_);
  expect_refused("does not fill a view of 12 x f32", [&] { array.download(floats_); });
  std::vector<std::uint32_t> longer(13);
  expect_refused("does not fill a view of 13 x u32", [&] { array.download(longer); });
}

TEST_F(ScanRefused, NumbersThatDoNotFit) {
  const auto predicate = [](Scalar number) { return Predicate{Comparison::less, number}; };
  expect_refused("the number 256 does not fit u8", [&] { compact(device_, bytes_, predicate(256), bytes_); });
  expect_refused("the number -1 does not fit u32",
                 [&] { compact(device_, values_, predicate(-1), result_); });
  expect_refused("does not fit u32", [&] { compact(device_, values_, predicate(0.5), result_); });
  expect_refused("does not fit u32", [&] { compact(device_, values_, predicate(std::nan("")), result_); });
  expect_refused("does not fit f32", [&] { compact(device_, floats_, predicate(1e300), result_); });
  expect_refused("does not fit u32",
                 [&] { inclusive_scan(device_, values_, result_, Operator::sum, 4294967296.0); });
  expect_refused("does not fit u32", [&] { exclusive_scan(device_, values_, result_, Operator::sum, -1); });
  EXPECT_NO_THROW(exclusive_scan(device_, values_, result_, Operator::sum, 4294967295.0));
  std::vector<float> kept(12);
  EXPECT_EQ(compact(device_, floats_, predicate(infinity), kept), 12);
  EXPECT_EQ(compact(device_, floats_, predicate(16777217), kept), 12);  // the nearest float
}

TEST_F(ScanRefused, Bins) {
  using satin::Bins;
  expect_refused("1 to 65536 bins, not 0", [] { static_cast<void>(Bins::even(0, 1, 0)); });
  expect_refused("1 to 65536 bins, not 65537", [] { static_cast<void>(Bins::even(0, 1, 65537)); });
  expect_refused("not -3", [] { static_cast<void>(Bins::even(0, 1, -3)); });
  expect_refused("must be below the upper one", [] { static_cast<void>(Bins::even(1, 1, 3)); });
  expect_refused("must be below the upper one", [] { static_cast<void>(Bins::even(2, 1, 3)); });
  expect_refused("finite", [] { static_cast<void>(Bins::even(0, infinity, 3)); });
  expect_refused("finite", [] { static_cast<void>(Bins::even(std::nan(""), 1, 3)); });
  expect_refused("too far apart", [] { static_cast<void>(Bins::even(-1.7e308, 1.7e308, 3)); });
  expect_refused("or too close", [] { static_cast<void>(Bins::even(0, 5e-324, 3)); });
  const auto between = [](const std::vector<double>& edges) { static_cast<void>(Bins::between(edges)); };
  expect_refused("bins, not -1", [&] { between({}); });
  expect_refused("bins, not 0", [&] { between({1}); });
  expect_refused("edges must ascend; number 2 is 1", [&] { between({0, 2, 1}); });
  expect_refused("edges must ascend; number 1", [&] { between({0, 0}); });
  expect_refused("edges must ascend", [&] { between({0, std::nan(""), 1}); });
  expect_refused("finite", [&] { between({0, 1, infinity}); });
  expect_refused("there is no bin 3; there are 0 to 2",
                 [&] { extract_bin(device_, values_, Bins::even(0, 1, 3), 3, result_); });
  expect_refused("there is no bin -1",
                 [&] { extract_bin(device_, values_, Bins::even(0, 1, 3), -1, result_); });
}

TEST_F(ScanRefused, RangesAndPercents) {
  expect_refused("the range is 1 to 65536, not 0", [&] { counting_sort(device_, values_, 0, result_); });
  expect_refused("not 65537", [&] { counting_sort(device_, values_, 65537, result_); });
  expect_refused("0 to 100, not -1", [&] { static_cast<void>(percentile(device_, values_, -1)); });
  expect_refused("0 to 100", [&] { static_cast<void>(percentile(device_, values_, 100.001)); });
  expect_refused("0 to 100", [&] { static_cast<void>(percentile(device_, values_, std::nan(""))); });
}

TEST_F(ScanRefused, CallsWriteNothing) {
  expect_refused("overlaps", [&] {
    inclusive_scan(device_, ArrayView(result_).part(0, 11), MutableArrayView(result_).part(1, 11));
  });
  EXPECT_EQ(result_, std::vector<std::uint32_t>(12, 0xCDCDCDCD));
}

TEST(ScanOfNothing, IsAccepted) {
  const Device& device = device_under_test();
  in_every_place([&](Place& place) {
    const ArrayView none = place.copy(std::vector<std::uint32_t>{});
    const ArrayView no_bytes = place.copy(std::vector<std::uint8_t>{});
    const MutableArrayView to = place.result<std::uint32_t>(0);
    inclusive_scan(device, none, to);
    exclusive_scan(device, none, to, Operator::max, 3);
    EXPECT_EQ(segmented_reduce(device, none, Segments::by_flags(no_bytes), to), 0);
    const MutableArrayView three = place.result<std::uint32_t>(3);
    EXPECT_EQ(segmented_reduce(device, none, Segments::by_group(none), three, Operator::product), 3);
    EXPECT_EQ(place.read<std::uint32_t>(three), (std::vector<std::uint32_t>{1, 1, 1}));
    EXPECT_EQ(compact(device, none, Predicate{}, to), 0);
    EXPECT_EQ(partition(device, none, no_bytes, to), 0);
    histogram(device, none, Bins::even(0, 1, 3), three);
    EXPECT_EQ(place.read<std::uint32_t>(three), (std::vector<std::uint32_t>{0, 0, 0}));
    const MutableArrayView counts = place.result<std::uint64_t>(2);
    extract_bins(device, none, Bins::even(0, 1, 2), to, counts, place.result<std::uint32_t>(0));
    EXPECT_EQ(place.read<std::uint64_t>(counts), (std::vector<std::uint64_t>{0, 0}));
    radix_sort_pairs(device, none, none, to, place.result<std::uint32_t>(0));
    counting_sort(device, none, 1, to);
  });
}

}  // namespace
}  // namespace satin::test
