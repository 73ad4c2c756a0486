#pragma once
// Means of one row of 32 lanes from its packed column sums.
//
// The sum over the window that ends at an element is that of the element one pixel to the left, plus the
// element's column, minus the column that the window has left behind; its lane does that for its pixels, and
// a scan over the lanes gives what they start from. Sums are kept in the low bits of floats near 1.5 * 2^23,
// so that neither the scan nor the division needs an integer: all are whole numbers below 2^24, and exact.

#include <cstdint>

#include "kernels/exact_division.cuh"
#include "kernels/packed_part.cuh"

namespace satin::kernels {

/// sum + one of the pair's 16-bit numbers, or minus it.
template <bool High, bool Minus>
__device__ int add_half(std::uint32_t pair, int sum) {
  constexpr std::uint32_t one = Minus ? 0xFFU : 0x01U;
  int result = 0;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(High ? one << 8 : one), "r"(sum));
  return result;
}

/// The sums of each value over the lanes up to this one. They are whole numbers, and exact.
template <int Count>
__device__ void inclusive_scans(float (&values)[Count]) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
#pragma unroll
    for (float& value : values)
      asm volatile(
          "{ .reg .f32 t; .reg .pred p;"
          " shfl.sync.up.b32 t|p, %0, %1, 0, 0xffffffff;"
          " @p add.rn.f32 %0, %0, t; }"
          : "+f"(value)
          : "r"(distance));
  }
}

/// A template, because the host compiler does not know the intrinsic.
template <class Float>
__device__ Float upward_reciprocal(Float value) {
  return __frcp_ru(value);
}

/// floor((sum + half) / divisor) with half = floor(divisor / 2), for sum <= 255 divisor and divisor < 2^15.
///
/// The reciprocal is rounded up: it is too large by a part of less than 2^-23. The sum with the half is below
/// 2^23, so that the product exceeds the quotient by less than 1 / divisor, and has its floor. A fused
/// addition of 1.5 * 2^23, rounded down, leaves that in the low byte.
struct UpwardDivision {
  float inverse = 0;
  float half = 0;

  UpwardDivision() = default;
  __device__ explicit UpwardDivision(int divisor)
      : inverse(upward_reciprocal(static_cast<float>(divisor))), half(static_cast<float>(divisor / 2)) {}

  [[nodiscard]] __device__ std::uint32_t operator()(float sum_and_half) const {
    return __float_as_uint(__fmaf_rd(sum_and_half, inverse, ByteDivision::middle));
  }
};

template <int Channels, int Shift>
class PackedMeans {
 public:
  using Shape = PackedShape<Channels>;

  /// `memory`: of the warp, Shape::warp_words().
  __device__ PackedMeans(const PackedMeanArguments& arguments, const PackedPart& part, std::uint32_t* memory)
      : arguments_(arguments),
        part_(part),
        sums_(memory + Shape::margin_words(arguments.job.reach_x)),
        staging_(sums_ + Shape::row_words),
        divisions_(reinterpret_cast<UpwardDivision*>(staging_ + (Shape::staged_words + 3) / 4 * 4)) {
    for (std::uint32_t* word = memory + lane_index(); word < sums_; word += warp_size) *word = 0;
    own_ = sums_ + lane_index() * Shape::pairs;
    left_ = own_ - Shape::margin_words(arguments.job.reach_x);
  }

  __device__ void start_row(int y) {
    const int height = counted(y, arguments_.job.reach_y, arguments_.job.height);
    new_height_ = height != height_;
    height_ = height;
    if (new_height_) whole_ = UpwardDivision((2 * arguments_.job.reach_x + 1) * height);
#pragma unroll
    for (float& carry : carries_) carry = 0;
    out_ = arguments_.output.data + y * arguments_.output.row;
  }

  /// The columns of one segment after those to its left.
  __device__ void write(int segment, const std::uint32_t (&columns)[Shape::pairs]) {
    const int first = part_.origin + segment * warp_size * Shape::pixels - arguments_.job.reach_x;
    if (first >= part_.last_x) return;
    constexpr int words = warp_size * Shape::pairs;
    store_words(own_ + segment * words, columns);
    __syncwarp();
    int sums[Shape::elements];
    add_windows(columns, left_ + segment * words, sums);
    float before[Channels];
    scan(sums, before);
    if (first + warp_size * Shape::pixels <= part_.first_x) return __syncwarp();
    if (is_whole(first)) {
#pragma unroll
      for (float& b : before) b = __fadd_rn(b, whole_.half);
      stage(sums, [&](int e, float sum) { return whole_(__fadd_rn(sum, before[e % Channels])); });
    } else {
      find_divisions(segment, first);
      UpwardDivision divisions[Shape::pixels];
#pragma unroll
      for (int p = 0; p < Shape::pixels; ++p) divisions[p] = own_divisions(segment)[p];
      stage(sums, [&](int e, float sum) {
        const UpwardDivision& division = divisions[e / Channels];
        return division(__fadd_rn(__fadd_rn(sum, before[e % Channels]), division.half));
      });
    }
    __syncwarp();
    copy_staged(first);
  }

 private:
  static constexpr int shift =
      (Shape::chunk - Shift) % Shape::chunk;  ///< of the windows' left ends in a chunk
  static constexpr int left_chunks = Shape::elements / Shape::chunk + (shift != 0 ? 1 : 0);

  [[nodiscard]] __device__ int counted(int centre, int reach, int size) const {
    if (!arguments_.job.clipped) return 2 * reach + 1;
    return min(centre + reach, size - 1) - max(centre - reach, 0) + 1;
  }

  /// What the windows gain over the lane's pixels, from the lane's first on.
  __device__ static void add_windows(const std::uint32_t (&columns)[Shape::pairs], const std::uint32_t* left,
                                     int (&sums)[Shape::elements]) {
    std::uint32_t leaves[left_chunks * 4];
#pragma unroll
    for (int i = 0; i < left_chunks; ++i) {
      const uint4 v = *reinterpret_cast<const uint4*>(left + 4 * i);
      leaves[4 * i] = v.x;
      leaves[4 * i + 1] = v.y;
      leaves[4 * i + 2] = v.z;
      leaves[4 * i + 3] = v.w;
    }
    constexpr int middle = 0x4B400000;
#pragma unroll
    for (int e = 0; e < Shape::elements; ++e) {
      const int sum = e < Channels ? middle : sums[e < Channels ? 0 : e - Channels];
      const int gained = e % 2 == 0 ? add_half<false, false>(columns[e / 2], sum)
                                    : add_half<true, false>(columns[e / 2], sum);
      const std::uint32_t left_pair = leaves[(e + shift) / 2];
      sums[e] = (e + shift) % 2 == 0 ? add_half<false, true>(left_pair, gained)
                                     : add_half<true, true>(left_pair, gained);
    }
  }

  /// The sums of the windows that end before the lane's first pixel, less what the lane's own start from.
  __device__ void scan(const int (&sums)[Shape::elements], float (&before)[Channels]) {
    float own[Channels];
    float inclusive[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      own[c] = inclusive[c] =
          __fadd_rn(__int_as_float(sums[Shape::elements - Channels + c]), -ByteDivision::middle);
    inclusive_scans(inclusive);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const float before_middle = __fadd_rn(carries_[c], -ByteDivision::middle);
      before[c] = __fadd_rn(__fadd_rn(inclusive[c], -own[c]), before_middle);
      carries_[c] = __fadd_rn(carries_[c], __shfl_sync(whole_warp, inclusive[c], warp_size - 1));
    }
  }

  /// True if no window of a segment whose first pixel is `first` is clipped where it is written.
  [[nodiscard]] __device__ bool is_whole(int first) const {
    if (!arguments_.job.clipped) return true;
    const int reach = arguments_.job.reach_x;
    const int last = min(first + warp_size * Shape::pixels, part_.last_x) - 1;
    return max(first, part_.first_x) >= reach && last + reach < arguments_.job.width;
  }

  [[nodiscard]] __device__ UpwardDivision* own_divisions(int segment) const {
    return divisions_ + (segment * warp_size + lane_index()) * Shape::pixels;
  }

  __device__ void find_divisions(int segment, int first) {
    if (!new_height_) return;
#pragma unroll
    for (int p = 0; p < Shape::pixels; ++p) {
      const int x = first + lane_index() * Shape::pixels + p;
      own_divisions(segment)[p] =
          UpwardDivision(max(counted(x, arguments_.job.reach_x, arguments_.job.width), 1) * height_);
    }
  }

  template <class Mean>
  __device__ void stage(const int (&sums)[Shape::elements], const Mean& mean) {
    std::uint32_t words[Shape::elements / 4];
#pragma unroll
    for (int i = 0; i < Shape::elements / 4; ++i) {
      std::uint32_t means[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) means[k] = mean(4 * i + k, __int_as_float(sums[4 * i + k]));
      const std::uint32_t low = __byte_perm(means[0], means[1], 0x0040);
      const std::uint32_t high = __byte_perm(means[2], means[3], 0x0040);
      words[i] = __byte_perm(low, high, 0x5410);
    }
    auto* to = reinterpret_cast<uint2*>(staging_ + lane_index() * (Shape::elements / 4));
#pragma unroll
    for (int i = 0; i < Shape::elements / 4; i += 2) to[i / 2] = make_uint2(words[i], words[i + 1]);
  }

  /// Bytes [begin, end) of the staged means belong to the picture; `first` is the pixel of the first one.
  __device__ void copy_staged(int first) const {
    const int begin = max(part_.first_x - first, 0) * Channels;
    const int end = min(part_.last_x - first, warp_size * Shape::pixels) * Channels;
    std::byte* to = out_ + first * Channels;
    constexpr int all = warp_size * Shape::elements;
    const auto behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 8);
    if (behind == 0 && begin == 0 && end == all) {
      const auto* from = reinterpret_cast<const uint2*>(staging_) + lane_index();
      auto* lane_to = reinterpret_cast<uint2*>(to) + lane_index();
#pragma unroll
      for (int i = 0; i < all / 8; i += warp_size) __stcs(lane_to + i, from[i]);
      return;
    }
    if (behind == 0) {
      copy_words<uint2>(to, begin, end,
                        [&](int at) { return reinterpret_cast<const uint2*>(staging_)[at / 8]; });
      return;
    }
    const int skipped = (4 - behind % 4) % 4;
    if (lane_index() == 0) copy_bytes(to, max(begin, 0), min(skipped, end));
    copy_words<std::uint32_t>(
        to + skipped, begin - skipped, end - skipped,
        [&](int at) { return __funnelshift_r(staging_[at / 4], staging_[at / 4 + 1], 8 * skipped); },
        skipped);
  }

  __device__ void copy_bytes(std::byte* to, int begin, int end) const {
    const auto* staged = reinterpret_cast<const std::byte*>(staging_);
#pragma unroll 1
    for (int i = begin; i < end; ++i) to[i] = staged[i];
  }

  template <class Word, class Read>
  __device__ void copy_words(std::byte* to, int begin, int end, const Read& read, int skipped = 0) const {
    constexpr int size = sizeof(Word);
    constexpr int turns = Shape::elements / size;
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int at = (turn * warp_size + lane_index()) * size;
      if (at >= begin && at + size <= end) {
        __stcs(reinterpret_cast<Word*>(to + at), read(at));
      } else if (at < end && at + size > begin) {
        copy_bytes(to - skipped, max(at, begin) + skipped, min(at + size, end) + skipped);
      }
    }
  }

  const PackedMeanArguments& arguments_;
  const PackedPart& part_;
  std::uint32_t* sums_;        ///< a row of column sums
  std::uint32_t* staging_;     ///< bytes of means
  UpwardDivision* divisions_;  ///< of every pixel, in strips at either side of the picture
  std::uint32_t* own_;         ///< the lane's sums of the first segment
  const std::uint32_t* left_;  ///< the chunk where the windows' left ends lie
  std::byte* out_ = nullptr;   ///< row of the output
  int height_ = 0;             ///< rows of the picture in a window
  bool new_height_ = false;
  UpwardDivision whole_;     ///< of unclipped windows
  float carries_[Channels];  ///< windows at the end of the segment before
};

}  // namespace satin::kernels
