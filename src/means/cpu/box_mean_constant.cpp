// Box mean with one radius: no table. Every thread has a tile of whole rows, which running column sums slide
// down; they are scanned along the row, and differences of the prefixes are taken. Integers and plain floats
// are divided row by row, masked alpha, floats with alpha and constant borders pixel by pixel. Compiled for
// every SIMD target.
//
// The table of box_mean_map.cpp gives the same bytes for more instructions: 512 x 512 floats of 4 channels at
// radius 16 (AVX2) 4.3 times those of rows, 1.3 times those of pixels.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/box_mean_constant.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "core/maths/window.h"
#include "means/box_mean.h"
#include "means/cpu/box_mean_ways.h"
#include "means/cpu/row_means-inl.h"
#include "means/cpu/store.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// What one thread needs: columns of the inner and the outer window of rows, and their prefixes along the
/// row.
template <class Sum>
struct RowTile {
  std::vector<RunningColumns<Sum>> columns;
  std::vector<std::vector<Sum>> prefixes;  ///< of the pixel-by-pixel way
  RowMeans<Sum> means;
};

template <class Sum>
class BoxMeanConstant final : public BoxMeanOperation {
 public:
  BoxMeanConstant(CpuBackend& backend, const BoxMeanJob& job)
      : backend_(backend),
        job_(job),
        in_rows_(RowMeans<Sum>::possible(job)),
        windows_(job.radius.y % radius_one == 0 ? 1 : 2),
        tiles_down_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())) {
    const auto row = static_cast<std::size_t>(job.width * job.read.channels);
    for (std::int64_t i = 0; i < tiles_down_; ++i) {
      RowTile<Sum>& tile = tiles_.emplace_back(RowTile<Sum>{{}, {}, RowMeans<Sum>(job, in_rows_)});
      for (int window = 0; window < windows_; ++window) {
        tile.columns.emplace_back(job.width, job.height, job.read.channels,
                                  job.radius.y / radius_one + window, job.border);
        if (!in_rows_) tile.prefixes.emplace_back(row);
      }
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const RowTile<Sum>& tile : tiles_) {
      bytes += tile.means.bytes();
      for (const auto& columns : tile.columns) bytes += columns.bytes();
      for (const auto& prefix : tile.prefixes) bytes += prefix.size() * sizeof(Sum);
    }
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream) override {
    const MeanStore store = mean_store(job_, images.measured);
    with_output(job_, [&]<int Channels, class T>() {
      parallel_rows(backend_, tiles_down_, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
          slide<Channels, T>(store, images, job_.height * i / tiles_down_,
                             job_.height * (i + 1) / tiles_down_, tiles_[static_cast<std::size_t>(i)]);
      });
    });
  }

 private:
  static constexpr std::int64_t smallest_tile = 32;

  template <int Channels, class T>
  void slide(const MeanStore& store, const BoxMeanImages& images, std::int64_t first, std::int64_t last,
             RowTile<Sum>& tile) {
    if (job_.radius.x == 0 && job_.radius.y == 0) {
      for (std::int64_t y = first; y < last; ++y) keep_row<Channels, T>(store, images, y);
      return;
    }
    for (std::int64_t y = first; y < last; ++y) {
      for (RunningColumns<Sum>& columns : tile.columns) {
        if (y == first) {
          columns.start(store.reader, images.source, y);
        } else {
          columns.advance(store.reader, images.source, y);
        }
      }
      if (in_rows_) {
        tile.means.template run<T>(tile.columns, store, images, y);
      } else {
        mean_row<Channels, T>(store, images, y, tile);
      }
    }
  }

  template <int Channels, class T>
  void keep_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y) {
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x)
      keep_pixel<Channels>(store, job_, images, x, y, out + x * Channels);
  }

  template <int Channels, class T>
  void mean_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y, RowTile<Sum>& tile) {
    for (std::size_t window = 0; window < tile.columns.size(); ++window)
      Scan(tile.columns[window].sums(), static_cast<std::size_t>(job_.width), Channels, nullptr,
           tile.prefixes[window].data());
    const AxisBox along_y = axis_box(y, job_.height, job_.radius.y, job_.border);
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x, out += Channels)
      mean_pixel<Channels, T>(store, images, x, y, along_y, tile.prefixes, out);
  }

  template <int Channels, class T>
  void mean_pixel(const MeanStore& store, const BoxMeanImages& images, std::int64_t x, std::int64_t y,
                  const AxisBox& along_y, const std::vector<std::vector<Sum>>& prefixes, T* out) {
    const std::uint32_t mask = mask_at(images.mask, x, y);
    if (mask == 0) return keep_pixel<Channels>(store, job_, images, x, y, out);
    const AxisBox along_x = axis_box(x, job_.width, job_.radius.x, job_.border);
    WideSum totals[4] = {};
    for (int outer_y = 0; outer_y < windows_; ++outer_y) {
      const std::uint64_t weight_y = outer_y == 0 ? along_y.inner : along_y.outer;
      for (int outer_x = 0; outer_x < 2; ++outer_x) {
        const std::uint64_t weight = weight_y * (outer_x == 0 ? along_x.inner : along_x.outer);
        if (weight == 0) continue;
        Sum sums[4];
        window_sums<Channels>(prefixes[static_cast<std::size_t>(outer_y)].data(),
                              window_around(x, along_x.reach + outer_x), sums);
        for (int c = 0; c < Channels; ++c) add_weighted(totals[c], weight, sums[c], job_.read.fixed_point);
      }
    }
    const std::uint64_t count = along_x.size * along_y.size;
    if (job_.border == Border::constant) {
      const std::uint64_t outside = count - along_x.existing * along_y.existing;
      for (int c = 0; c < Channels; ++c)
        add_weighted(totals[c], outside, store.rule.border_value[c], job_.read.fixed_point);
    }
    store_pixel<Channels>(store, images, x, y, totals, count, mask, out);
  }

  template <int Channels>
  void window_sums(const Sum* prefix, Window window, Sum* sums) const {
    if (window.low > 0 && window.high < job_.width) {
      for (int c = 0; c < Channels; ++c)
        sums[c] = prefix[window.high * Channels + c] - prefix[(window.low - 1) * Channels + c];
      return;
    }
    const PrefixTerms terms = prefix_terms(window, job_.width, job_.border);
    std::fill_n(sums, Channels, Sum{0});
    for (int i = 0; i < PrefixTerms::count; ++i) {
      if (terms.coefficient[i] == 0) continue;
      const Sum* entry = prefix + static_cast<std::int64_t>(terms.index[i]) * Channels;
      for (int c = 0; c < Channels; ++c) sums[c] += static_cast<Sum>(terms.coefficient[i]) * entry[c];
    }
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  bool in_rows_;
  int windows_;  ///< 2 for a fractional radius along y
  std::int64_t tiles_down_;
  std::vector<RowTile<Sum>> tiles_;
};

inline std::unique_ptr<BoxMeanOperation> PrepareBoxMeanConstant(CpuBackend& backend, const BoxMeanJob& job) {
  if (narrow_sums(job)) return std::make_unique<BoxMeanConstant<std::uint32_t>>(backend, job);
  return std::make_unique<BoxMeanConstant<std::uint64_t>>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareBoxMeanConstant);

std::unique_ptr<BoxMeanOperation> prepare_box_mean_constant(CpuBackend& backend, const BoxMeanJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareBoxMeanConstant)(backend, job);
}

}  // namespace satin::cpu
#endif
