#pragma once
// Where the means of a small box go: split rows, or bytes, which are what unsharp makes of
// them.

#include <cstdint>

#include "kernels/means/residual_bytes.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/small_box_sums.cuh"

namespace satin::kernels {

/// Every class here is made for one channel of a tile. count(half): how many of the lane's four columns from
/// lane.first(half) on are in the picture and of the tile.
struct SmallBoxPlace {
  int tile;     ///< of the block's
  int first_x;  ///< of the warp's columns
  int channel;
  int count[2];
};

/// Split rows. Values behind the picture are zero.
class SplitTarget {
 public:
  static constexpr int bytes_of_value = 0;  ///< staged ones

  __device__ SplitTarget(const SmallBoxArguments& arguments, const SmallBoxPlace& place, int y,
                         int /*memory*/)
      : place_(place), row_(arguments.output.row) {
    const SmallBoxLane lane;
    const int x = place.first_x + lane.first(0);
    const int at = (1 + x / split_unit) * split_unit_bytes + x % split_unit * 2;
    to_ = arguments.output.data + place.channel * (row_ / arguments.job.channels) + at + y * row_;
  }

  __device__ void ask() {}

  /// Stores the next row; the first call stores row y.
  __device__ void write(const std::uint32_t (&means)[small_box_sums]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (place_.count[half] <= 0) continue;
      const std::uint32_t first = __byte_perm(means[4 * half], means[4 * half + 1], 0x5410);
      const std::uint32_t second = __byte_perm(means[4 * half + 2], means[4 * half + 3], 0x5410);
      const std::uint32_t kept = 0xFFFFFFFFU >> 8 * (4 - place_.count[half]);
      *reinterpret_cast<uint2*>(to_ + half * half_bytes) =
          make_uint2(__byte_perm(first, second, 0x6420) & kept, __byte_perm(first, second, 0x7531) & kept);
    }
    to_ += row_;
  }

 private:
  static constexpr int half_bytes = small_box_columns / 2 / split_unit * split_unit_bytes;

  const SmallBoxPlace& place_;
  std::int64_t row_;
  std::byte* to_;
};

/// Interleaved bytes: the warps of all channels of a tile bring their means together in shared memory, and a
/// thread writes eight bytes.
template <int Channels>
class ByteTarget {
 public:
  using Value = std::uint16_t;
  static constexpr int bytes_of_value = static_cast<int>(sizeof(Value));
  static constexpr int buffer_bytes = small_box_columns * Channels * bytes_of_value;

  /// `memory` belongs to the tile and holds two rows in turns.
  __device__ ByteTarget(const SmallBoxArguments& arguments, const SmallBoxPlace& place, int y, int memory)
      : arguments_(arguments), buffer_(memory), spare_(memory + buffer_bytes), barrier_(place.tile + 1) {
    const SmallBoxLane lane;
    first_ = static_cast<int>(sizeof(Value)) * (lane.first(0) * Channels + place.channel);
    thread_ = place.channel * warp_size + lane_index();
    const int x_bytes = place.first_x * Channels + 8 * thread_;
    to_ = arguments.output.data + x_bytes + y * arguments.output.row;
    own_ = arguments.picture.data + x_bytes + y * arguments.picture.row;
    count_ = min(max(arguments.job.width * Channels - x_bytes, 0), 8);
    const auto aligned = [](const void* data, std::int64_t row) {
      return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) % 8 == 0;
    };
    whole_ = count_ == 8 && aligned(to_, arguments.output.row) && aligned(own_, arguments.picture.row);
  }

  /// Asks for what the means of the next row are compared with.
  __device__ void ask() {
    if (whole_) {
      codes_ = __ldg(reinterpret_cast<const uint2*>(own_));
    } else {
      std::uint32_t words[2] = {};
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (i < count_)
          words[i / 4] |= static_cast<std::uint32_t>(__ldg(reinterpret_cast<const std::uint8_t*>(own_) + i))
                          << i % 4 * 8;
      codes_ = make_uint2(words[0], words[1]);
    }
    own_ += arguments_.picture.row;
  }

  /// Stores the next row; the first call stores row y.
  __device__ void write(const std::uint32_t (&means)[small_box_sums]) {
#pragma unroll
    for (int i = 0; i < small_box_sums; ++i) {
      const int column = i / 4 * (small_box_columns / 2) + i % 4;
      *shared_at<Value>(buffer_ + first_ + column * Channels * bytes_of_value) = static_cast<Value>(means[i]);
    }
    asm volatile("bar.sync %0, %1;" ::"r"(barrier_), "n"(Channels * warp_size) : "memory");
    const uint2 bytes = result();
    const int next = spare_;
    spare_ = buffer_;
    buffer_ = next;
    if (whole_) {
      __stcs(reinterpret_cast<uint2*>(to_), bytes);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (i < count_) to_[i] = static_cast<std::byte>((i < 4 ? bytes.x : bytes.y) >> i % 4 * 8 & 0xFFU);
    }
    to_ += arguments_.output.row;
  }

 private:
  /// The thread's bytes of the row that all warps have brought together.
  [[nodiscard]] __device__ uint2 result() const {
    const uint4 means = *shared_at<const uint4>(buffer_ + 8 * thread_ * bytes_of_value);
    return with_residual(codes_, means, arguments_.rule, arguments_.exact_in_float);
  }

  const SmallBoxArguments& arguments_;
  int buffer_;
  int spare_;
  int barrier_;
  int first_;   ///< byte of the lane's first mean in the buffer
  int thread_;  ///< of the tile
  std::byte* to_;
  const std::byte* own_;
  int count_;  ///< of the thread's bytes that exist
  bool whole_;
  uint2 codes_{};
};

}  // namespace satin::kernels
