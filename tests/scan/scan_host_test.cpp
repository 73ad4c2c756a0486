// satin/host/scan.h with any operator, state and number of threads; and the CPU's scans on every SIMD target.

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "satin/host/scan.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/forced_target.h"
#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

using U64 = std::uint64_t;

const Device& cpu() {
  static const Device device = Device::open("cpu");
  return device;
}

std::vector<Device> with_threads() {
  return {Device::open("cpu", {1}), Device::open("cpu", {2}), Device::open("cpu", {3}), cpu()};
}

/// The map x -> scale x + offset, modulo 2^64. Composition does not commute.
struct Affine {
  U64 scale;
  U64 offset;
  friend bool operator==(const Affine&, const Affine&) = default;
};
Affine compose(const Affine& first, const Affine& second) {
  return {first.scale * second.scale, first.offset * second.scale + second.offset};
}

/// A matrix of 2 x 2, row by row, modulo 2^64.
using Matrix = std::array<U64, 4>;
Matrix multiply(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

std::vector<Affine> random_maps(std::int64_t n) {
  Random random(1);
  std::vector<Affine> maps(static_cast<std::size_t>(n));
  for (Affine& map : maps) map = {random.next() | 1, random.next()};
  return maps;
}

TEST(HostScan, KeepsTheOrderOfOperatorsThatDoNotCommute) {
  for (const Device& device : with_threads())
    for (const std::int64_t n : sizes()) {
      const std::vector<Affine> maps = random_maps(n);
      std::vector<Affine> inclusive(maps.size());
      std::vector<Affine> exclusive(maps.size());
      host::inclusive_scan(device, maps.data(), inclusive.data(), n, compose, Affine{1, 0});
      host::exclusive_scan(device, maps.data(), exclusive.data(), n, compose, Affine{1, 0});
      Affine running{1, 0};
      for (std::size_t i = 0; i < maps.size(); ++i) {
        ASSERT_EQ(exclusive[i], running) << i << " of " << n;
        running = compose(running, maps[i]);
        ASSERT_EQ(inclusive[i], running) << i << " of " << n;
      }
      EXPECT_EQ(host::reduce(device, maps.data(), n, compose, Affine{1, 0}), running) << n;
    }
}

TEST(HostScan, MatricesGiveFibonacciNumbers) {
  const std::int64_t n = 70001;
  const std::vector<std::uint8_t> steps(static_cast<std::size_t>(n), 1);
  std::vector<U64> found(steps.size());
  host::inclusive_scan(
      cpu(), steps.data(), found.data(), n, multiply, Matrix{1, 0, 0, 1},
      [](std::uint8_t step, std::int64_t) {
        return Matrix{step, 1, 1, 0};
      },
      [](const Matrix& power) { return power[1]; });
  U64 a = 0;
  U64 b = 1;
  for (const U64 number : found) {
    ASSERT_EQ(number, b);
    b += a;
    a = b - a;
  }
}

TEST(HostScan, MapsSeeTheIndex) {
  const std::int64_t n = 70001;
  const std::vector<std::uint8_t> values(static_cast<std::size_t>(n), 2);
  const auto to_state = [](std::uint8_t value, std::int64_t i) { return U64{value} * static_cast<U64>(i); };
  std::vector<float> halves(values.size());
  host::exclusive_scan(cpu(), values.data(), halves.data(), n, std::plus<U64>(), U64{0}, to_state,
                       [](U64 state) { return static_cast<float>(state % 1000) / 2; });
  for (U64 i = 0; i < static_cast<U64>(n); ++i)
    ASSERT_EQ(halves[i], static_cast<float>(i * (i == 0 ? 0 : i - 1) % 1000) / 2) << i;
  EXPECT_EQ(host::reduce(cpu(), values.data(), n, std::plus<U64>(), U64{0}, to_state),
            static_cast<U64>(n) * static_cast<U64>(n - 1));
}

TEST(HostScan, SegmentsOfOperatorsThatDoNotCommute) {
  for (const std::int64_t n : sizes())
    for (const U64 length : {1U, 5U, 30000U, 4000000U}) {
      const std::vector<Affine> maps = random_maps(n);
      Random random(length);
      std::vector<std::uint8_t> heads(maps.size());
      for (std::uint8_t& head : heads) head = random.one_in(length) ? 255 : 0;
      std::vector<Affine> inclusive(maps.size());
      std::vector<Affine> exclusive(maps.size());
      host::segmented_inclusive_scan(cpu(), maps.data(), heads.data(), inclusive.data(), n, compose,
                                     Affine{1, 0});
      host::segmented_exclusive_scan(cpu(), maps.data(), heads.data(), exclusive.data(), n, compose,
                                     Affine{1, 0});
      Affine running{1, 0};
      for (std::size_t i = 0; i < maps.size(); ++i) {
        if (heads[i] != 0) running = {1, 0};
        ASSERT_EQ(exclusive[i], running) << i << " of " << n;
        running = compose(running, maps[i]);
        ASSERT_EQ(inclusive[i], running) << i << " of " << n;
      }
    }
}

TEST(HostScan, InPlace) {
  std::vector<U64> values(70001, 3);
  host::inclusive_scan(cpu(), values.data(), values.data(), 70001, std::plus<U64>(), U64{0});
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 3 * (i + 1));
  host::exclusive_scan(
      cpu(), values.data(), values.data(), 70001, [](U64 a, U64 b) { return std::max(a, b); }, U64{0});
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 3 * i);
}

std::vector<float> random_floats(std::int64_t n) {
  Random random(5);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = static_cast<float>(random.next() >> 40) / (1 << 20) - 4;
  return values;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Returns the bytes of all results that add floats.
std::vector<std::vector<std::byte>> float_results(const Device& device, const std::vector<float>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::vector<std::byte>> results;
  std::vector<float> result(values.size());
  std::vector<double> wide(values.size());
  std::vector<std::uint8_t> heads(values.size());
  for (std::size_t i = 0; i < heads.size(); ++i) heads[i] = i % 1777 == 5 ? 1 : 0;
  for (const Operator op : {Operator::sum, Operator::product, Operator::min, Operator::max}) {
    inclusive_scan(device, values, result, op);
    results.push_back(bytes_of(result));
    exclusive_scan(device, values, result, op, 0.1);
    results.push_back(bytes_of(result));
    segmented_inclusive_scan(device, values, Segments::by_flags(heads), result, op);
    results.push_back(bytes_of(result));
    results.push_back(bytes_of(std::vector<float>{reduce<float>(device, values, op)}));
  }
  inclusive_scan(device, values, wide);
  results.push_back(bytes_of(wide));
  results.push_back(
      bytes_of(std::vector<double>{reduce<double>(device, values, Operator::sum), mean(device, values)}));
  host::inclusive_scan(device, values.data(), result.data(), n, std::plus<float>(), 0.0F);
  results.push_back(bytes_of(result));
  return results;
}

TEST(HostScan, BytesDoNotDependOnTheNumberOfThreads) {
  for (const std::int64_t n : sizes()) {
    const std::vector<float> values = random_floats(n);
    const auto expected = float_results(with_threads()[0], values);
    for (const Device& device : with_threads())
      for (int run = 0; run < 3; ++run) ASSERT_TRUE(float_results(device, values) == expected) << n;
  }
}

/// More threads than cores, and one alone. Every other thread is late.
TEST(HostScan, ChainsOnThreadsOfTheirOwn) {
  const std::int64_t n = 20011;
  const std::vector<Affine> maps = random_maps(n);
  std::vector<Affine> expected(maps.size());
  std::inclusive_scan(maps.begin(), maps.end(), expected.begin(), compose);
  for (const int threads : {1, 2, 3, 7, 40}) {
    const auto in_blocks = [=](std::int64_t blocks, const auto& body) {
      std::atomic<std::int64_t> next{0};
      std::vector<std::thread> workers;
      for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
          for (std::int64_t block = next++; block < blocks; block = next++) {
            if ((block + t) % 2 == 0) std::this_thread::yield();
            body(block);
          }
        });
      for (std::thread& worker : workers) worker.join();
    };
    std::vector<Affine> found(maps.size());
    const Affine all = host::chained_scan<false>(
        in_blocks, n, 100, Affine{1, 0}, Affine{1, 0}, compose,
        [&](std::int64_t i) { return maps[static_cast<std::size_t>(i)]; },
        [&](std::int64_t i, const Affine& state) { found[static_cast<std::size_t>(i)] = state; });
    EXPECT_EQ(all, expected.back()) << threads;
    EXPECT_TRUE(found == expected) << threads;
  }
}

TEST(HostScan, BytesDoNotDependOnTheSimdTarget) {
  const std::vector<float> values = random_floats(70001);
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::vector<std::vector<std::byte>> expected;
  for (const std::int64_t target : targets) {
    const ForcedTarget forced(target);
    const auto found = float_results(cpu(), values);
    if (expected.empty()) expected = found;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(found[i] == expected[i]) << hwy::TargetName(target) << ", result " << i;
    for_every_sum([&]<class In, class Out>(Operator op) {
      const std::vector<In> numbers = random_values<In>(1025, 3);
      std::vector<Out> result(numbers.size());
      inclusive_scan(cpu(), numbers, result, op);
      Out running = identity_of<Out>(op);
      for (std::size_t i = 0; i < numbers.size() && !(std::floating_point<In> && op == Operator::product);
           ++i) {
        running = combined(op, running, static_cast<Out>(numbers[i]));
        ASSERT_EQ(result[i], running) << hwy::TargetName(target);
      }
    });
  }
}

TEST(HostScan, ExceptionsReachTheCaller) {
  const std::int64_t n = 1 << 20;
  const std::vector<std::uint32_t> values(static_cast<std::size_t>(n), 1);
  std::vector<std::uint32_t> result(values.size());
  for (const Device& device : with_threads())
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{16384}, std::int64_t{500000}, n - 1}) {
      const auto throwing = [=](std::uint32_t value, std::int64_t i) {
        if (i == at) throw std::runtime_error("value " + std::to_string(i));
        return value;
      };
      try {
        host::inclusive_scan(device, values.data(), result.data(), n, std::plus<std::uint32_t>(), 0U,
                             throwing, [](std::uint32_t state) { return state; });
        ADD_FAILURE() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "value " + std::to_string(at));
      }
      std::atomic<int> calls{0};
      const auto combine = [&](std::uint32_t a, std::uint32_t b) {
        if (++calls == at / 2) throw std::logic_error("combine");
        return a + b;
      };
      if (at > 0) {
        EXPECT_THROW(static_cast<void>(host::reduce(device, values.data(), n, combine, 0U)),
                     std::logic_error);
      }
    }
}

TEST(HostBlocks, RunOnceEach) {
  for (const Device& device : with_threads())
    for (const std::int64_t blocks : {0, 1, 2, 1000}) {
      std::mutex mutex;
      std::multiset<std::int64_t> seen;
      host::for_blocks(device, blocks, [&](std::int64_t block) {
        const std::lock_guard lock(mutex);
        seen.insert(block);
      });
      ASSERT_EQ(static_cast<std::int64_t>(seen.size()), blocks);
      std::int64_t next = 0;
      for (const std::int64_t block : seen) ASSERT_EQ(block, next++);
    }
  EXPECT_THROW(host::for_blocks(cpu(), 100,
                                [](std::int64_t block) {
                                  if (block == 57) throw std::runtime_error("57");
                                }),
               std::runtime_error);
}

TEST(HostBlocks, ACudaDeviceIsRefused) {
  if (!device_under_test().is_cuda()) GTEST_SKIP() << "needs a CUDA device";
  const std::vector<float> values(5);
  expect_error(ErrorKind::usage, "run on the device cpu",
               [&] { return host::reduce(device_under_test(), values.data(), 5, std::plus<float>(), 0.0F); });
}

}  // namespace
}  // namespace satin::test
