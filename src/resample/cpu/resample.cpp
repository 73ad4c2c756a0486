// Resampling on the CPU, compiled for every SIMD target.
//
// A thread computes some rows of the result. It resamples each row of the picture that they depend on along x
// into a ring of rows, and sums rows of the ring for each row of the result.

#include "resample/resample.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "resample/cpu/resample.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "core/cpu/backend.h"
#include "core/workspace.h"
#include "pixels/cpu/pixelwise-inl.h"
#include "pixels/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t padding = 32;            ///< elements that vectors may read and write after a row
constexpr std::size_t entries_at_once = 1024;  ///< of a row of the result, whose sums fit the L1

/// Sets the working values of a row.
template <class Sum, class T>
void ReadValues(const T* source, std::size_t pixels, int channels, const ResampleRule& rule,
                [[maybe_unused]] const Sum* values_of_bytes, Sum* values) {
  const std::size_t count = pixels * static_cast<std::size_t>(channels);
  if constexpr (sizeof(T) == 1)
    if (!rule.weighted) {
      for (std::size_t i = 0; i < count; ++i) values[i] = values_of_bytes[source[i]];
      return;
    }
  const ResampleRule own = rule;
  for (std::size_t i = 0; i < count; i += static_cast<std::size_t>(channels))
    for (int c = 0; c < channels; ++c)
      values[i + static_cast<std::size_t>(c)] = resample_value<Sum>(source + i, c, channels, own);
}

/// Resamples a row along x. Vectors hold the channels of a pixel and are stored beyond it, in ascending
/// order.
template <int Channels, class Between>
void Across(const double* values, const AxisWeights& x, Between* row) {
  const hn::CappedTag<double, Channels == 1 ? 1 : Channels == 2 ? 2 : 4> d;
  const hn::Rebind<Between, decltype(d)> narrow;
  for (std::size_t i = 0; i < x.results(); ++i) {
    const double* from = values + static_cast<std::size_t>(x.first[i]) * Channels;
    const double* weights = x.of(i);
    const auto count = static_cast<std::size_t>(x.count[i]);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (std::size_t t = 0; t < count; ++t)
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, from + t * Channels + c), hn::Set(d, weights[t])));
      Between* to = row + i * Channels + c;
      if constexpr (sizeof(Between) == sizeof(double)) {
        hn::StoreU(sum, d, to);
      } else {
        hn::StoreU(hn::DemoteTo(narrow, sum), narrow, to);
      }
    }
  }
}

template <int Channels>
void Across(const std::uint64_t* values, const AxisWeights& x, std::uint64_t* row) {
  for (std::size_t i = 0; i < x.results(); ++i) {
    const std::uint64_t* from = values + static_cast<std::size_t>(x.first[i]) * Channels;
    const double* weights = x.of(i);
    std::array<std::uint64_t, static_cast<std::size_t>(Channels)> sums{};
    for (std::size_t t = 0; t < static_cast<std::size_t>(x.count[i]); ++t)
      for (std::size_t c = 0; c < Channels; ++c)
        sums[c] += from[t * Channels + c] * static_cast<std::uint64_t>(weights[t]);
    std::copy(sums.begin(), sums.end(), row + i * Channels);
  }
}

/// Sums entries of rows from entry `first` on.
template <class Between>
void Down(const Between* const* rows, const double* weights, std::size_t count, std::size_t first,
          std::size_t entries, double* sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<Between, decltype(d)> narrow;
  const auto load = [&](const Between* from) HWY_ATTR {
    if constexpr (sizeof(Between) == sizeof(double)) {
      return hn::LoadU(d, from);
    } else {
      return hn::PromoteTo(d, hn::LoadU(narrow, from));
    }
  };
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < entries; i += 2 * lanes) {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (std::size_t t = 0; t < count; ++t) {
      const auto weight = hn::Set(d, weights[t]);
      even = hn::Add(even, hn::Mul(load(rows[t] + first + i), weight));
      odd = hn::Add(odd, hn::Mul(load(rows[t] + first + i + lanes), weight));
    }
    hn::StoreU(even, d, sums + i);
    hn::StoreU(odd, d, sums + i + lanes);
  }
}

inline void Down(const std::uint64_t* const* rows, const double* weights, std::size_t count,
                 std::size_t first, std::size_t entries, std::uint64_t* sums) {
  std::fill_n(sums, entries, 0);
  for (std::size_t t = 0; t < count; ++t) {
    const auto weight = static_cast<std::uint64_t>(weights[t]);
    for (std::size_t i = 0; i < entries; ++i) sums[i] += rows[t][first + i] * weight;
  }
}

/// Sets values[i] to resample_quotient(sums[i], divisor, largest).
inline void Quotients(const double* sums, std::size_t count, double divisor, std::uint32_t largest,
                      std::uint32_t* values) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const auto own = hn::Set(d, divisor);
  const auto twice = hn::Set(d, divisor + divisor);
  const auto limit = hn::Set(d, static_cast<double>(largest));
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto sum = hn::LoadU(d, sums + i);
    const auto quotient = hn::Div(hn::Add(hn::Add(sum, sum), own), twice);
    const auto bounded = hn::Min(hn::Max(quotient, hn::Zero(d)), limit);
    hn::StoreU(hn::DemoteTo(integers, bounded), integers, reinterpret_cast<std::int32_t*>(values + i));
  }
}

inline void Quotients(const std::uint64_t* sums, std::size_t count, std::uint64_t divisor,
                      std::uint32_t largest, std::uint32_t* values) {
  for (std::size_t i = 0; i < count; ++i) values[i] = resample_quotient(sums[i], divisor, largest);
}

/// Stores sums without alpha.
template <class Sum, class T>
void StorePlain(const Sum* sums, std::size_t count, const ResampleRule& rule, T* out) {
  const Sum divisor = static_cast<Sum>(rule.total) * static_cast<Sum>(rule.unit);
  if constexpr (std::is_same_v<T, float>) {
    for (std::size_t i = 0; i < count; ++i) out[i] = finite_float(sums[i] / divisor);
  } else {
    std::array<std::uint32_t, entries_at_once + padding> values;
    Quotients(sums, count, divisor, decode(static_cast<T>(~T{0}), rule.transfer), values.data());
    EncodeWorking(values.data(), count, rule.transfer, out);
  }
}

template <class T, class Sum, class Between, int Channels>
class Resample final : public ResampleOperation {
 public:
  Resample(CpuBackend& backend, const ResampleJob& job, ResamplePlan plan)
      : backend_(backend),
        job_(job),
        plan_(std::move(plan)),
        rooms_(static_cast<std::size_t>(backend.threads.count())) {
    plan_.rule.transfer = host_transfer(job.read.type, job.read.transfer == Transfer::srgb);
    if constexpr (sizeof(T) == 1)
      for (std::size_t code = 0; code < values_of_bytes_.size(); ++code) {
        const auto stored = static_cast<std::uint8_t>(code);
        values_of_bytes_[code] =
            static_cast<Sum>(decode(stored, plan_.rule.transfer)) * static_cast<Sum>(plan_.rule.unit);
      }
    for (Room& room : rooms_) {
      room.values.resize(static_cast<std::size_t>(job.box.x.size()) * Channels + padding);
      room.ring.resize(plan_.y.most * row_entries());
      room.rows.resize(plan_.y.most);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rooms_.size() * (rooms_[0].values.size() * sizeof(Sum) + rooms_[0].ring.size() * sizeof(Between));
  }

  void run(const ResampleImages& images, Stream) override {
    const std::int64_t rows = images.output.shape.height;
    // A range of rows begins with an empty ring, so that many short ones would resample rows twice.
    const std::int64_t grain = std::clamp<std::int64_t>(rows / (4 * backend_.threads.count()), 8, 64);
    backend_.threads.for_rows(rows, grain, [&](std::int64_t first, std::int64_t last, int slot) HWY_ATTR {
      Room& room = rooms_[static_cast<std::size_t>(slot)];
      room.done = 0;
      for (std::int64_t y = first; y < last; ++y) Row(images, y, room);
    });
  }

 private:
  /// The workspace of a thread.
  struct Room {
    WorkspaceVector<Sum> values;
    WorkspaceVector<Between> ring;     ///< row i of the box is at i modulo the number of rows
    std::vector<const Between*> rows;  ///< rows of the ring that are summed
    std::int64_t done = 0;             ///< rows of the box up to this one are in the ring
  };

  [[nodiscard]] std::size_t row_entries() const { return plan_.x.results() * Channels + padding; }

  /// Returns a row of the box, whose first pixel is the box's.
  [[nodiscard]] const T* RowOfBox(const ResampleImages& images, std::int64_t row) const {
    return images.picture.row<T>(job_.box.y.first - images.first_read + row) + job_.box.x.first * Channels;
  }

  void Row(const ResampleImages& images, std::int64_t y, Room& room) const {
    const auto at = static_cast<std::size_t>(images.first + y);
    const std::int64_t first = plan_.y.first[at];
    const auto count = static_cast<std::size_t>(plan_.y.count[at]);
    for (std::size_t t = 0; t < count; ++t) {
      const std::int64_t row = first + static_cast<std::int64_t>(t);
      Between* resampled = room.ring.data() + static_cast<std::size_t>(row) % plan_.y.most * row_entries();
      room.rows[t] = resampled;
      if (row < room.done) continue;
      ReadValues<Sum>(RowOfBox(images, row), static_cast<std::size_t>(job_.box.x.size()), Channels,
                      plan_.rule, values_of_bytes_.data(), room.values.data());
      Across<Channels>(room.values.data(), plan_.x, resampled);
    }
    room.done = first + static_cast<std::int64_t>(count);
    const double* weights = plan_.y.of(at);
    T* out = images.output.row<T>(y);
    std::array<Sum, entries_at_once + padding> sums;
    const std::size_t entries = plan_.x.results() * Channels;
    constexpr std::size_t step = entries_at_once / Channels * Channels;
    for (std::size_t entry = 0; entry < entries; entry += step) {
      const std::size_t some = std::min(step, entries - entry);
      Down(room.rows.data(), weights, count, entry, some, sums.data());
      if (!plan_.rule.weighted) {
        StorePlain(sums.data(), some, plan_.rule, out + entry);
      } else {
        StoreWeighted(images, static_cast<std::int64_t>(at), entry, some, sums.data(), out + entry);
      }
    }
  }

  void StoreWeighted(const ResampleImages& images, std::int64_t y, std::size_t entry, std::size_t count,
                     const Sum* sums, T* out) const {
    const NearestAxis across{job_.box.x.size(), job_.result_width};
    const NearestAxis down{job_.box.y.size(), job_.result_height};
    for (std::size_t i = 0; i < count; i += Channels) {
      const auto original = [&] {
        const auto x = static_cast<std::int64_t>((entry + i) / Channels);
        return RowOfBox(images, down.pixel(y)) + across.pixel(x) * Channels;
      };
      store_resampled<Channels>(sums + i, original, plan_.rule, out + i);
    }
  }

  CpuBackend& backend_;
  ResampleJob job_;
  ResamplePlan plan_;
  std::array<Sum, 256> values_of_bytes_{};
  std::vector<Room> rooms_;
};

inline Prepared<ResampleJob> PrepareResample(Backend& backend, const ResampleJob& job) {
  ResamplePlan plan = resample_plan(job);
  return with_resample_types(job.read.type, plan.sums, [&]<class T, class Sum, class Between>() {
    return with_channels(job.read.channels, [&]<int Channels>() -> Prepared<ResampleJob> {
      return std::make_unique<Resample<T, Sum, Between, Channels>>(as_cpu(backend), job, std::move(plan));
    });
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareResample);

Prepared<ResampleJob> prepare_resample(Backend& backend, const ResampleJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareResample)(backend, job);
}

}  // namespace satin::cpu
#endif
