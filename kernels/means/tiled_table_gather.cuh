#pragma once
// The warps that write the means of a tile from its table.

#include <cstdint>

#include "kernels/means/tiled_table_part.cuh"
#include "means/box_mean.h"

namespace satin::kernels {

/// The means of one warp: 32 columns, some rows of every batch. The loads of all its rows are in flight
/// together where boxes are whole.
template <class Values>
class TableGather {
 public:
  using Shape = TiledTableShape<Values>;
  using Sum = typename Shape::Sum;

  __device__ TableGather(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                         int warp)
      : arguments_(arguments),
        job_(arguments.job),
        shared_(shared),
        ring_(reinterpret_cast<const std::byte*>(shared.ring)),
        share_(warp / shared.part.groups) {
    const TablePart& part = shared.part;
    const int first_x = part.first_x + warp % part.groups * warp_size;
    x_ = first_x + lane_index();
    exists_ = x_ < part.last_x;
    clipped_in_row_ = job_.clipped && !fits(first_x, warp_size, job_.width);
    joined_ = channels == 3 && first_x + warp_size <= part.last_x && is_aligned();
    place_in_joined_ = opaque(lane_index() % 4);
    bytes_of_joined_ = opaque(place_in_joined_ == 0 ? 0x4210 : place_in_joined_ == 1 ? 0x5421 : 0x6542);

    y_ = part.first_y;
    // Batch b completes the window around the row 8 b - reach behind the first that is summed.
    const int slot = (part.skipped * batch_rows - job_.reach) % arguments.ring_rows;
    place_ = wrapped_below(
        static_cast<unsigned>((slot + share_) * row_bytes + (Shape::origin - 1 + x_ - part.origin) * entry));
    from_ = arguments.radius_map.data + (y_ + share_) * arguments.radius_map.row +
            min(x_, job_.width - 1) * code_size();
    to_ = arguments.output.data + (y_ + share_) * arguments.output.row + first_x * channels +
          (joined_ ? lane_index() / 4 * 12 + place_in_joined_ * 4 : lane_index() * channels);
  }

  __device__ void run() {
    if (share_ >= Shape::shares) return;
    int batch = 0;
    for (; batch < shared_.part.skipped; ++batch) {
      shared_.gates.added.wait_for(batch);
      shared_.gates.gathered.done(batch);
    }
    const int batches = shared_.part.batches;
    std::uint32_t codes[share_rows];
    fetch(0, batch + 1 < batches, codes);
    for (; batch < batches; ++batch) {
      Radius256 radii[share_rows];
      convert(codes, radii);
      if (batch + 1 < batches) fetch(batch_rows, batch + 2 < batches, codes);
      shared_.gates.added.wait_for(batch);
      write(batch + 1 < batches, radii);
      shared_.gates.gathered.done(batch);
      y_ += batch_rows;
      place_ = wrapped_below(place_ + batch_rows * row_bytes);
    }
  }

 private:
  static constexpr int channels = Values::channels;
  static constexpr int batch_rows = Shape::batch_rows;
  static constexpr int share_rows = Shape::share_rows;
  static constexpr int entry = sizeof(Sum);
  static constexpr int row_bytes = Shape::row_bytes;

  [[nodiscard]] __device__ bool is_aligned() const {
    const Target& out = arguments_.output;
    return (reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.row)) % 4 == 0;
  }

  /// True if the windows around `count` positions of a line lie in it.
  [[nodiscard]] __device__ bool fits(int first, int count, int size) const {
    return first >= job_.reach && first + count - 1 + job_.reach < size;
  }

  /// Row k of the warp in a batch.
  [[nodiscard]] __device__ int row_of(int k) const { return share_ + k * Shape::shares; }

  /// Reads the map for a batch some rows below y_. Pixels that are not there get the radius of one that is;
  /// `whole`: all rows are there.
  __device__ void fetch(int below, bool whole, std::uint32_t (&codes)[share_rows]) {
    switch (job_.radius.map_type) {
      case Type::u8:
        return fetch_as<std::uint8_t>(below, whole, codes);
      case Type::u16:
        return fetch_as<std::uint16_t>(below, whole, codes);
      default:
        return fetch_as<std::uint32_t>(below, whole, codes);
    }
  }

  [[nodiscard]] __device__ int code_size() const {
    return job_.radius.map_type == Type::u8 ? 1 : job_.radius.map_type == Type::u16 ? 2 : 4;
  }

  template <class Code>
  __device__ void fetch_as(int below, bool whole, std::uint32_t (&codes)[share_rows]) {
    if (whole) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k) {
        codes[k] = load_code<Code>(from_);
        from_ += arguments_.map_step;
      }
    } else {
      const int y = y_ + below + share_;
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        codes[k] = load_code<Code>(from_ + (min(y + k * Shape::shares, job_.height - 1) - y) *
                                               arguments_.radius_map.row);
    }
  }

  /// Loads a code into a whole register, so that nothing is to be done with it before it is needed.
  template <class Code>
  [[nodiscard]] __device__ static std::uint32_t load_code(const std::byte* from) {
    std::uint32_t code = 0;
    if constexpr (sizeof(Code) == 1) {
      asm("ld.global.nc.u8 %0, [%1];" : "=r"(code) : "l"(from));
    } else if constexpr (sizeof(Code) == 2) {
      asm("ld.global.nc.u16 %0, [%1];" : "=r"(code) : "l"(from));
    } else {
      code = __ldg(reinterpret_cast<const std::uint32_t*>(from));
    }
    return code;
  }

  /// The map's values become radii.
  __device__ void convert(const std::uint32_t (&codes)[share_rows], Radius256 (&radii)[share_rows]) const {
    const RadiusField& field = job_.radius;
    if (field.map_type == Type::u8) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k) radii[k] = shared_.radii[codes[k]];
    } else if (field.map_type == Type::u16) {
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        radii[k] = radius_from_map(codes[k], 0xFFFFU, field.low, field.high);
    } else {
#pragma unroll
      for (int k = 0; k < share_rows; ++k)
        radii[k] = radius_from_map(__uint_as_float(codes[k]), field.low, field.high);
    }
  }

  __device__ void write(bool whole, Radius256 (&radii)[share_rows]) {
    const bool clipped = clipped_in_row_ || (job_.clipped && !fits(y_, batch_rows, job_.height));
    Radius256 bits = 0;
#pragma unroll
    for (const Radius256 radius : radii) bits |= radius;
    std::uint32_t means[share_rows] = {};
    if (__any_sync(whole_warp, bits % radius_one) != 0) {
      if (clipped) {
        covered_means<true>(radii, means);
      } else {
        covered_means<false>(radii, means);
      }
    } else if (clipped) {
      whole_means<true>(radii, means);
    } else {
      whole_means<false>(radii, means);
    }
    store(whole, means);
  }

  template <bool Clipped>
  __device__ void whole_means(const Radius256 (&radii)[share_rows],
                              std::uint32_t (&means)[share_rows]) const {
    Sum sums[share_rows];
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      const int aside = reach * entry;
      const unsigned centre = centre_of(k);
      const unsigned last = below_by(centre, reach);
      const unsigned before = above_by(centre, reach + 1);
      sums[k] =
          (at(last, aside + entry) - at(last, -aside)) - (at(before, aside + entry) - at(before, -aside));
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      const int reach = whole_pixels(radii[k]);
      means[k] = Clipped
                     ? shared_.values.clipped_means(
                           sums[k], count(x_, reach, job_.width) * count(y_ + row_of(k), reach, job_.height))
                     : shared_.values.whole_means(sums[k], reach);
    }
  }

  /// Row after row where boxes are clipped, which takes many registers: so radii and means move up.
  template <bool Clipped>
  __device__ void covered_means(Radius256 (&radii)[share_rows], std::uint32_t (&means)[share_rows]) const {
#pragma unroll(Clipped ? 1 : share_rows)
    for (int k = 0; k < share_rows; ++k) {
      const std::uint32_t mean = covered_mean<Clipped>(y_ + row_of(k), centre_of(k), radii[0]);
#pragma unroll
      for (int i = 0; i + 1 < share_rows; ++i) {
        radii[i] = radii[i + 1];
        means[i] = means[i + 1];
      }
      means[share_rows - 1] = mean;
    }
  }

  template <bool Clipped>
  [[nodiscard]] __device__ std::uint32_t covered_mean(int y, unsigned centre, Radius256 radius) const {
    const int reach =
        whole_pixels(max(radius - 1, 0));  // a whole radius is the outer one, which is in the ring
    const auto outer = static_cast<std::uint32_t>(radius - reach * radius_one);
    const std::uint32_t inner = radius_one - outer;
    std::uint32_t area = 0;
    if constexpr (Clipped) {
      area = (inner * count(x_, reach, job_.width) + outer * count(x_, reach + 1, job_.width)) *
             (inner * count(y, reach, job_.height) + outer * count(y, reach + 1, job_.height));
    } else {
      const std::uint32_t side = radius_one + 2 * static_cast<std::uint32_t>(radius);
      area = side * side;
    }
    const int aside = reach * entry;
    const auto along = [&](unsigned row) { return at(row, aside + entry) - at(row, -aside); };
    const auto along_wider = [&](unsigned row) {
      return at(row, aside + 2 * entry) - at(row, -aside - entry);
    };
    const unsigned last = below_by(centre, reach);
    const unsigned before = above_by(centre, reach + 1);
    const unsigned farther_last = below_by(last, 1);
    const unsigned farther_before = above_by(before, 1);
    const Sum inner_sum = along(last) - along(before);
    const Sum outer_sum = along_wider(farther_last) - along_wider(farther_before);
    const Sum mixed =
        (along_wider(last) - along_wider(before)) + (along(farther_last) - along(farther_before));
    return shared_.values.covered_means(area, inner, outer, inner_sum, outer_sum, mixed);
  }

  [[nodiscard]] __device__ static int whole_pixels(Radius256 radius) {
    return static_cast<int>(static_cast<unsigned>(radius) / radius_one);
  }

  /// Places are bytes from the ring's beginning. One behind or before the ring is above the right one in
  /// unsigned numbers.
  [[nodiscard]] __device__ unsigned wrapped_below(unsigned place) const {
    return min(place, place - arguments_.ring_bytes);
  }
  [[nodiscard]] __device__ unsigned wrapped_above(unsigned place) const {
    return min(place, place + arguments_.ring_bytes);
  }
  /// Place of the entry to the left of the pixel's own, in row k of the warp.
  [[nodiscard]] __device__ unsigned centre_of(int k) const {
    return wrapped_below(place_ + static_cast<unsigned>(k * Shape::shares * row_bytes));
  }
  [[nodiscard]] __device__ unsigned below_by(unsigned place, int rows) const {
    return wrapped_below(place + static_cast<unsigned>(rows * row_bytes));
  }
  [[nodiscard]] __device__ unsigned above_by(unsigned place, int rows) const {
    return wrapped_above(place - static_cast<unsigned>(rows * row_bytes));
  }
  /// The entry some bytes behind a place.
  [[nodiscard]] __device__ Sum at(unsigned place, int offset) const {
    return *reinterpret_cast<const Sum*>(ring_ + static_cast<int>(place) + offset);
  }

  [[nodiscard]] __device__ static std::uint32_t count(int centre, int reach, int size) {
    return static_cast<std::uint32_t>(min(reach, centre) + min(reach, size - 1 - centre) + 1);
  }

  /// A warp of three channels stores words: of four neighbouring lanes the first three, 12 bytes together.
  /// `whole`: all rows are stored.
  __device__ void store(bool whole, std::uint32_t (&means)[share_rows]) {
    if (joined_) {
#pragma unroll
      for (std::uint32_t& mean : means)
        mean =
            __byte_perm(mean, __shfl_down_sync(whole_warp, mean, 1), static_cast<unsigned>(bytes_of_joined_));
      if (whole) {
        if (place_in_joined_ < 3) {
          std::byte* to = to_;
#pragma unroll
          for (int k = 0; k < share_rows; ++k) {
            __stcs(reinterpret_cast<std::uint32_t*>(to), means[k]);
            to += arguments_.output_step;
          }
        }
        to_ += share_rows * arguments_.output_step;
        return;
      }
    }
#pragma unroll
    for (int k = 0; k < share_rows; ++k) {
      if (y_ + row_of(k) < shared_.part.last_y) store_row(to_, means[k]);
      to_ += arguments_.output_step;
    }
  }

  __device__ void store_row(std::byte* to, std::uint32_t means) const {
    if (joined_) {
      if (place_in_joined_ < 3) __stcs(reinterpret_cast<std::uint32_t*>(to), means);
    } else if (exists_) {
#pragma unroll
      for (int c = 0; c < channels; ++c) to[c] = static_cast<std::byte>(means >> (8 * c));
    }
  }

  const TiledTableArguments& arguments_;
  const TiledTableJob& job_;
  const TiledTableShared<Values>& shared_;
  const std::byte* ring_;
  int share_;  ///< 0 or 1: of the rows of a batch
  int x_;
  bool exists_;
  bool clipped_in_row_;
  bool joined_;  ///< the warp's bytes of a row are stored as words
  int place_in_joined_;
  int bytes_of_joined_;  ///< that a word is selected from the lane's means and those of the next
  // State of the batch at hand, at the warp's first row in it.
  int y_;
  unsigned place_;         ///< in the ring
  const std::byte* from_;  ///< in the map; a batch ahead
  std::byte* to_;
};

}  // namespace satin::kernels
