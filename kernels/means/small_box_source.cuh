#pragma once
// Where the rows of a small box come from: split rows, or bytes, which a warp splits by itself.

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/small_box_sums.cuh"

namespace satin::kernels {

__device__ inline void fetch_into_l2(const std::byte* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

inline constexpr int small_box_rows_ahead = 6;  ///< that are asked for from memory

/// A lane's place in the rows of a picture, row after row.
class RowsOfLane {
 public:
  /// `first`: where the lane's part of row 0 lies.
  __device__ RowsOfLane(const std::byte* first, std::int64_t row, int height, int y)
      : row_(row), ahead_(small_box_rows_ahead * row), at_(first + y * row), y_(y), height_(height) {}

  [[nodiscard]] __device__ bool exists() const { return y_ >= 0 && y_ < height_; }
  [[nodiscard]] __device__ const std::byte* at() const { return at_; }
  [[nodiscard]] __device__ const std::byte* ahead() const { return at_ + ahead_; }
  [[nodiscard]] __device__ bool has_ahead() const { return y_ + small_box_rows_ahead < height_; }
  __device__ void advance() {
    at_ += row_;
    ++y_;
  }

 private:
  std::int64_t row_;
  std::int64_t ahead_;
  const std::byte* at_;
  int y_;
  int height_;
};

/// Values of 16 bits in split rows.
class SplitSource {
 public:
  static constexpr int warp_bytes = 0;
  static constexpr int columns = small_box_columns;

  __device__ SplitSource(const SmallBoxArguments& arguments, int strip, int channel, int y, int /*memory*/)
      : rows_(first_of(arguments, strip, channel), arguments.source.row, arguments.job.height, y) {}

  /// Asks for the next row, the first time for row y.
  __device__ void fetch() {
    if (rows_.exists()) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        fetched_[half] = __ldg(reinterpret_cast<const uint4*>(rows_.at() + half * half_bytes));
      if (rows_.has_ahead()) {
        fetch_into_l2(rows_.ahead());
        fetch_into_l2(rows_.ahead() + half_bytes);
      }
    }
    rows_.advance();
  }

  /// The sums of the row that was fetched, of the lane's windows.
  template <bool Fractions>
  __device__ void sum(const WindowWeights<Fractions>& weights, std::uint32_t (&sums)[small_box_sums]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) sum_unit(weights, fetched_[half], sums + 4 * half);
  }

  /// Rows of the matrix are low and then high bytes.
  template <bool Fractions>
  __device__ static void sum_unit(const WindowWeights<Fractions>& weights, const uint4& unit,
                                  std::uint32_t* sums) {
    int products[2][4];
    weights.multiply({unit.x, unit.y, unit.z, unit.w}, products);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sums[i] = static_cast<std::uint32_t>(products[i / 2][2 + i % 2] * 256 + products[i / 2][i % 2]);
  }

 private:
  static constexpr int half_bytes = small_box_columns / 2 / split_unit * split_unit_bytes;

  __device__ static const std::byte* first_of(const SmallBoxArguments& arguments, int strip, int channel) {
    const SmallBoxLane lane;
    return arguments.source.data + channel * (arguments.source.row / arguments.job.channels) +
           std::int64_t{strip} * (2 * half_bytes) + lane.unit(0) * split_unit_bytes;
  }

  RowsOfLane rows_;
  uint4 fetched_[2] = {};
};

/// Bytes: a lane takes eight pixels of a row, of which its warp has one channel.
template <int Channels>
class ByteSource {
 public:
  static constexpr int unit_bytes = split_unit;
  static constexpr int buffer_bytes = warp_size * unit_bytes;
  static constexpr int warp_bytes = 2 * buffer_bytes;
  static constexpr int columns = small_box_columns - 2 * SmallBoxJob::largest_reach;

  /// `memory` belongs to the warp and holds two rows in turns.
  __device__ ByteSource(const SmallBoxArguments& arguments, int strip, int channel, int y, int memory)
      : rows_(arguments.source.data + first_column(strip) * Channels, arguments.source.row,
              arguments.job.height, y),
        more_bits_(arguments.job.more_bits),
        buffer_(memory) {
    const int x = first_column(strip);
    first_ = min(max(-x, 0), split_unit) * Channels;
    end_ = max(min(arguments.job.width - x, split_unit), 0) * Channels;
    const auto place =
        reinterpret_cast<std::uintptr_t>(rows_.at()) | static_cast<std::uintptr_t>(arguments.source.row);
    whole_ = first_ == 0 && end_ == split_unit * Channels && place % 8 == 0;
    choose_channel(channel);
  }

  __device__ void fetch() {
    if (rows_.exists() && first_ < end_) {
      if (whole_) {
#pragma unroll
        for (int i = 0; i < Channels; ++i) {
          const uint2 words = __ldg(reinterpret_cast<const uint2*>(rows_.at()) + i);
          fetched_.of[2 * i] = words.x;
          fetched_.of[2 * i + 1] = words.y;
        }
      } else {
        fetched_ = read_bytes(rows_.at(), first_, end_);
      }
      if (rows_.has_ahead()) fetch_into_l2(rows_.ahead());
    }
    rows_.advance();
  }

  /// All lanes of the warp call this together.
  template <bool Fractions>
  __device__ void sum(const WindowWeights<Fractions>& weights, std::uint32_t (&sums)[small_box_sums]) {
    put_into_buffer();
    __syncwarp();
    const uint2 first = *shared_at<const uint2>(place_of(0));
    const uint2 second = *shared_at<const uint2>(place_of(1));
    int products[2][4];
    weights.multiply({first.x, second.x, first.y, second.y}, products);
#pragma unroll
    for (int i = 0; i < small_box_sums; ++i)
      sums[i] = static_cast<std::uint32_t>(products[i % 4 / 2][i / 4 * 2 + i % 2]) << more_bits_;
    buffer_ ^= buffer_bytes;
  }

 private:
  using Words = Vector<std::uint32_t, 2 * Channels>;

  [[nodiscard]] __device__ static int first_column(int strip) {
    return strip * columns - SmallBoxJob::largest_reach + lane_index() * split_unit;
  }

  /// The last row of the matrix is of columns that the warp does not write.
  [[nodiscard]] __device__ int place_of(int half) const {
    const SmallBoxLane lane;
    return buffer_ + min(lane.unit(half), warp_size - 1) * unit_bytes;
  }

  __device__ void put_into_buffer() const {
    *shared_at<uint2>(buffer_ + lane_index() * unit_bytes) = make_uint2(channel_of(0), channel_of(1));
  }

  /// Bytes [first, end) of the lane's, zeros beside them.
  __noinline__ __device__ static Words read_bytes(const std::byte* from, int first, int end) {
    Words words{};
#pragma unroll
    for (int i = 0; i < split_unit * Channels; ++i)
      if (i >= first && i < end)
        words.of[i / 4] |= static_cast<std::uint32_t>(__ldg(reinterpret_cast<const std::uint8_t*>(from) + i))
                           << i % 4 * 8;
    return words;
  }

  /// Which bytes of three words are one channel of four pixels.
  __device__ void choose_channel(int channel) {
    if constexpr (Channels == 3) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto byte = static_cast<std::uint32_t>(3 * i + channel);
        of_two_ |= (byte < 8 ? byte : 0U) << 4 * i;
        of_three_ |= (byte < 8 ? static_cast<std::uint32_t>(i) : byte - 4) << 4 * i;
      }
    }
  }

  /// One channel of four of the fetched pixels.
  [[nodiscard]] __device__ std::uint32_t channel_of(int four) const {
    if constexpr (Channels == 3) {
      const std::uint32_t two = __byte_perm(fetched_.of[3 * four], fetched_.of[3 * four + 1], of_two_);
      return __byte_perm(two, fetched_.of[3 * four + 2], of_three_);
    } else {
      return fetched_.of[four];
    }
  }

  RowsOfLane rows_;
  int more_bits_;
  int buffer_;
  int first_;  ///< of the lane's bytes that exist
  int end_;
  bool whole_;  ///< all of them exist, and words are aligned
  std::uint32_t of_two_ = 0;
  std::uint32_t of_three_ = 0;
  Words fetched_{};
};

}  // namespace satin::kernels
