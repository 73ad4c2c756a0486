// satin/cuda/scan.cuh against loops on the host, with an operator that does not commute, a large state and
// fused maps. All arithmetic is modulo 2^64, so results are exact.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "satin/array.h"
#include "satin/cuda/scan.cuh"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

using Word = std::uint64_t;

/// The hash of a text, as a number with the letters as digits.
struct Hash {
  Word value;
  Word power;
  Word length;
};

constexpr Word base = 0x9E3779B97F4A7C15U;

struct Join {
  __host__ __device__ Hash operator()(const Hash& a, const Hash& b) const {
    return {a.value * b.power + b.value, a.power * b.power, a.length + b.length};
  }
};
struct Letter {
  __host__ __device__ Hash operator()(std::uint8_t value, std::int64_t index) const {
    return {static_cast<Word>(value) + static_cast<Word>(index) * 3, base, 1};
  }
};
struct Fold {
  __host__ __device__ Word operator()(const Hash& hash) const { return hash.value ^ (hash.length << 7); }
};
struct Add {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct IsOdd {
  __host__ __device__ bool operator()(std::uint8_t value) const { return value % 2 != 0; }
};

constexpr Hash nothing{0, 1, 0};

Hash extended(const Hash& text, std::uint8_t value, std::int64_t index) {
  return {text.value * base + static_cast<Word>(value) + static_cast<Word>(index) * 3, text.power * base,
          text.length + 1};
}

class OwnedStream {
 public:
  OwnedStream() = default;
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  void open() { ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A device array between guards; guards and results are poisoned.
template <class T>
class Cells {
 public:
  explicit Cells(std::int64_t size) : size_(size), array_(poison(size)) {}
  explicit Cells(const std::vector<T>& values) : Cells(static_cast<std::int64_t>(values.size())) {
    EXPECT_EQ(cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  [[nodiscard]] T* data() { return array_.view().template values<T>() + guard; }
  [[nodiscard]] std::vector<T> read(cudaStream_t stream) const {
    std::vector<T> all(static_cast<std::size_t>(size_ + 2 * guard));
    array_.download(all, Stream{stream});
    for (std::int64_t i = 0; i < guard; ++i) {
      EXPECT_EQ(all[static_cast<std::size_t>(i)], poison_value);
      EXPECT_EQ(all[static_cast<std::size_t>(size_ + guard + i)], poison_value);
    }
    return {all.begin() + guard, all.end() - guard};
  }

 private:
  static constexpr std::int64_t guard = 5;
  static constexpr T poison_value = static_cast<T>(0xCDCDCDCDCDCDCDCDU);
  static Array poison(std::int64_t size) {
    const std::vector<T> all(static_cast<std::size_t>(size + 2 * guard), poison_value);
    return Array(device_under_test(), all);
  }
  std::int64_t size_;
  Array array_;
};

class ScanCuda : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "SATIN_TEST_DEVICE is no GPU";
    stream.open();
    std::mt19937 random(static_cast<std::uint32_t>(GetParam()));
    for (std::int64_t i = 0; i < GetParam(); ++i) {
      values.push_back(static_cast<std::uint8_t>(random()));
      heads.push_back(random() % 100 < 3 ? static_cast<std::uint8_t>(random() % 255 + 1) : std::uint8_t{0});
    }
  }
  [[nodiscard]] std::int64_t size() const { return GetParam(); }

  /// Returns the fold of the values before each value, or up to it. `cut` says whether flags begin segments.
  [[nodiscard]] std::vector<Word> expected(bool inclusive, bool cut) const {
    std::vector<Word> results;
    Hash text = nothing;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (cut && heads[i] != 0) text = nothing;
      const Hash before = text;
      text = extended(text, values[i], static_cast<std::int64_t>(i));
      results.push_back(Fold()(inclusive ? text : before));
    }
    return results;
  }

  OwnedStream stream;
  std::vector<std::uint8_t> values;
  std::vector<std::uint8_t> heads;
};

TEST_P(ScanCuda, Scans) {
  Cells<std::uint8_t> in(values);
  Cells<Word> out(size());
  gpu::inclusive_scan(stream.get(), in.data(), out.data(), size(), Join(), nothing, Letter(), Fold());
  EXPECT_EQ(out.read(stream.get()), expected(true, false));
  gpu::exclusive_scan(stream.get(), in.data(), out.data(), size(), Join(), nothing, Letter(), Fold());
  EXPECT_EQ(out.read(stream.get()), expected(false, false));
  EXPECT_EQ(in.read(stream.get()), values);
}

TEST_P(ScanCuda, SegmentedScans) {
  Cells<std::uint8_t> in(values);
  Cells<std::uint8_t> flags(heads);
  Cells<Word> out(size());
  gpu::segmented_inclusive_scan(stream.get(), in.data(), flags.data(), out.data(), size(), Join(), nothing,
                                Letter(), Fold());
  EXPECT_EQ(out.read(stream.get()), expected(true, true));
  gpu::segmented_exclusive_scan(stream.get(), in.data(), flags.data(), out.data(), size(), Join(), nothing,
                                Letter(), Fold());
  EXPECT_EQ(out.read(stream.get()), expected(false, true));
}

TEST_P(ScanCuda, ScansInPlace) {
  std::vector<Word> wide(values.begin(), values.end());
  Cells<Word> cells(wide);
  Cells<std::uint8_t> flags(heads);
  gpu::inclusive_scan(stream.get(), cells.data(), cells.data(), size(), Add(), Word{0});
  for (std::size_t i = 1; i < wide.size(); ++i) wide[i] += wide[i - 1];
  EXPECT_EQ(cells.read(stream.get()), wide);
  gpu::segmented_exclusive_scan(stream.get(), cells.data(), flags.data(), cells.data(), size(), Add(),
                                Word{0});
  Word sum = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (heads[i] != 0) sum = 0;
    const Word before = sum;
    sum += wide[i];
    wide[i] = before;
  }
  EXPECT_EQ(cells.read(stream.get()), wide);
}

TEST_P(ScanCuda, Reduces) {
  Cells<std::uint8_t> in(values);
  const Hash hash = gpu::reduce(stream.get(), in.data(), size(), Join(), nothing, Letter());
  Hash text = nothing;
  for (std::int64_t i = 0; i < size(); ++i) text = extended(text, values[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(hash.value, text.value);
  EXPECT_EQ(hash.power, text.power);
  EXPECT_EQ(hash.length, text.length);
}

TEST_P(ScanCuda, ReducesSegments) {
  Cells<std::uint8_t> in(values);
  Cells<std::uint8_t> flags(heads);
  Cells<Word> out(size());
  const std::int64_t segments = gpu::segmented_reduce(stream.get(), in.data(), flags.data(), out.data(),
                                                      size(), Join(), nothing, Letter(), Fold());
  const std::vector<Word> scanned = expected(true, true);
  std::vector<Word> ends;
  for (std::size_t i = 0; i < scanned.size(); ++i)
    if (i + 1 == scanned.size() || heads[i + 1] != 0) ends.push_back(scanned[i]);
  ASSERT_EQ(segments, static_cast<std::int64_t>(ends.size()));
  std::vector<Word> results = out.read(stream.get());
  results.resize(ends.size());
  EXPECT_EQ(results, ends);
}

TEST_P(ScanCuda, Compacts) {
  Cells<std::uint8_t> in(values);
  Cells<std::uint8_t> out(size());
  Cells<std::uint32_t> indices(size());
  std::vector<std::uint8_t> odd;
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] % 2 == 0) continue;
    odd.push_back(values[i]);
    places.push_back(static_cast<std::uint32_t>(i));
  }
  const auto count = static_cast<std::int64_t>(odd.size());
  ASSERT_EQ(gpu::compact(stream.get(), in.data(), out.data(), size(), IsOdd()), count);
  ASSERT_EQ(gpu::compact_indices(stream.get(), in.data(), indices.data(), size(), IsOdd()), count);
  std::vector<std::uint8_t> kept = out.read(stream.get());
  std::vector<std::uint32_t> where = indices.read(stream.get());
  kept.resize(odd.size());
  where.resize(odd.size());
  EXPECT_EQ(kept, odd);
  EXPECT_EQ(where, places);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScanCuda, testing::Values(0, 1, 2, 31, 32, 33, 1000, 12293, 1048579));

}  // namespace
}  // namespace satin::test
