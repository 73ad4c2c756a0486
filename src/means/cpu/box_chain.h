#pragma once
// A chain of successive box means, each with one radius for the whole picture. Windows of all boxes slide
// down a tile together: a row of the first box's means is at once the newest input row of the second box, so
// that nothing but the picture and the result is in memory. box_chain.cpp describes the boxes of a chain and
// shares tiles among threads; sliding_boxes.cpp computes one tile, compiled for every SIMD target.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/cpu/rows.h"
#include "pixels/transfer.h"

namespace satin::cpu {

// --- From box sums to stored pixels, by the types that a job has at run time ---

/// The values of one run of a box mean that are the same for all pixels.
struct MeanStore {
  MeanRule rule;
  FixedExponents exponents;
  RowReader reader;  ///< reader of the source
};

inline MeanStore mean_store(const BoxMeanJob& job, const Measured* measured) {
  MeanStore store;
  store.reader = row_reader(job.read, measured);
  store.exponents = store.reader.exponents;
  store.rule = mean_rule(job, host_transfer(job.write.type, job.write.transfer == Transfer::srgb));
  if (!job.read.fixed_point) return store;
  for (int c = 0; c < job.read.channels; ++c)
    store.rule.border_value[c] = fixed_border_value(job.border_number, c, job.read.channels,
                                                    job.read.weighted, job.read.fraction, store.exponents);
  return store;
}

/// Stores a pixel that keeps its value: its own bytes, or its working values with rule.write_shift more bits.
template <int Channels, class T>
void keep_pixel(const MeanStore& store, const BoxMeanJob& job, const BoxMeanImages& images, std::int64_t x,
                std::int64_t y, T* out) {
  if constexpr (may_be_working<T>) {
    if (store.rule.working) {
      std::uint64_t values[4];
      RowReader reader = store.reader;
      read_row(reader, images.source.at(x, y), 1, values);
      for (int c = 0; c < Channels; ++c) out[c] = static_cast<T>(values[c] << store.rule.write_shift);
      return;
    }
  }
  const T* original = images.original.row<T>(y) + x * job.read.channels;
  std::copy_n(original, Channels, out);
}

/// Stores the mean of one pixel.
template <int Channels, class T>
void store_pixel(const MeanStore& store, const BoxMeanImages& images, std::int64_t x, std::int64_t y,
                 const WideSum* sums, std::uint64_t count, std::uint32_t mask, T* out) {
  if constexpr (may_be_working<T>)
    if (store.rule.working) return store_working_mean<Channels>(sums, count, store.rule, out);
  if constexpr (std::is_same_v<T, float>) {
    store_float_mean<Channels>(sums, count, images.original.row<T>(y) + x * Channels, mask, store.rule,
                               store.exponents, out);
  } else if constexpr (sizeof(T) <= 2) {
    store_integer_mean<Channels>(sums, count, images.original.row<T>(y) + x * Channels, mask, store.rule,
                                 out);
  }
}

/// Calls call.template operator()<Channels, Stored>() for the channels and the output type of the job.
template <class Call>
void with_output(const BoxMeanJob& job, const Call& call) {
  with_type(job.write.type, [&]<class T>() {
    if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, float>)
      with_channels(job.read.channels, [&]<int Channels>() { call.template operator()<Channels, T>(); });
  });
}

// --- One box of a chain ---

/// Bound on weighted sums plus half a divisor of whole boxes, for Division::integer32.
inline constexpr std::uint64_t word_divide_limit = std::uint64_t{1} << 31;
/// Largest divisor of fractional boxes with means of at most 16 bits, for Division::integer32.
inline constexpr std::uint64_t largest_word_divisor = std::uint64_t{1} << 30;
/// Bound on weighted sums (largest mean times divisor), for Division::float64.
inline constexpr std::uint64_t divide_limit = std::uint64_t{1} << 50;

/// Type of the prefix sums along a row.
enum class Sums : std::uint8_t {
  integer32,  ///< column sums weight each row by its coverage
  float64,    ///< the same sums in doubles, which represent them exactly
  integer64   ///< column sums of whole rows for each window of rows; the boxes are weighted afterwards
};

/// Arithmetic that turns the sum of a window into its mean. All variants round to nearest, ties up, and give
/// the same bytes; `chain_of()` chooses the cheapest one that is exact for the largest sum of the job.
enum class Division : std::uint8_t {
  integer32,  ///< whole boxes with sums below 2^31, or means of at most 16 bits: multiply and shift
  float64,    ///< sums below divide_limit, and means of floats
  wide64,     ///< sums below 2^63, means below 2^49, divisors below 2^52
  integer64   ///< all other sums, one pixel at a time
};

/// The source of a box's rows.
enum class RowSource : std::uint8_t {
  picture_in_place,  ///< stored pixels are the values to be summed
  decoded_ring,      ///< rows of the picture are decoded into a ring of the tile
  previous_box       ///< means of the box before are written into a ring of the tile
};

/// The destination of a box's means.
enum class RowSink : std::uint8_t { next_box, output_as_is, blend_or_encode };

/// A box of a chain; the same for every tile.
struct ChainBox {
  BoxMeanJob job;
  Type input = Type::u8;   ///< type of its input rows: u8, u16, u32 or u64
  Type output = Type::u8;  ///< type of its means, before they are blended or encoded
  RowSource source = RowSource::picture_in_place;
  bool multiplies = false;  ///< whether its rows hold colours and alpha, multiplied as they are summed
  RowSink sink = RowSink::output_as_is;
  Sums sums = Sums::integer32;
  Division division = Division::float64;
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  std::int64_t halo_x = 0;  ///< reach, plus one for a fractional radius
  std::int64_t halo_y = 0;
  std::int64_t margin_x = 0;  ///< sum of the halos of the boxes that follow
  std::int64_t margin_y = 0;
  /// Number of pixels in the window of each column, per channel. Smaller at the left and right border. Only
  /// for Border::shrink.
  WorkspaceVector<double> window_pixels;

  /// Returns the number of input rows in its ring: those of the largest window, and one that has left it.
  [[nodiscard]] std::int64_t ring_rows() const noexcept {
    const std::int64_t rows = 2 * halo_y + 2;
    return job.border == Border::wrap ? rows : std::min(rows, job.height);
  }
  /// Returns the number of input columns for a tile of `width` columns of results, with those of the border.
  [[nodiscard]] std::int64_t columns(std::int64_t width) const noexcept {
    return std::min(width + 2 * margin_x, job.width) + 2 * halo_x;
  }
  /// Returns the number of channels of the picture. A job that excludes pixels has one more, 1 where they
  /// count.
  [[nodiscard]] int stored_channels() const noexcept { return job.read.channels - (job.excludes ? 1 : 0); }
  [[nodiscard]] bool unweights() const noexcept { return job.read.weighted && !job.write.working; }
  [[nodiscard]] bool unpremultiplies() const noexcept { return job.read.premultiplied && !job.write.working; }
  /// Whether column sums weight rows by their coverage, in 1/256.
  [[nodiscard]] bool covers_rows() const noexcept { return sums != Sums::integer64 && halo_y != reach_y; }
  /// Returns the working value of a channel outside the picture. Floats have theirs added to the sums.
  [[nodiscard]] std::uint64_t outside(std::size_t channel) const noexcept {
    return job.border == Border::constant && !job.read.fixed_point ? job.border_value[channel] : 0;
  }
  /// Returns the value of a channel in a row outside the picture.
  [[nodiscard]] std::uint64_t outside_row(std::size_t channel) const noexcept {
    const std::size_t alpha = static_cast<std::size_t>(job.read.channels) - 1;
    return multiplies && channel < alpha ? outside(channel) / std::max<std::uint64_t>(outside(alpha), 1)
                                         : outside(channel);
  }
  /// Returns the weighted number of rows in a column sum of window `window` (0 inner, 1 outer).
  [[nodiscard]] std::uint64_t rows(std::size_t window) const noexcept {
    const auto whole = 2 * static_cast<std::uint64_t>(reach_y) + 1;
    if (!covers_rows()) return whole + 2 * window;
    return whole * radius_one + 2 * static_cast<std::uint64_t>(job.radius.y % radius_one);
  }
  /// Returns the weight of a column in the inner (0) or outer (1) whole window along x.
  [[nodiscard]] int column_weight(std::int64_t outer) const noexcept {
    return weight_of(job.radius.x, outer);
  }
  [[nodiscard]] int row_weight(std::int64_t outer) const noexcept { return weight_of(job.radius.y, outer); }
  /// Returns the number of windows of rows that have column sums of their own.
  [[nodiscard]] int windows() const noexcept { return sums == Sums::integer64 && halo_y != reach_y ? 2 : 1; }

 private:
  [[nodiscard]] static int weight_of(Radius256 radius, std::int64_t outer) noexcept {
    const int fraction = radius % radius_one;
    return outer != 0 ? fraction : fraction == 0 ? 1 : radius_one - fraction;
  }
};

/// Whether sums over whole boxes fit 31 bits: SIMD converts and divides signed words.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);

/// Whether Division::wide64 is exact. `largest`: pixels of the largest box. `weights`: factor of their sum.
[[nodiscard]] bool wide_sums_fit(const BoxMeanJob& job, std::uint64_t largest, std::uint64_t weights);

/// Returns the boxes of the jobs, or nothing if a job cannot slide down tiles: a radius map, radius 0,
/// windows far larger than the picture, excluded pixels together with alpha or with sums of 64 bits.
[[nodiscard]] std::optional<std::vector<ChainBox>> chain_of(std::span<const BoxMeanJob> jobs);

// --- Tiles ---

/// Receives columns [left, right) of row y of the last box's means, on thread `thread`, instead of the
/// output.
using TakeMeans = std::function<void(std::int64_t y, std::int64_t left, std::int64_t right,
                                     const std::byte* means, int thread)>;

struct Tile {
  std::int64_t left;
  std::int64_t right;
  std::int64_t top;
  std::int64_t bottom;
};

/// The windows of all boxes that slide down a tile, with their workspace: one thread's work.
struct SlidingBoxes : Operation {
  /// Fills the tile of the output, or passes its rows to `take` if that is not empty. `stores` has one per
  /// box.
  virtual void run(std::span<const MeanStore> stores, const BoxMeanImages& images, Tile tile,
                   const TakeMeans& take, int thread) = 0;
};

/// Makes boxes for the SIMD target of this processor and tiles up to `width` columns. `boxes` must outlive
/// them.
[[nodiscard]] std::unique_ptr<SlidingBoxes> make_sliding_boxes(std::span<const ChainBox> boxes,
                                                               std::int64_t width);

/// A chain of boxes over a picture, whose tiles are shared among the threads.
class BoxChain final : public BoxMeanOperation {
 public:
  BoxChain(CpuBackend& backend, std::vector<ChainBox> boxes);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return tiles_.size() * tiles_[0]->workspace_bytes();
  }
  void run(const BoxMeanImages& images, Stream) override { slide(images, {}); }
  [[nodiscard]] bool selects_by_mask() const noexcept override { return boxes_[0].job.excludes; }
  /// Fills the output, or passes rows of means to `take` if that is not empty.
  void slide(const BoxMeanImages& images, const TakeMeans& take);

 private:
  CpuBackend& backend_;
  std::vector<ChainBox> boxes_;
  std::vector<MeanStore> stores_;                     ///< those of the current run, one per box
  std::int64_t across_ = 1;                           ///< number of tiles side by side
  std::int64_t down_ = 1;                             ///< number of tiles one below the other
  std::vector<std::unique_ptr<SlidingBoxes>> tiles_;  ///< one per thread, or per tile if these are fewer
};

}  // namespace satin::cpu
