#pragma once
// The kernels of this folder with their arrays, the same functions of CUB, and the library's results.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "../expected.h"
#include "../inputs.h"
#include "../study.h"
#include "bins.cuh"
#include "blocks.cuh"
#include "chained.cuh"
#include "split_sort.cuh"

namespace study::gpu {

constexpr Index guard = 64;  // elements behind a result, which must not change
constexpr int poison = 0xAB;

/// A kernel with its arrays, at one size.
class KernelStudy {
 public:
  KernelStudy() = default;
  KernelStudy(const KernelStudy&) = delete;
  KernelStudy& operator=(const KernelStudy&) = delete;
  virtual ~KernelStudy() = default;

  virtual void poison_results() = 0;
  virtual void run() = 0;
  [[nodiscard]] virtual std::string difference() const = 0;  ///< difference from the library's result
  [[nodiscard]] virtual Index bytes() const = 0;             ///< least traffic

  /// Returns CUB's function with the same result; empty if there is none.
  [[nodiscard]] virtual std::function<void()> peer() { return {}; }
};

/// A result array with guards behind it.
template <class T>
class Result {
 public:
  explicit Result(Index n) : n_(n), array_(n + guard) {}
  [[nodiscard]] T* data() const { return array_.data(); }
  void poison_all() { array_.fill_bytes(poison); }

  /// Returns compare(results) if the guards did not change.
  template <class Compare>
  [[nodiscard]] std::string check(Compare compare) const {
    const std::vector<T> all = array_.download();
    const auto* bytes = reinterpret_cast<const unsigned char*>(all.data());
    for (std::size_t i = static_cast<std::size_t>(n_) * sizeof(T); i < all.size() * sizeof(T); ++i)
      if (bytes[i] != poison) return "wrote behind the end";
    return compare(std::span(all).first(static_cast<std::size_t>(n_)));
  }

 private:
  Index n_;
  DeviceArray<T> array_;
};

/// Returns a call of a function of CUB with its workspace, whose size it asks for once.
template <class Call>
std::function<void()> with_workspace(Call call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  auto workspace = std::make_shared<DeviceArray<std::byte>>(static_cast<Index>(bytes));
  return [call, bytes, workspace] {
    std::size_t size = bytes;
    check(call(workspace->data(), size));
  };
}

struct LoadWord {
  const std::uint32_t* x;
  __device__ std::uint32_t operator()(Index i) const { return x[i]; }
};
struct LoadFlagged {
  const std::uint8_t* heads;
  const std::uint32_t* x;
  __device__ Flagged operator()(Index i) const { return {heads[i], x[i]}; }
};
struct LoadSmoothed {
  const float* x;
  __device__ Smoothed operator()(Index i) const { return Smoothing::of(static_cast<double>(x[i])); }
};

struct WordOf {
  __device__ std::uint32_t operator()(std::uint32_t sum) const { return sum; }
  __device__ std::uint32_t operator()(const Flagged& state) const { return state.value; }
};
struct FloatOf {
  __device__ float operator()(const Smoothed& state) const { return static_cast<float>(state.value); }
};

template <class T, class Project>
struct StoreAs {
  T* y;
  Project project;
  template <class Value>
  __device__ void operator()(Index i, const Value& value) const {
    y[i] = project(value);
  }
};

template <class InBlock>
class BlocksStudy final : public KernelStudy {
 public:
  BlocksStudy(Index n, std::uint32_t seed)
      : n_(n), host_(random_words(n, seed)), x_(host_), y_(n), scan_(n) {}
  void poison_results() override { y_.poison_all(); }
  void run() override { scan_.run(x_.data(), y_.data(), n_); }
  [[nodiscard]] std::string difference() const override {
    return y_.check([&](auto got) { return study::difference(got, exclusive_sums(host_)); });
  }
  [[nodiscard]] Index bytes() const override { return 8 * n_; }
  [[nodiscard]] std::function<void()> peer() override {
    return with_workspace([x = x_.data(), y = y_.data(), n = n_](void* workspace, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(workspace, bytes, x, y, n);
    });
  }

 private:
  Index n_;
  std::vector<std::uint32_t> host_;
  DeviceArray<std::uint32_t> x_;
  Result<std::uint32_t> y_;
  ScanBlocks<InBlock> scan_;
};

/// A chained scan with any operator. `Input` owns the input: load(), the difference from the expected result,
/// and the bytes of a value.
template <class Input>
class ChainedStudy final : public KernelStudy {
 public:
  using Op = typename Input::Op;
  using Out = typename Input::Out;
  using Project = typename Input::Project;

  ChainedStudy(Index n, std::uint32_t seed) : n_(n), input_(n, seed), y_(n), scan_(n) {}
  void poison_results() override { y_.poison_all(); }
  void run() override { scan_.run(n_, input_.load(), StoreAs<Out, Project>{y_.data(), {}}); }
  [[nodiscard]] std::string difference() const override {
    return y_.check([&](std::span<const Out> got) { return input_.difference(got); });
  }
  [[nodiscard]] Index bytes() const override { return (Input::bytes + static_cast<Index>(sizeof(Out))) * n_; }
  [[nodiscard]] std::function<void()> peer() override {
    const auto in = thrust::make_transform_iterator(thrust::counting_iterator<Index>(0), input_.load());
    const auto out = thrust::make_transform_output_iterator(y_.data(), Project{});
    return with_workspace([in, out, n = n_](void* workspace, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(workspace, bytes, in, out, Op{}, n);
    });
  }

 private:
  Index n_;
  Input input_;
  Result<Out> y_;
  ScanChained<Op> scan_;
};

struct WordInput {
  using Op = Sum;
  using Out = std::uint32_t;
  using Project = WordOf;
  static constexpr Index bytes = 4;

  WordInput(Index n, std::uint32_t seed) : host(random_words(n, seed)), x(host) {}
  [[nodiscard]] LoadWord load() const { return {x.data()}; }
  [[nodiscard]] std::string difference(std::span<const Out> got) const {
    return study::difference(got, inclusive_sums(host));
  }
  std::vector<std::uint32_t> host;
  DeviceArray<std::uint32_t> x;
};

struct FlaggedInput {
  using Op = FlaggedSum;
  using Out = std::uint32_t;
  using Project = WordOf;
  static constexpr Index bytes = 5;

  FlaggedInput(Index n, std::uint32_t seed)
      : host(random_words(n, seed)), host_heads(random_heads(n, seed)), x(host), heads(host_heads) {}
  [[nodiscard]] LoadFlagged load() const { return {heads.data(), x.data()}; }
  [[nodiscard]] std::string difference(std::span<const Out> got) const {
    return study::difference(got, segmented_sums(host, host_heads));
  }
  std::vector<std::uint32_t> host;
  std::vector<std::uint8_t> host_heads;
  DeviceArray<std::uint32_t> x;
  DeviceArray<std::uint8_t> heads;
};

struct SmoothedInput {
  using Op = Smoothing;
  using Out = float;
  using Project = FloatOf;
  static constexpr Index bytes = 4;

  SmoothedInput(Index n, std::uint32_t seed) : host(random_floats(n, seed)), x(host) {}
  [[nodiscard]] LoadSmoothed load() const { return {x.data()}; }
  [[nodiscard]] std::string difference(std::span<const Out> got) const {
    return study::difference(got, moving_averages(host), 1e-6);
  }
  std::vector<float> host;
  DeviceArray<float> x;
};

class SortStudy final : public KernelStudy {
 public:
  SortStudy(Index n, std::uint32_t seed)
      : n_(n), host_(random_words(n, seed)), x_(host_), sort_(n), spare_(n) {}
  void poison_results() override { sort_.sorted().fill_bytes(poison); }
  void run() override { sort_.run(x_.data(), n_); }
  [[nodiscard]] std::string difference() const override {
    const std::vector<std::uint32_t> all = sort_.sorted().download();
    return study::difference(std::span(all).first(host_.size()), sorted_keys(host_));
  }
  [[nodiscard]] Index bytes() const override { return 8 * n_; }
  [[nodiscard]] std::function<void()> peer() override {
    return with_workspace([x = x_.data(), y = spare_.data(), n = n_](void* workspace, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(workspace, bytes, x, y, n);
    });
  }

 private:
  Index n_;
  std::vector<std::uint32_t> host_;
  DeviceArray<std::uint32_t> x_;
  SplitSort sort_;
  DeviceArray<std::uint32_t> spare_;
};

class BinStudy final : public KernelStudy {
 public:
  BinStudy(Index n, std::uint32_t seed) : BinStudy(random_floats(n, seed)) {}
  explicit BinStudy(std::vector<float> values)
      : n_(std::ssize(values)), host_(std::move(values)), x_(host_), y_(n_), bins_(n_, bin_count) {}
  void poison_results() override { y_.poison_all(); }
  void run() override { bins_.run(x_.data(), n_, y_.data()); }
  [[nodiscard]] std::string difference() const override {
    const BinnedValues expected = binned_values(host_, bin_count);
    if (bins_.counts() != expected.counts) return "other counts of bins";
    return y_.check([&](auto got) { return study::difference(got, expected.values, 0); });
  }
  [[nodiscard]] Index bytes() const override { return 8 * n_; }

 private:
  Index n_;
  std::vector<float> host_;
  DeviceArray<float> x_;
  Result<float> y_;
  ExtractBins bins_;
};

struct Kernel {
  const char* name;
  std::unique_ptr<KernelStudy> (*make)(Index n, std::uint32_t seed);
};

template <class S>
std::unique_ptr<KernelStudy> make_kernel(Index n, std::uint32_t seed) {
  return std::make_unique<S>(n, seed);
}

constexpr Kernel kernels[] = {
    {"hillis_steele_blocks", make_kernel<BlocksStudy<HillisSteeleInBlock<Sum, 1024>>>},
    {"blelloch_blocks", make_kernel<BlocksStudy<BlellochInBlock<Sum, 1024>>>},
    {"chained", make_kernel<ChainedStudy<WordInput>>},
    {"segmented", make_kernel<ChainedStudy<FlaggedInput>>},
    {"moving_average", make_kernel<ChainedStudy<SmoothedInput>>},
    {"bins", make_kernel<BinStudy>},
    {"split_sort", make_kernel<SortStudy>},
};

}  // namespace study::gpu
