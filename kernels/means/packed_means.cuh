#pragma once
// Means of one row of 32 lanes from its packed column sums.
//
// The sum over the window that ends at an element is that of the element one pixel to the left, plus the
// element's column, minus the column that the window has left behind; its lane does that for its pixels, and
// a scan over the lanes gives what they start from. Sums are kept in the low bits of floats near 1.5 * 2^23,
// so that neither the scan nor the division needs an integer: all are whole numbers below 2^24, and exact.

#include <cstdint>

#include "kernels/device/registers.cuh"
#include "kernels/means/packed_columns.cuh"

namespace satin::kernels {

/// sum + one of the pair's 16-bit numbers, or minus it.
template <bool High, bool Minus>
__device__ int add_half(std::uint32_t pair, int sum) {
  constexpr std::uint32_t one = Minus ? 0xFFU : 0x01U;
  int result = 0;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(High ? one << 8 : one), "r"(sum));
  return result;
}

template <int Channels, int Shift>
class PackedMeans {
 public:
  using Shape = PackedShape<Channels>;

  /// `slot`: where the warp's row of sums begins, with its margin.
  __device__ PackedMeans(const PackedMeanArguments& arguments, const PackedPart& part,
                         const PackedShared<Channels>& shared, std::uint32_t* slot, int warp)
      : arguments_(arguments),
        part_(part),
        left_(slot + lane_index() * Shape::pairs),
        staging_(shared.staging + warp * Shape::staged_words),
        divisions_(shared.divisions + lane_index() * Shape::pixels) {}

  __device__ void start_row(int y) {
    const PackedMeanJob& job = arguments_.job;
    const int height = window_pixels(y, job.reach_y, job.height, job.clipped);
    if (height != height_) whole_ = ByteDivision((2 * job.reach_x + 1) * height);
    height_ = height;
#pragma unroll
    for (float& carry : carries_) carry = 0;
    out_ = arguments_.output.data + y * arguments_.output.row;
  }

  /// The means of one span after those to its left. The row of sums holds the span's columns already.
  __device__ void write(int span, const std::uint32_t (&columns)[Shape::pairs]) {
    const int first = part_.origin + span * Shape::span_pixels - arguments_.job.reach_x;
    int sums[Shape::elements];
    add_windows(columns, left_ + span * Shape::span_words, sums);
    float before[Channels];
    scan(sums, before);
    if (first + Shape::span_pixels <= part_.first_x) return __syncwarp();
    if (is_whole(first)) {
#pragma unroll
      for (float& b : before) b = __fadd_rn(b, whole_.half);
      stage(sums, [&](int e, float sum) { return whole_(__fadd_rn(sum, before[e % Channels])); });
    } else {
      ByteDivision divisions[Shape::pixels];
      find_divisions(span, first, divisions);
      stage(sums, [&](int e, float sum) {
        const ByteDivision& division = divisions[e / Channels];
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

  /// What the windows gain over the lane's pixels, from the lane's first on.
  __device__ static void add_windows(const std::uint32_t (&columns)[Shape::pairs], const std::uint32_t* left,
                                     int (&sums)[Shape::elements]) {
    std::uint32_t leaves[left_chunks * 4];
    load_words(left, leaves);
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

  /// True if no window of a span whose first pixel is `first` is clipped where it is written.
  [[nodiscard]] __device__ bool is_whole(int first) const {
    if (!arguments_.job.clipped) return true;
    const int reach = arguments_.job.reach_x;
    const int last = min(first + Shape::span_pixels, part_.last_x) - 1;
    return max(first, part_.first_x) >= reach && last + reach < arguments_.job.width;
  }

  __device__ void find_divisions(int span, int first, ByteDivision (&divisions)[Shape::pixels]) const {
    const PackedMeanJob& job = arguments_.job;
    if (height_ == 2 * job.reach_y + 1) {
#pragma unroll
      for (int p = 0; p < Shape::pixels; ++p) divisions[p] = divisions_[span * Shape::span_pixels + p];
      return;
    }
#pragma unroll
    for (int p = 0; p < Shape::pixels; ++p) {
      const int x = first + lane_index() * Shape::pixels + p;
      divisions[p] = ByteDivision(max(window_pixels(x, job.reach_x, job.width, job.clipped), 1) * height_);
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

  /// Writes those staged means that belong to the picture; `first` is the pixel of the first one.
  __device__ void copy_staged(int first) const {
    const int begin = max(part_.first_x - first, 0) * Channels;
    const int end = min(part_.last_x - first, Shape::span_pixels) * Channels;
    std::byte* to = out_ + first * Channels;
    const auto behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 8);
    if (behind == 0) {
      const auto* words = reinterpret_cast<const uint2*>(staging_);
      copy_range<uint2>(to, 0, begin, end, [&](int at) { return words[at / 8]; });
    } else {
      const int skipped = (4 - behind % 4) % 4;  // bytes before the first word
      copy_range<std::uint32_t>(to, skipped, begin, end, [&](int at) {
        return __funnelshift_r(staging_[at / 4], staging_[at / 4 + 1], 8 * skipped);
      });
    }
  }

  /// Whole words of the bytes [begin, end), which begin `skipped` bytes behind those of the staging, and then
  /// the bytes that are left at either end.
  template <class Word, class Read>
  __device__ void copy_range(std::byte* to, int skipped, int begin, int end, const Read& read) const {
    constexpr int size = sizeof(Word);
    const int first_word = min((begin - skipped + size - 1) / size * size + skipped, end);
    const int end_word = max((end - skipped) / size * size + skipped, first_word);
    const auto words = static_cast<unsigned>(end_word - first_word);
    const int at = lane_index() * size;
    const auto place = static_cast<unsigned>(opaque(at + skipped - first_word));  // of the lane's word
    std::byte* from = to + skipped + at;
#pragma unroll
    for (int turn = 0; turn < Shape::elements / size; ++turn) {
      constexpr int step = warp_size * size;
      if (place + turn * step < words)
        __stcs(reinterpret_cast<Word*>(from + turn * step), read(at + turn * step));
    }
    if (first_word == begin && end_word == end) return;
    if (lane_index() == 0) copy_bytes(to, begin, first_word);
    if (lane_index() == 1) copy_bytes(to, end_word, end);
  }

  __device__ void copy_bytes(std::byte* to, int begin, int end) const {
    const auto* staged = reinterpret_cast<const std::byte*>(staging_);
#pragma unroll 1
    for (int i = begin; i < end; ++i) to[i] = staged[i];
  }

  const PackedMeanArguments& arguments_;
  const PackedPart& part_;
  const std::uint32_t* left_;  ///< the chunk of the row of sums where the windows' left ends lie
  std::uint32_t* staging_;     ///< bytes of means
  const ByteDivision* divisions_;
  std::byte* out_ = nullptr;  ///< row of the output
  int height_ = 0;            ///< rows of the picture in a window
  ByteDivision whole_;        ///< of unclipped windows
  float carries_[Channels];   ///< windows at the end of the span before
};

}  // namespace satin::kernels
