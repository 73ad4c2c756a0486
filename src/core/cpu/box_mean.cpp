// Box mean with one radius: no table. Every thread marches down a band of rows with running column sums (a row enters, a
// row leaves), scans them along the row, and takes differences of the prefixes.

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/rows_simd.h"
#include "core/cpu/store.h"
#include "core/maths/window.h"

namespace satin::cpu {
namespace {

/// What one thread needs: column sums of the inner and the outer whole window and their prefixes along the row.
template <class Sum>
struct Columns {
  std::vector<Sum> sums[2];
  std::vector<Sum> prefix[2];
  std::vector<Sum> values;  ///< one row of the source
};

template <class Sum>
class BoxMeanConstant final : public BoxMeanOperation {
 public:
  BoxMeanConstant(CpuBackend& backend, const BoxMeanJob& job)
      : backend_(backend),
        job_(job),
        windows_(job.radius.y % radius_one == 0 ? 1 : 2),
        bands_(std::clamp<std::int64_t>(job.height / smallest_band, 1, backend.threads())),
        columns_(static_cast<std::size_t>(bands_)) {
    const auto row = static_cast<std::size_t>(job.width * job.read.channels);
    for (Columns<Sum>& columns : columns_) {
      for (int window = 0; window < windows_; ++window) {
        columns.sums[window].resize(row);
        columns.prefix[window].resize(row);
      }
      columns.values.resize(row);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    const auto row = static_cast<std::size_t>(job_.width * job_.read.channels) * sizeof(Sum);
    return columns_.size() * row * (2 * static_cast<std::size_t>(windows_) + 1);
  }

  void run(const BoxMeanImages& images, Stream) override {
    const MeanStore store = mean_store(job_, images.measured);
    with_output(job_, [&]<int Channels, class T>() {
      parallel_rows(backend_, bands_, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t band = first; band < last; ++band)
          march<Channels, T>(store, images, job_.height * band / bands_, job_.height * (band + 1) / bands_,
                             columns_[static_cast<std::size_t>(band)]);
      });
    });
  }

 private:
  static constexpr std::int64_t smallest_band = 32;

  [[nodiscard]] std::int64_t reach_y() const { return job_.radius.y / radius_one; }

  template <int Channels, class T>
  void march(const MeanStore& store, const BoxMeanImages& images, std::int64_t first, std::int64_t last,
             Columns<Sum>& columns) {
    if (job_.radius.x == 0 && job_.radius.y == 0) {
      for (std::int64_t y = first; y < last; ++y) keep_row<Channels, T>(store, images, y);
      return;
    }
    for (int window = 0; window < windows_; ++window)
      sum_window(store.reader, images.source, window_around(first, reach_y() + window), columns.values,
                 columns.sums[window]);
    for (std::int64_t y = first; y < last; ++y) {
      for (int window = 0; window < windows_; ++window) {
        if (y > first) advance(store.reader, images.source, y, reach_y() + window, columns.values, columns.sums[window]);
        scan_row<Sum>(columns.sums[window].data(), static_cast<std::size_t>(job_.width), Channels, nullptr,
                      columns.prefix[window].data());
      }
      mean_row<Channels, T>(store, images, y, columns);
    }
  }

  /// Column sums over one window of rows, each row as often as the border makes it appear.
  void sum_window(const RowReader& reader, const ImageView& source, Window window, std::vector<Sum>& values,
                  std::vector<Sum>& sums) const {
    std::vector<Sum> times(static_cast<std::size_t>(job_.height), 0);
    for (std::int64_t position = window.low; position <= window.high; ++position) {
      const std::int64_t y = source_of(position, job_.height, job_.border);
      if (y >= 0) ++times[static_cast<std::size_t>(y)];
    }
    std::fill(sums.begin(), sums.end(), Sum{0});
    for (std::int64_t y = 0; y < job_.height; ++y) {
      const Sum factor = times[static_cast<std::size_t>(y)];
      if (factor == 0) continue;
      read_row(reader, source.at(0, y), static_cast<std::size_t>(job_.width), values.data());
      if (factor != 1) std::for_each(values.begin(), values.end(), [factor](Sum& value) { value *= factor; });
      add(values.data(), values.size(), sums.data());
    }
  }

  /// From the window around y - 1 to the one around y.
  void advance(const RowReader& reader, const ImageView& source, std::int64_t y, std::int64_t reach,
               std::vector<Sum>& values, std::vector<Sum>& sums) const {
    const std::int64_t enters = source_of(y + reach, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - reach, job_.height, job_.border);
    if (enters == leaves) return;
    if (enters >= 0) {
      read_row(reader, source.at(0, enters), static_cast<std::size_t>(job_.width), values.data());
      add(values.data(), values.size(), sums.data());
    }
    if (leaves >= 0) {
      read_row(reader, source.at(0, leaves), static_cast<std::size_t>(job_.width), values.data());
      subtract(values.data(), values.size(), sums.data());
    }
  }

  template <int Channels, class T>
  void keep_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y) {
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x) keep_pixel<Channels>(store, job_, images, x, y, out + x * Channels);
  }

  template <int Channels, class T>
  void mean_row(const MeanStore& store, const BoxMeanImages& images, std::int64_t y, const Columns<Sum>& columns) {
    const AxisBox along_y = axis_box(y, job_.height, job_.radius.y, job_.border);
    const std::int64_t middle_first = std::min(job_.radius.x / radius_one + 1, static_cast<std::int32_t>(job_.width));
    const std::int64_t middle_last = job_.width - middle_first;
    const bool middle = middle_last > middle_first && divide_middle<Channels, T>(images, y, along_y, columns,
                                                                                 middle_first, middle_last);
    T* out = images.output.row<T>(y);
    for (std::int64_t x = 0; x < job_.width; ++x) {
      if (middle && x == middle_first) x = middle_last;
      mean_pixel<Channels, T>(store, images, x, y, along_y, columns, out + x * Channels);
    }
  }

  /// The pixels of a row whose windows lie inside along x, if their means are plain quotients of 32-bit sums.
  template <int Channels, class T>
  bool divide_middle(const BoxMeanImages& images, std::int64_t y, const AxisBox& along_y, const Columns<Sum>& columns,
                     std::int64_t first, std::int64_t last) {
    if constexpr (sizeof(Sum) == 4 && sizeof(T) <= 2) {
      const std::int64_t reach = job_.radius.x / radius_one;
      const std::uint64_t area = along_y.size * static_cast<std::uint64_t>(2 * reach + 1);
      const bool plain = job_.read.transfer == Transfer::identity && !job_.read.weighted && job_.read.fraction == 0 &&
                         job_.mask_maximum == 0 && job_.border != Border::constant && windows_ == 1 &&
                         job_.radius.x % radius_one == 0 && area * (job_.read.maximum + 1) < 0x80000000ULL;
      if (!plain) return false;
      const Sum* prefix = columns.prefix[0].data();
      divide_differences(prefix + (first + reach) * Channels, prefix + (first - reach - 1) * Channels,
                         static_cast<std::size_t>((last - first) * Channels), static_cast<std::uint32_t>(area),
                         images.output.row<T>(y) + first * Channels);
      return true;
    }
    return false;
  }

  template <int Channels, class T>
  void mean_pixel(const MeanStore& store, const BoxMeanImages& images, std::int64_t x, std::int64_t y,
                  const AxisBox& along_y, const Columns<Sum>& columns, T* out) {
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
        window_sums<Channels>(columns.prefix[outer_y].data(), window_around(x, along_x.reach + outer_x), sums);
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
      for (int c = 0; c < Channels; ++c)
        sums[c] += static_cast<Sum>(terms.coefficient[i]) *
                   prefix[static_cast<std::int64_t>(terms.index[i]) * Channels + c];
    }
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  int windows_;  ///< 2 for a fractional radius along y
  std::int64_t bands_;
  std::vector<Columns<Sum>> columns_;
};

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  if (job.radius.from_map) return prepare_box_mean_map(backend, job);
  if (job.accumulator == Accumulator::u32)
    return std::make_unique<BoxMeanConstant<std::uint32_t>>(as_cpu(backend), job);
  return std::make_unique<BoxMeanConstant<std::uint64_t>>(as_cpu(backend), job);
}

}  // namespace satin::cpu
