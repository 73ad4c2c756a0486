#pragma once
// Means of one row from 64-bit sums over windows, as floats, as working values or as 16-bit codes: a lane
// writes the pixels of its own columns.

#include <cstdint>
#include <type_traits>

#include "kernels/device/vector.cuh"
#include "kernels/device/wide_division.cuh"
#include "kernels/means/encode16.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"

namespace satin::kernels {

/// Signed sums over the whole boxes that a box with parts of pixels is mixed from, to double precision: to be
/// added in the order of add_weighted() (means/maths/mean.h).
struct FloatTotals {
  double estimate[running_elements] = {};
  std::uint32_t weight = 1;  ///< of the rows that were summed

  __device__ void set(int e, std::uint64_t sum) { add(e, sum, weight); }
  __device__ void mix(int e, std::uint64_t inner, std::uint64_t outer, const RunningWindow& window) {
    add(e, inner, weight * window.inner);
    add(e, outer, weight * window.outer);
  }

 private:
  __device__ void add(int e, std::uint64_t sum, std::uint32_t weight_of_box) {
    estimate[e] =
        estimate[e] + static_cast<double>(weight_of_box) * __ll2double_rn(static_cast<long long>(sum));
  }
};

/// T: of the values, Out: of the means of floats; others are of 16 or 32 bits. `ByBoxes`: of floats, with a
/// fractional radius.
template <class T, class Out, int Channels, bool ByBoxes>
class WideMeans : public LaneOfWindows<Channels, std::uint64_t> {
  using Base = LaneOfWindows<Channels, std::uint64_t>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::elements, Base::pixels;
  static constexpr bool floats = std::is_same_v<T, float> || sizeof(T) == 8;

 public:
  using Sums = std::conditional_t<ByBoxes, FloatTotals, WindowSums<std::uint64_t>>;

  template <class... Arguments>
  __device__ explicit WideMeans(const RunningMeanArguments& arguments, const Arguments&... others)
      : Base(arguments, others...) {
    if constexpr (floats) exponent_ = fixed_exponents(*arguments.measured, arguments.job.fixed_bits).colour;
  }

  __device__ void sum(int prefixes, Sums& sums) const {
    Base::template sum<!floats || ByBoxes>(prefixes, sums);
  }

  __device__ void write(int y, const Sums& sums) {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    if (whole_ && size_y != size_y_) {
      size_y_ = size_y;
      whole_division_ = division_by(this->whole_divisor(size_y));
    }
    if constexpr (!floats) {
      write_integers(y, size_y, sums);
    } else if constexpr (ByBoxes) {
      write_floats(y, size_y, [&](int e) { return sums.estimate[e]; });
    } else if constexpr (std::is_same_v<Out, float>) {
      write_floats(y, size_y, [&](int e) { return signed_sum(sums.total[e]); });
    } else {
      std::uint64_t means[elements];
      divide(size_y, [&](const WideDivisor& by, int e) {
        means[e] = by.rounded(sums.total[e], signed_sum(sums.total[e]));
      });
      store(y, means);
    }
  }

 private:
  [[nodiscard]] __device__ static double signed_sum(std::uint64_t sum) {
    return __ll2double_rn(static_cast<long long>(sum));
  }

  template <class Total>
  __device__ void write_floats(int y, std::uint32_t size_y, const Total& total) const {
    float means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      means[e] = static_cast<float>(FloatDivision(by, exponent_)(total(e)));
    });
    store(y, means);
  }

  __device__ void write_integers(int y, std::uint32_t size_y, const WindowSums<std::uint64_t>& sums) const {
    const RunningMeanJob& job = arguments_.job;
    const int more_bits = max(job.more_bits, 0);
    std::uint32_t means[elements];
    divide(size_y, [&](const WideDivisor& by, int e) {
      const std::uint64_t total = sums.total[e] << more_bits;
      means[e] = static_cast<std::uint32_t>(by.rounded(total, __ull2double_rn(total)));
    });
    if constexpr (sizeof(T) == 4) {
      if (job.output == Type::u16) return write_codes(y, means);
    }
    store(y, means);
  }

  __device__ void write_codes(int y, std::uint32_t (&means)[elements]) const {
    if (arguments_.transfer.thresholds != nullptr) encode16(means, arguments_.transfer);
    StoredLane<std::uint16_t, Channels> lane;
    lane.pack(means);
    lane.store(this->template target_of<std::uint16_t>(y), valid_, pixels);
  }

  template <class Stored>
  __device__ void store(int y, const Stored (&means)[elements]) const {
    using Group = Vector<Stored, 16 / sizeof(Stored)>;
    auto* to = reinterpret_cast<Stored*>(this->template target_of<Stored>(y));
    const int count = valid_ * Channels;
    if (count == elements && reinterpret_cast<std::uintptr_t>(to) % sizeof(Group) == 0) {
#pragma unroll
      for (int e = 0; e < elements; e += Group::count) {
        Group group;
#pragma unroll
        for (int k = 0; k < Group::count; ++k) group.of[k] = means[e + k];
        *reinterpret_cast<Group*>(to + e) = group;
      }
      return;
    }
#pragma unroll
    for (int e = 0; e < elements; ++e)
      if (e < count) to[e] = means[e];
  }

  /// use(divisor of the element's pixel, element). That of whole windows is kept from row to row.
  template <class Use>
  __device__ void divide(std::uint32_t size_y, const Use& use) const {
    const auto make = [this](std::uint64_t divisor) {
      return whole_ ? whole_division_ : division_by(divisor);
    };
    this->for_each_element(size_y, make, use);
  }

  [[nodiscard]] __device__ WideDivisor division_by(std::uint64_t divisor) const {
    return WideDivisor(divisor << max(-arguments_.job.more_bits, 0));
  }

  int exponent_ = 0;
  std::uint32_t size_y_ = 0;  ///< of the division that is kept
  WideDivisor whole_division_{1};
};

}  // namespace satin::kernels
