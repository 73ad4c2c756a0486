// Sums of values under labels: runs of one label, then a small table of each thread by label, then the sums
// of all threads by atomic operations. Integers: their order does not matter.

#include "masks/maths/region_values.h"

#include <algorithm>
#include <atomic>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "masks/region_values.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t rows_at_once = 64;
constexpr std::size_t slots = 1024;

void add_atomically(RegionSums& into, const RegionSums& part) {
  const auto add_to = [](std::uint64_t& sum, std::uint64_t value) {
    std::atomic_ref(sum).fetch_add(value, std::memory_order_relaxed);
  };
  add_to(into.sum, part.sum);
  add_to(into.squares_low, part.squares_low);
  add_to(into.squares_high, part.squares_high);
  const std::atomic_ref smallest(into.smallest);
  for (std::uint32_t seen = smallest.load(std::memory_order_relaxed);
       part.smallest < seen &&
       !smallest.compare_exchange_weak(seen, part.smallest, std::memory_order_relaxed);) {
  }
  const std::atomic_ref largest(into.largest);
  for (std::uint32_t seen = largest.load(std::memory_order_relaxed);
       part.largest > seen &&
       !largest.compare_exchange_weak(seen, part.largest, std::memory_order_relaxed);) {
  }
}

/// Sums of the labels that were met last, one slot for all labels of one remainder.
class RecentSums {
 public:
  RecentSums(RegionSums* all, int channels)
      : all_(all), channels_(static_cast<std::size_t>(channels)), labels_(slots), sums_(slots * channels_) {}

  /// One for each channel.
  RegionSums* of(std::uint32_t label) {
    const std::size_t slot = label % slots;
    if (labels_[slot] != label) {
      write(slot);
      labels_[slot] = label;
      std::fill_n(&sums_[slot * channels_], channels_, RegionSums{});
    }
    return &sums_[slot * channels_];
  }

  void write_all() {
    for (std::size_t slot = 0; slot < slots; ++slot) write(slot);
  }

 private:
  void write(std::size_t slot) {
    if (labels_[slot] == 0) return;
    RegionSums* into = all_ + (labels_[slot] - std::size_t{1}) * channels_;
    for (std::size_t c = 0; c < channels_; ++c) add_atomically(into[c], sums_[slot * channels_ + c]);
  }

  RegionSums* all_;
  std::size_t channels_;
  WorkspaceVector<std::uint32_t> labels_;  ///< 0: free
  WorkspaceVector<RegionSums> sums_;
};

template <class T>
class SumRegionValues final : public RegionValuesOperation {
 public:
  SumRegionValues(CpuBackend& backend, const RegionValuesJob& job) : backend_(backend), job_(job) {}

  void run(const ImageView& labels, const ImageView& picture, const Measured* measured, std::uint32_t count,
           RegionSums* sums, Stream) override {
    const int exponent = measured == nullptr ? 0 : fixed_exponent(measured->largest[0], job_.fixed_bits);
    std::fill_n(sums, static_cast<std::size_t>(count) * static_cast<std::size_t>(job_.channels),
                RegionSums{});
    parallel_rows(backend_, job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last) {
      RecentSums recent(sums, job_.channels);
      for (std::int64_t y = first; y < last; ++y)
        sum_row(labels.row<std::uint32_t>(y), picture.row<T>(y), exponent, recent);
      recent.write_all();
    });
  }

 private:
  void sum_row(const std::uint32_t* labels, const T* pixels, int exponent, RecentSums& recent) const {
    for (std::int64_t begin = 0; begin < job_.width;) {
      const std::uint32_t label = labels[begin];
      std::int64_t end = begin + 1;
      while (end < job_.width && labels[end] == label) ++end;
      if (label != 0) {
        RegionSums* sums = recent.of(label);
        for (int c = 0; c < job_.channels; ++c) {
          RegionSums run;
          for (std::int64_t x = begin; x < end; ++x)
            include(run, pixels[x * job_.channels + c], exponent, job_.fixed_bits);
          add(sums[c], run);
        }
      }
      begin = end;
    }
  }

  CpuBackend& backend_;
  RegionValuesJob job_;
};

}  // namespace

Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job) {
  switch (job.type) {
    case Type::u8:
      return std::make_unique<SumRegionValues<std::uint8_t>>(as_cpu(backend), job);
    case Type::u16:
      return std::make_unique<SumRegionValues<std::uint16_t>>(as_cpu(backend), job);
    default:
      return std::make_unique<SumRegionValues<float>>(as_cpu(backend), job);
  }
}

}  // namespace satin::cpu
