// The guided filter without tables: every thread has a tile of whole rows, which running column sums slide
// down: of the values and their products, and of the coefficients that come from them. Coefficients that
// enter a window are kept until they leave it while they are few; otherwise they are made once more then, so
// that memory does not grow with the radius.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "guided/cpu/local_linear.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "guided/cpu/linear_moments-inl.h"
#include "guided/local_linear.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/maths/real_pixel.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// The most memory that a thread keeps coefficients in. AVX-512, one thread, UHD RGB at radius 16, where 12.5
/// MB are kept: 27 ns a pixel instead of 40; at radius 64, which would take 48 MB: 36 instead of 38.
constexpr std::size_t most_kept_bytes = std::size_t{16} << 20;

/// All rows of a window and the next one, or one.
inline std::int64_t KeptRows(const LocalLinearJob& job) {
  const std::int64_t rows = std::min(2 * job.reach_y + 2, job.height);
  const auto row_bytes = static_cast<std::size_t>(job.width * job.layout.coefficients()) * 8;
  return row_bytes <= most_kept_bytes / static_cast<std::size_t>(rows) ? rows : 1;
}

/// Means of the coefficients over the windows of one row after another.
template <class Sum>
class SlidingCoefficients {
 public:
  explicit SlidingCoefficients(const LocalLinearJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        planes_(static_cast<std::size_t>(job.layout.coefficients())),
        ahead_(job, KeptRows(job)),
        behind_(job, 1),
        sums_(width_ * planes_),
        nothing_(width_ * planes_),
        prefixes_(job, job.layout.coefficients()),
        counts_(width_),
        guides_(width_ * static_cast<std::size_t>(job.layout.guides)),
        results_(width_ * static_cast<std::size_t>(job.layout.channels)) {
    for (std::size_t x = 0; x < width_; ++x)
      counts_[x] = static_cast<double>(
          counted(window_around(static_cast<std::int64_t>(x), job.reach_x), job.width, job.border));
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return ahead_.bytes() + behind_.bytes() + prefixes_.bytes() + guides_.size() * 4 +
           (sums_.size() + nothing_.size() + counts_.size() + results_.size()) * 8;
  }

  void start(const LinearRun& run, std::int64_t y) {
    ahead_.reset();
    behind_.reset();
    CountRows(y, job_.reach_y, job_.height, job_.border, times_);
    std::fill(sums_.begin(), sums_.end(), 0);
    for (std::int64_t row = 0; row < job_.height; ++row) {
      const std::uint64_t times = times_[static_cast<std::size_t>(row)];
      if (times == 0) continue;
      const std::uint64_t* enters = ahead_.row(run, counts_.data(), row);
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += times * enters[i];
    }
  }

  void advance(const LinearRun& run, std::int64_t y) {
    const std::int64_t enters = source_of(y + job_.reach_y, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - job_.reach_y, job_.height, job_.border);
    if (enters == leaves) return;
    const std::uint64_t* left = nothing_.data();
    if (leaves >= 0) {
      left = enters >= 0 && ahead_.share_place(enters, leaves) ? nullptr : ahead_.find(leaves);
      if (left == nullptr) left = behind_.row(run, counts_.data(), leaves);
    }
    Exchange(enters < 0 ? nothing_.data() : ahead_.row(run, counts_.data(), enters), left, sums_.size(),
             sums_.data());
  }

  /// Results of row y in steps of the picture, a plane for every channel.
  const double* results(const LinearRun& run, std::int64_t y) {
    prefixes_.scan_planes(sums_.data());
    PrefixRow<std::uint64_t> windows{job_.layout,      prefixes_.data(), prefixes_.stride(),
                                     prefixes_.span(), counts_.data(),   0};
    windows.count_of_rows =
        static_cast<double>(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    ValueRows guides{};
    ReadLinearRows(job_.guide, run.guide_exponents, run.guide, 0, job_.layout.guides, y, guides_.data());
    for (std::size_t i = 0; i * width_ < guides_.size(); ++i) guides[i] = guides_.data() + i * width_;
    Results(windows, job_.format, guides, width_, results_.data());
    return results_.data();
  }

 private:
  const LocalLinearJob& job_;
  std::size_t width_;
  std::size_t planes_;
  CoefficientRows<Sum> ahead_;
  CoefficientRows<Sum> behind_;
  WorkspaceVector<std::uint64_t> sums_;  ///< of columns of coefficients
  WorkspaceVector<std::uint64_t> nothing_;
  PlanePrefixes<std::uint64_t> prefixes_;
  WorkspaceVector<double> counts_;  ///< pixels of the windows along x
  WorkspaceVector<std::int32_t> guides_;
  WorkspaceVector<double> results_;
  WorkspaceVector<std::uint64_t> times_;
};

template <class Sum>
class LocalLinear final : public LocalLinearOperation {
 public:
  LocalLinear(CpuBackend& backend, const LocalLinearJob& job)
      : backend_(backend),
        job_(job),
        tiles_down_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())) {
    for (std::int64_t i = 0; i < tiles_down_; ++i)
      tiles_.push_back(std::make_unique<SlidingCoefficients<Sum>>(job_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return tiles_.front()->bytes() * tiles_.size();
  }

  void run(const LocalLinearImages& images, Stream) override {
    const LinearRun run{images.picture, images.guide, linear_exponents(job_.picture, images.measured),
                        linear_exponents(job_.guide, images.guide_measured)};
    if (images.guide_measured != images.measured)
      images.measured->guide_not_finite = images.guide_measured->picture_not_finite;
    const std::int64_t tallest = (job_.height + tiles_down_ - 1) / tiles_down_;
    for (std::int64_t done = 0; done < tallest; done += rows_at_once)
      parallel_rows(backend_, tiles_down_, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) run_rows(images, run, i, done);
      });
  }

 private:
  static constexpr std::int64_t smallest_tile = 32;
  static constexpr std::int64_t rows_at_once = 32;  ///< of every tile, before the run's watch is asked

  /// The next rows of a tile, of which so many are done.
  void run_rows(const LocalLinearImages& images, const LinearRun& run, std::int64_t index,
                std::int64_t done) {
    SlidingCoefficients<Sum>& tile = *tiles_[static_cast<std::size_t>(index)];
    const std::int64_t top = job_.height * index / tiles_down_;
    const std::int64_t bottom = job_.height * (index + 1) / tiles_down_;
    for (std::int64_t y = top + done; y < std::min(top + done + rows_at_once, bottom); ++y) {
      y == top ? tile.start(run, y) : tile.advance(run, y);
      store_row(images, run, tile.results(run, y), y);
    }
  }

  void store_row(const LocalLinearImages& images, const LinearRun& run, const double* results,
                 std::int64_t y) const {
    with_pixel_type(job_.picture.type, [&]<class T>() {
      if constexpr (!std::is_same_v<T, float>)
        if (!job_.picture.weighted && job_.mask_maximum == 0)
          return store_integers(results, images.output.row<T>(y));
      with_channels(job_.picture.channels,
                    [&]<int Channels>() { store_pixels<Channels, T>(images, run, results, y); });
    });
  }

  template <class T>
  void store_integers(const double* results, T* out) const {
    const auto channels = static_cast<std::size_t>(job_.picture.channels);
    const auto width = static_cast<std::size_t>(job_.width);
    constexpr std::uint32_t white = static_cast<T>(~T{0});
    for (int c = 0; c < job_.picture.channels; ++c, results += width) {
      T* to = out + stored_channel(job_.picture, c);
      for (std::size_t x = 0; x < width; ++x)
        to[x * channels] = static_cast<T>(nearest_integer(results[x], white));
    }
  }

  template <int Channels, class T>
  void store_pixels(const LocalLinearImages& images, const LinearRun& run, const double* results,
                    std::int64_t y) const {
    const StoreRule rule{job_.picture.weighted, job_.mask_maximum, {}};
    const T* original = images.picture.row<T>(y);
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, original += Channels, out += Channels) {
      double values[static_cast<std::size_t>(Channels)];
      for (int c = 0; c < Channels; ++c) {
        const int at = stored_channel(job_.picture, c);
        const double rest = linear_value(original, c, job_.picture, run.picture_exponents).rest;
        values[at] =
            (results[c * job_.width + x] + rest) * linear_step(job_.picture, at, run.picture_exponents);
      }
      store_real_pixel<Channels>(values, original, mask_at(images.mask, x, y), rule, out);
    }
  }

  CpuBackend& backend_;
  LocalLinearJob job_;
  std::int64_t tiles_down_;
  std::vector<std::unique_ptr<SlidingCoefficients<Sum>>> tiles_;
};

inline Prepared<LocalLinearJob> PrepareLocalLinear(Backend& backend, const LocalLinearJob& job) {
  if (job.narrow) return std::make_unique<LocalLinear<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<LocalLinear<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLocalLinear);

Prepared<LocalLinearJob> prepare_local_linear(Backend& backend, const LocalLinearJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLocalLinear)(backend, job);
}

}  // namespace satin::cpu
#endif
