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

/// Values of 16 bits in split rows.
class SplitSource {
 public:
  static constexpr int table_bytes = 0;
  static constexpr int warp_bytes = 0;
  static constexpr int columns = small_box_columns;

  __device__ SplitSource(const SmallBoxArguments& arguments, int strip, int channel, int /*memory*/)
      : row_(arguments.source.row), height_(arguments.job.height) {
    const std::int64_t of_channel = row_ / arguments.job.channels;
    const std::byte* first = arguments.source.data + channel * of_channel +
                             std::int64_t{strip} * (small_box_columns / split_unit * split_unit_bytes);
    from_ = first + lane_.unit(0) * split_unit_bytes;
  }

  /// Asks for row y, if it exists.
  __device__ void fetch(int y) {
    if (y < 0 || y >= height_) return;
    const std::byte* from = from_ + y * row_;
    fetched_[0] = __ldg(reinterpret_cast<const uint4*>(from));
    fetched_[1] = __ldg(reinterpret_cast<const uint4*>(from + half_bytes));
    if (y + small_box_rows_ahead < height_) {
      fetch_into_l2(from + small_box_rows_ahead * row_);
      fetch_into_l2(from + small_box_rows_ahead * row_ + half_bytes);
    }
  }

  /// The sums of the row that was fetched.
  __device__ void sum(const WindowWeights& weights, std::uint32_t (&sums)[small_box_sums]) const {
    ByteMatrix low;
    ByteMatrix high;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      low.set(half, fetched_[half].x, fetched_[half].y);
      high.set(half, fetched_[half].z, fetched_[half].w);
    }
    add_sums(weights, low, high, sums);
  }

  __device__ static void add_sums(const WindowWeights& weights, const ByteMatrix& low, const ByteMatrix& high,
                                  std::uint32_t (&sums)[small_box_sums]) {
    int of_low[small_box_sums];
    int of_high[small_box_sums];
    weights.sum(low, of_low);
    weights.sum(high, of_high);
#pragma unroll
    for (int i = 0; i < small_box_sums; ++i)
      sums[i] = static_cast<std::uint32_t>(of_high[i] * 256 + of_low[i]);
  }

 private:
  static constexpr int half_bytes = small_box_columns / 2 / split_unit * split_unit_bytes;

  SmallBoxLane lane_;
  const std::byte* from_;
  std::int64_t row_;
  int height_;
  uint4 fetched_[2] = {};
};

/// Bytes: a lane takes eight pixels of a row, of which its warp has one channel.
template <int Channels, bool Decoded>
class ByteSource {
 public:
  static constexpr int table_bytes = Decoded ? DecodeTable::bytes : 0;
  static constexpr int unit_bytes = Decoded ? split_unit_bytes : split_unit;
  static constexpr int buffer_bytes = warp_size * unit_bytes;
  static constexpr int warp_bytes = 2 * buffer_bytes;
  static constexpr int columns = small_box_columns - 2 * SmallBoxJob::largest_reach;

  /// `memory`: of the warp, for two rows in turns.
  __device__ ByteSource(const SmallBoxArguments& arguments, int strip, int channel, int memory)
      : row_(arguments.source.row),
        height_(arguments.job.height),
        more_bits_(arguments.job.more_bits),
        buffer_(memory) {
    const int x = strip * columns - SmallBoxJob::largest_reach + lane_index() * split_unit;
    from_ = arguments.source.data + x * Channels;
    first_ = min(max(-x, 0), split_unit);
    end_ = max(min(arguments.job.width - x, split_unit), 0);
    const auto place = reinterpret_cast<std::uintptr_t>(from_) | static_cast<std::uintptr_t>(row_);
    whole_ = first_ == 0 && end_ == split_unit && place % 8 == 0;
    exists_ = first_ < end_;
    choose_channel(channel);
  }

  __device__ void fetch(int y) {
    if (!exists_ || y < 0 || y >= height_) return;
    const std::byte* from = from_ + y * row_;
    if (whole_) {
      using Eight = Vector<std::uint32_t, 2>;
#pragma unroll
      for (int i = 0; i < Channels; ++i) {
        const uint2 words = __ldg(reinterpret_cast<const uint2*>(from) + i);
        fetched_.of[2 * i] = words.x;
        fetched_.of[2 * i + 1] = words.y;
      }
    } else {
      fetched_ = read_bytes(from, first_ * Channels, end_ * Channels);
    }
    if (y + small_box_rows_ahead < height_) fetch_into_l2(from + small_box_rows_ahead * row_);
  }

  __device__ void sum(const WindowWeights& weights, std::uint32_t (&sums)[small_box_sums]) {
    const std::uint32_t codes[2] = {channel_of(0), channel_of(1)};
    const int to = buffer_ + lane_index() * unit_bytes;
    if constexpr (Decoded) {
      std::uint32_t low[2];
      std::uint32_t high[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        std::uint32_t values[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) values[k] = DecodeTable::value(codes[i], k);
        const std::uint32_t first = __byte_perm(values[0], values[1], 0x5410);
        const std::uint32_t second = __byte_perm(values[2], values[3], 0x5410);
        low[i] = __byte_perm(first, second, 0x6420);
        high[i] = __byte_perm(first, second, 0x7531);
      }
      *shared_at<uint4>(to) = make_uint4(low[0], low[1], high[0], high[1]);
    } else {
      *shared_at<uint2>(to) = make_uint2(codes[0], codes[1]);
    }
    __syncwarp();
    sum_buffer(weights, sums);
    buffer_ ^= buffer_bytes;
  }

 private:
  using Words = Vector<std::uint32_t, 2 * Channels>;

  /// The last matrix row of a warp is of columns that it does not write.
  __device__ void sum_buffer(const WindowWeights& weights, std::uint32_t (&sums)[small_box_sums]) const {
    ByteMatrix low;
    ByteMatrix high;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int from = buffer_ + min(lane_.unit(half), warp_size - 1) * unit_bytes;
      if constexpr (Decoded) {
        const uint4 unit = *shared_at<const uint4>(from);
        low.set(half, unit.x, unit.y);
        high.set(half, unit.z, unit.w);
      } else {
        const uint2 unit = *shared_at<const uint2>(from);
        low.set(half, unit.x, unit.y);
      }
    }
    if constexpr (Decoded) {
      SplitSource::add_sums(weights, low, high, sums);
    } else {
      int of_codes[small_box_sums];
      weights.sum(low, of_codes);
#pragma unroll
      for (int i = 0; i < small_box_sums; ++i)
        sums[i] = static_cast<std::uint32_t>(of_codes[i]) << more_bits_;
    }
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

  SmallBoxLane lane_;
  const std::byte* from_;
  std::int64_t row_;
  int height_;
  int more_bits_;
  int buffer_;
  int first_;  ///< of the lane's pixels that exist
  int end_;
  bool whole_;  ///< all of them exist, and words are aligned
  bool exists_;
  std::uint32_t of_two_ = 0;
  std::uint32_t of_three_ = 0;
  Words fetched_{};
};

}  // namespace satin::kernels
