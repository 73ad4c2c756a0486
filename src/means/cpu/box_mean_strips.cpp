// Box mean with a radius for each pixel, of integers without alpha or mask, for radii up to largest_reach:
// strips of columns that march down the picture with the last rows of their own table in a ring that stays in
// the cache. The table covers the picture extended by its border, so that no window needs a case of its own;
// of shrink only the divisor does.

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "means/box_mean.h"
#include "means/cpu/box_mean_ways.h"
#include "means/cpu/gather_simd.h"
#include "means/cpu/store.h"
#include "pixels/cpu/rows.h"
#include "tables/cpu/scan_simd.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t largest_reach = 125;  // a ring of 256 rows
constexpr std::int64_t strip_width = 256;

/// What one thread needs for one strip.
template <class Sum>
struct Strip {
  std::vector<Sum> ring;
  std::vector<Sum> values;         ///< one extended row of the strip
  std::vector<Sum> row;            ///< the pixels of the picture in it
  std::vector<BoxOfRadius> boxes;  ///< of pixels whose box is not in the table of radii
  std::vector<const BoxOfRadius*> box_at;
  std::vector<std::uint32_t> means;
};

template <class Sum>
class BoxMeanStrips final : public BoxMeanOperation {
 public:
  BoxMeanStrips(CpuBackend& backend, const BoxMeanJob& job, std::int64_t reach)
      : backend_(backend),
        job_(job),
        channels_(static_cast<std::size_t>(job.read.channels)),
        halo_(reach + 1) {
    while (ring_rows_ < 2 * static_cast<std::size_t>(halo_) + 2) ring_rows_ *= 2;
    stride_ = static_cast<std::size_t>(std::min(strip_width, job.width) + 2 * halo_) * channels_;
    strips_.resize(static_cast<std::size_t>(backend.threads.count()));
    const auto pixels = static_cast<std::size_t>(strip_width);
    for (Strip<Sum>& strip : strips_) {
      strip.ring.resize(ring_rows_ * stride_ + gather_slack);
      strip.values.resize(stride_);
      strip.row.resize(stride_);
      strip.boxes.resize(pixels + 2 * static_cast<std::size_t>(halo_));
      strip.box_at.resize(strip.boxes.size());
      strip.means.resize(strip.boxes.size() * channels_ + gather_slack);
    }
    if (job.radius.map_type == Type::u8)
      for (std::uint32_t value = 0; value < 256; ++value)
        box_of_code_.push_back(box_of_radius(radius_from_map(value, 255, job.radius.low, job.radius.high)));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const Strip<Sum>& strip : strips_)
      bytes += (strip.ring.size() + strip.values.size() + strip.row.size()) * sizeof(Sum) +
               strip.means.size() * 4 + strip.boxes.size() * (sizeof(BoxOfRadius) + sizeof(void*));
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream) override {
    const MeanStore store = mean_store(job_, images.measured);
    const std::int64_t across = (job_.width + strip_width - 1) / strip_width;
    const std::int64_t down =
        across >= 2 * backend_.threads.count()
            ? 1
            : std::clamp<std::int64_t>(job_.height / (4 * halo_), 1, backend_.threads.count());
    backend_.threads.for_rows(across * down, 1, [&](std::int64_t first, std::int64_t last, int slot) {
      Strip<Sum>& strip = strips_[static_cast<std::size_t>(slot)];
      for (std::int64_t i = first; i < last; ++i) {
        const Columns columns{i % across * strip_width, std::min((i % across + 1) * strip_width, job_.width)};
        march(store, images, columns, job_.height * (i / across) / down,
              job_.height * (i / across + 1) / down, strip);
      }
    });
  }

 private:
  struct Columns {
    std::int64_t first;
    std::int64_t last;
  };

  void march(const MeanStore& store, const BoxMeanImages& images, Columns columns, std::int64_t first,
             std::int64_t last, Strip<Sum>& strip) const {
    std::int64_t built = first - halo_;  // rows of the extended picture that are in the ring, or were
    for (std::int64_t y = first; y < last; ++y) {
      for (; built <= y + halo_; ++built)
        build_row(store.reader, images.source, columns, built, first - halo_, strip);
      mean_row(store, images, columns, y, strip);
    }
  }

  [[nodiscard]] Sum* ring_row(Strip<Sum>& strip, std::int64_t position) const {
    const auto row = static_cast<std::size_t>(position + largest_reach + 1) & (ring_rows_ - 1);
    return strip.ring.data() + row * stride_;
  }

  /// One more row of the strip's table.
  void build_row(const RowReader& reader, const ImageView& source, Columns columns, std::int64_t position,
                 std::int64_t start, Strip<Sum>& strip) const {
    const auto pixels = static_cast<std::size_t>(columns.last - columns.first + 2 * halo_);
    const std::int64_t y = source_of(position, job_.height, job_.border);
    if (y < 0) {
      std::fill_n(strip.values.begin(), pixels * channels_, Sum{0});
    } else {
      read_extended(reader, source, columns, y, strip);
    }
    const Sum* above = position == start ? nullptr : ring_row(strip, position - 1);
    scan(strip.values.data(), pixels, job_.read.channels, above, ring_row(strip, position));
  }

  /// Working values of the strip's part of row y, with the border on either side.
  void read_extended(const RowReader& reader, const ImageView& source, Columns columns, std::int64_t y,
                     Strip<Sum>& strip) const {
    const std::int64_t first = columns.first - halo_;
    const std::int64_t inner_first = std::max<std::int64_t>(first, 0);
    const std::int64_t inner_last = std::min(columns.last + halo_, job_.width);
    Sum* values = strip.values.data();
    read_row(reader, source.at(inner_first, y), static_cast<std::size_t>(inner_last - inner_first),
             values + static_cast<std::size_t>(inner_first - first) * channels_);
    for (std::int64_t x = first; x < inner_first; ++x) read_outside(reader, source, x, y, values, first);
    for (std::int64_t x = inner_last; x < columns.last + halo_; ++x)
      read_outside(reader, source, x, y, values, first);
  }

  void read_outside(const RowReader& reader, const ImageView& source, std::int64_t x, std::int64_t y,
                    Sum* values, std::int64_t first) const {
    Sum* pixel = values + static_cast<std::size_t>(x - first) * channels_;
    const std::int64_t from = source_of(x, job_.width, job_.border);
    if (from < 0) {
      std::fill_n(pixel, channels_, Sum{0});
    } else {
      read_row(reader, source.at(from, y), 1, pixel);
    }
  }

  void mean_row(const MeanStore& store, const BoxMeanImages& images, Columns columns, std::int64_t y,
                Strip<Sum>& strip) const {
    choose_boxes(images.radius_map, columns, y, strip);
    const auto pixels = static_cast<std::size_t>(columns.last - columns.first);
    const auto halo = static_cast<std::size_t>(halo_);
    const RingTable<Sum> table{strip.ring.data(), stride_, ring_rows_ - 1};
    gather_means(table, static_cast<std::size_t>(y + largest_reach + 1), channels_, strip.box_at.data(), halo,
                 halo + pixels, strip.means.data());
    const std::uint32_t* means = strip.means.data() + halo * channels_;
    const std::size_t count = pixels * channels_;
    if (job_.write.type == Type::u8) {
      encode_row(means, count, store.rule.transfer,
                 images.output.row<std::uint8_t>(y) + columns.first * job_.read.channels);
    } else {
      encode_row(means, count, store.rule.transfer,
                 images.output.row<std::uint16_t>(y) + columns.first * job_.read.channels);
    }
  }

  /// The box of every pixel of a row of the strip.
  void choose_boxes(const ImageView& map, Columns columns, std::int64_t y, Strip<Sum>& strip) const {
    const Columns inside = unclipped(columns, y);
    for (std::int64_t x = columns.first; x < inside.first; ++x) choose_clipped(map, x, y, columns, strip);
    if (!box_of_code_.empty()) {
      const auto* codes = map.row<std::uint8_t>(y);
      const BoxOfRadius** boxes = strip.box_at.data() + halo_;
      for (std::int64_t x = inside.first; x < inside.last; ++x)
        boxes[x - columns.first] = &box_of_code_[codes[x]];
    } else {
      for (std::int64_t x = inside.first; x < inside.last; ++x)
        choose(box_of_radius(radius_at(job_.radius, map, x, y)), x, columns, strip);
    }
    for (std::int64_t x = inside.last; x < columns.last; ++x) choose_clipped(map, x, y, columns, strip);
  }

  /// The columns whose windows, of any radius of the map, lie in the picture, or need not.
  [[nodiscard]] Columns unclipped(Columns columns, std::int64_t y) const {
    if (job_.border != Border::shrink) return columns;
    if (y < halo_ || y + halo_ >= job_.height) return {columns.last, columns.last};
    const std::int64_t first = std::clamp(halo_, columns.first, columns.last);
    return {first, std::clamp(job_.width - halo_, first, columns.last)};
  }

  void choose(const BoxOfRadius& box, std::int64_t x, Columns columns, Strip<Sum>& strip) const {
    const auto i = static_cast<std::size_t>(x - columns.first + halo_);
    strip.boxes[i] = box;
    strip.box_at[i] = &strip.boxes[i];
  }

  /// The divisor is what of the window lies in the picture.
  void choose_clipped(const ImageView& map, std::int64_t x, std::int64_t y, Columns columns,
                      Strip<Sum>& strip) const {
    const Radius256 radius = radius_at(job_.radius, map, x, y);
    const std::uint64_t divisor = axis_box(x, job_.width, radius, job_.border).size *
                                  axis_box(y, job_.height, radius, job_.border).size;
    const std::uint64_t half = divisor / 2;
    BoxOfRadius box = box_of_radius(radius);
    box.half_up = static_cast<double>(half) + 0.5;
    box.reciprocal = 1.0 / static_cast<double>(divisor);
    choose(box, x, columns, strip);
  }

  CpuBackend& backend_;
  BoxMeanJob job_;
  std::size_t channels_;
  std::int64_t halo_;  ///< columns and rows that windows reach beyond the strip
  std::size_t ring_rows_ = 2;
  std::size_t stride_ = 0;                ///< entries of a row of the ring
  std::vector<BoxOfRadius> box_of_code_;  ///< of the values of an 8-bit map
  std::vector<Strip<Sum>> strips_;        ///< one a thread
};

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_strips(CpuBackend& backend, const BoxMeanJob& job) {
  const std::int64_t reach = (std::max(job.radius.low, job.radius.high) + radius_one - 1) / radius_one;
  const bool plain = !job.read.fixed_point && !job.read.weighted && job.read.fraction == 0 &&
                     job.mask_maximum == 0 && job.border != Border::constant &&
                     (job.write.type == Type::u8 || job.write.type == Type::u16);
  if (!plain || reach > largest_reach) return nullptr;
  const std::uint64_t box = largest_box(job.width, job.height, job.radius, job.border);
  if (box > (std::uint64_t{1} << 50) / (radius_one * radius_one) / (job.read.maximum + 1)) return nullptr;
  if (narrow_sums(job)) return std::make_unique<BoxMeanStrips<std::uint32_t>>(backend, job, reach);
  return std::make_unique<BoxMeanStrips<std::uint64_t>>(backend, job, reach);
}

}  // namespace satin::cpu
