#pragma once
// The warps that write the means of a strip from its table.

#include <cstdint>

#include "kernels/strip_part.cuh"

namespace satin::kernels {

/// The means of one warp: 32 columns, some rows of every batch. The loads of all its rows are in flight
/// together where boxes are whole.
template <int Channels>
class StripGather {
 public:
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;

  __device__ StripGather(const StripMeanArguments& arguments, const StripPart& part,
                         const StripShared<Channels>& shared, int warp)
      : arguments_(arguments),
        job_(arguments.job),
        part_(part),
        shared_(shared),
        ring_(reinterpret_cast<const std::byte*>(shared.ring)),
        share_(warp / part.groups),
        x_(part.first_x + warp % part.groups * warp_size + lane_index()),
        column_((x_ - part.origin) * entry),
        ring_bytes_(static_cast<unsigned>(arguments.tiles.ring_rows * row_bytes)),
        exists_(x_ < part.last_x),
        clipped_in_row_(job_.clipped && !fits(x_ - lane_index(), warp_size, job_.width)),
        joined_(Channels == 3 && x_ - lane_index() + warp_size <= part.last_x && is_aligned()) {
#pragma unroll
    for (int k = 0; k < most_rows; ++k) rows_ |= (row_of(k) < strip_batch ? 1U : 0U) << k;
  }

  __device__ void run() {
    if (share_ >= part_.shares) return;
    // Batch b completes the windows of rows from 8 b - 2 reach on.
    const int rows = arguments_.tiles.ring_rows;
    int slot = (rows - job_.reach) % rows;  // of the table's row 8 b - reach
    int y = part_.first_y - 2 * job_.reach;
    std::uint32_t codes[most_rows];
    fetch(y, codes);
    for (int batch = 0; batch < part_.batches; ++batch) {
      Radius256 radii[most_rows];
      convert(codes, radii);
      if (batch + 1 < part_.batches) fetch(y + strip_batch, codes);
      shared_.gates.added.wait_for(batch);
      if (y + strip_batch > part_.first_y) write(y, slot, radii);
      shared_.gates.gathered.done(batch);
      y += strip_batch;
      slot += strip_batch;
      if (slot >= rows) slot -= rows;
    }
  }

 private:
  static constexpr int most_rows = Shape::most_rows;
  static constexpr int entry = sizeof(Sum);
  static constexpr int row_bytes = Shape::pitch * entry;

  [[nodiscard]] __device__ bool is_aligned() const {
    const Target& out = arguments_.output;
    return (reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.row)) % 4 == 0;
  }

  /// True if the windows around `count` positions of a line lie in it.
  [[nodiscard]] __device__ bool fits(int first, int count, int size) const {
    return first >= job_.reach && first + count - 1 + job_.reach < size;
  }

  /// Row k of the warp in a batch.
  [[nodiscard]] __device__ int row_of(int k) const { return share_ + k * part_.shares; }

  /// A bit for each of the warp's rows that is written, in the batch whose first row is y.
  [[nodiscard]] __device__ unsigned rows_at(int y) const {
    if (y >= part_.first_y && y + strip_batch <= part_.last_y) return rows_;
    unsigned rows = 0;
#pragma unroll
    for (int k = 0; k < most_rows; ++k)
      if (y + row_of(k) >= part_.first_y && y + row_of(k) < part_.last_y) rows |= rows_ & 1U << k;
    return rows;
  }

  /// Reads the map for the batch whose first row is y.
  __device__ void fetch(int y, std::uint32_t (&codes)[most_rows]) const {
    switch (job_.radius.map_type) {
      case Type::u8:
        return fetch_as<std::uint8_t>(y, codes);
      case Type::u16:
        return fetch_as<std::uint16_t>(y, codes);
      default:
        return fetch_as<std::uint32_t>(y, codes);
    }
  }

  template <class Code>
  __device__ void fetch_as(int y, std::uint32_t (&codes)[most_rows]) const {
    const Source& map = arguments_.radius_map;
    const unsigned rows = exists_ ? rows_at(y) : 0;
    const std::byte* from = map.data + (y + share_) * map.row + x_ * static_cast<int>(sizeof(Code));
    const std::int64_t step = part_.shares * map.row;
#pragma unroll
    for (int k = 0; k < most_rows; ++k) {
      codes[k] = (rows >> k & 1U) != 0 ? __ldg(reinterpret_cast<const Code*>(from)) : Code{0};
      from += step;
    }
  }

  /// The map's values become radii.
  __device__ void convert(const std::uint32_t (&codes)[most_rows], Radius256 (&radii)[most_rows]) const {
    const RadiusField& field = job_.radius;
    if (field.map_type == Type::u8) {
#pragma unroll
      for (int k = 0; k < most_rows; ++k) radii[k] = shared_.radii[codes[k]];
    } else if (field.map_type == Type::u16) {
#pragma unroll
      for (int k = 0; k < most_rows; ++k)
        radii[k] = radius_from_map(codes[k], 0xFFFFU, field.low, field.high);
    } else {
#pragma unroll
      for (int k = 0; k < most_rows; ++k)
        radii[k] = radius_from_map(__uint_as_float(codes[k]), field.low, field.high);
    }
  }

  __device__ void write(int y, int slot, const Radius256 (&radii)[most_rows]) const {
    const bool clipped = clipped_in_row_ || (job_.clipped && !fits(y, strip_batch, job_.height));
    Radius256 bits = 0;
#pragma unroll
    for (const Radius256 radius : radii) bits |= radius;
    std::uint32_t means[most_rows];
    if (__any_sync(whole_warp, bits % radius_one) != 0) {
      if (clipped) {
        covered_means<true>(y, slot, radii, means);
      } else {
        covered_means<false>(y, slot, radii, means);
      }
    } else if (clipped) {
      whole_means<true>(y, slot, radii, means);
    } else {
      whole_means<false>(y, slot, radii, means);
    }
    store(y, means);
  }

  template <bool Clipped>
  __device__ void whole_means(int y, int slot, const Radius256 (&radii)[most_rows],
                              std::uint32_t (&means)[most_rows]) const {
    Sum sums[most_rows];
#pragma unroll
    for (int k = 0; k < most_rows; ++k) {
      const int reach = radii[k] / radius_one;
      const int aside = reach * entry;
      const unsigned centre = centre_of(k, slot);
      const unsigned last = below_by(centre, reach);
      const unsigned before = above_by(centre, reach + 1);
      sums[k] =
          (at(last, aside + entry) - at(last, -aside)) - (at(before, aside + entry) - at(before, -aside));
    }
#pragma unroll
    for (int k = 0; k < most_rows; ++k) {
      const int reach = radii[k] / radius_one;
      WholeDivision division = shared_.divisions[reach];
      if constexpr (Clipped)
        division = WholeDivision(count(x_, reach, job_.width) * count(y + row_of(k), reach, job_.height));
      means[k] = division.template means<Channels>(sums[k]);
    }
  }

  template <bool Clipped>
  __device__ void covered_means(int y, int slot, const Radius256 (&radii)[most_rows],
                                std::uint32_t (&means)[most_rows]) const {
#pragma unroll
    for (int k = 0; k < most_rows; ++k)
      means[k] = covered_mean<Clipped>(y + row_of(k), centre_of(k, slot), radii[k]);
  }

  template <bool Clipped>
  [[nodiscard]] __device__ std::uint32_t covered_mean(int y, unsigned centre, Radius256 radius) const {
    const int reach =
        max(radius - 1, 0) / radius_one;  // a whole radius is the outer one, which is in the ring
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
    return CoveredDivision(area, inner, outer).means<Channels>(inner_sum, outer_sum, mixed);
  }

  /// Bytes from the ring's beginning to the entry before the pixel's in its row of the table.
  [[nodiscard]] __device__ unsigned centre_of(int k, int slot) const {
    const auto row = static_cast<unsigned>((slot + row_of(k)) * row_bytes + column_);
    return min(row, row - ring_bytes_);
  }
  /// The same some rows below, and above. A place behind or before the ring is above the right one in
  /// unsigned numbers.
  [[nodiscard]] __device__ unsigned below_by(unsigned place, int rows) const {
    const unsigned moved = place + static_cast<unsigned>(rows * row_bytes);
    return min(moved, moved - ring_bytes_);
  }
  [[nodiscard]] __device__ unsigned above_by(unsigned place, int rows) const {
    const unsigned moved = place - static_cast<unsigned>(rows * row_bytes);
    return min(moved, moved + ring_bytes_);
  }
  /// The entry some bytes behind a place.
  [[nodiscard]] __device__ Sum at(unsigned place, int offset) const {
    return *reinterpret_cast<const Sum*>(ring_ + static_cast<int>(place) + offset);
  }

  [[nodiscard]] __device__ static std::uint32_t count(int centre, int reach, int size) {
    return static_cast<std::uint32_t>(min(reach, centre) + min(reach, size - 1 - centre) + 1);
  }

  /// A warp of three channels stores words: of four neighbouring lanes the first three, 12 bytes together.
  __device__ void store(int y, const std::uint32_t (&means)[most_rows]) const {
    const Target& out = arguments_.output;
    const unsigned rows = rows_at(y);
    std::byte* to = out.data + (y + share_) * out.row + (x_ - lane_index()) * Channels;
    const std::int64_t step = part_.shares * out.row;
    if (joined_) {
      const int place = lane_index() % 4;
      const unsigned bytes = place == 0 ? 0x4210U : place == 1 ? 0x5421U : 0x6542U;
      to += (lane_index() / 4 * 3 + place) * 4;
#pragma unroll
      for (int k = 0; k < most_rows; ++k) {
        const std::uint32_t right = __shfl_down_sync(whole_warp, means[k], 1);
        const std::uint32_t word = __byte_perm(means[k], right, bytes);
        if (place < 3 && (rows >> k & 1U) != 0) __stcs(reinterpret_cast<std::uint32_t*>(to), word);
        to += step;
      }
      return;
    }
    to += lane_index() * Channels;
#pragma unroll
    for (int k = 0; k < most_rows; ++k) {
      if (exists_ && (rows >> k & 1U) != 0) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) to[c] = static_cast<std::byte>(means[k] >> (8 * c));
      }
      to += step;
    }
  }

  const StripMeanArguments& arguments_;
  const StripMeanJob& job_;
  const StripPart& part_;
  const StripShared<Channels>& shared_;
  const std::byte* ring_;
  int share_;  ///< of the rows of a batch
  int x_;
  int column_;  ///< bytes in a row of the ring before the entry of the pixel to the left
  unsigned ring_bytes_;
  unsigned rows_ = 0;  ///< a bit for each row of a whole batch
  bool exists_;
  bool clipped_in_row_;
  bool joined_;  ///< the warp's bytes of a row are stored as words
};

}  // namespace satin::kernels
