// One tile of a chain of boxes, compiled for every SIMD target. Every box keeps the last rows of its input in
// a ring; a row of its means becomes the newest row of the next box's ring, so that nothing but the picture
// and the result is in memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/sliding_boxes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "core/cpu/fetch.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/covered-inl.h"
#include "means/cpu/divide-inl.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/cpu/transfer-inl.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Calls call.template operator()<T>() with the unsigned integer of the type.
template <class Call>
void WithInteger(Type type, const Call& call) {
  if (type == Type::u8) return call.template operator()<std::uint8_t>();
  if (type == Type::u16) return call.template operator()<std::uint16_t>();
  call.template operator()<std::uint32_t>();
}

template <class T>
const T* As(const std::byte* row) {
  return reinterpret_cast<const T*>(row);
}

template <class T>
T* As(std::vector<std::byte>& row) {
  return reinterpret_cast<T*>(row.data());
}

/// As many pixels or more that fill vectors of every width, whatever their channels.
inline std::int64_t WholeVectors(std::int64_t pixels) { return (pixels + 15) / 16 * 16; }

class TileOfBoxes final : public SlidingBoxes {
 public:
  TileOfBoxes(std::span<const ChainBox> boxes, std::int64_t width);

  [[nodiscard]] std::size_t bytes() const noexcept override;
  void run(const MeanStore& store, const BoxMeanImages& images, Tile tile, MeanRows* means,
           int slot) override;

 private:
  /// Where one box of the chain stands.
  struct State {
    std::vector<std::byte> ring;  ///< rows of its input
    std::vector<std::uint32_t> sums;
    std::vector<std::byte> line;    ///< (weighted) column sums, and the border's on either side
    std::vector<std::byte> prefix;  ///< of `line`, behind one pixel of zeros
    std::int64_t filled = 0;        ///< rows before this one are in the ring, or were
    std::int64_t next = 0;          ///< row of its output
    bool started = false;
    std::int64_t in_first = 0;  ///< columns of its input
    std::int64_t in_last = 0;
    std::int64_t out_first = 0;  ///< columns of its output
    std::int64_t out_last = 0;
  };

  void place(Tile tile);
  [[nodiscard]] std::byte* ring_row(std::size_t box, std::int64_t y);
  [[nodiscard]] const std::byte* input_row(std::size_t box, std::int64_t y);
  void fill_to(std::size_t box, std::int64_t y);
  void decode_to_ring(std::int64_t y);
  void mean_row(std::size_t box, std::int64_t y, std::byte* out);
  void fetch_ahead(std::int64_t y, std::int64_t left) const;
  void finish_row(std::int64_t y, std::int64_t left);
  [[nodiscard]] const std::byte* working_row(std::int64_t y);

  template <class Value>
  void sum_whole(std::size_t box, std::int64_t y);
  template <class Value, class Sum>
  void sum_covered(std::size_t box, std::int64_t y);
  template <class Value>
  void start(std::size_t box, std::int64_t y, std::uint32_t* sums);
  template <class Sum>
  void extend_and_scan(std::size_t box);
  template <class Sum, class Mean>
  void divide_row(std::size_t box, std::int64_t y, Mean* out);
  template <class Sum, class Mean>
  void divide_part(std::size_t box, std::uint64_t size_y, std::int64_t first, std::int64_t last, Mean* out);

  std::span<const ChainBox> boxes_;
  std::size_t channels_;
  std::vector<State> states_;
  std::vector<std::byte> nothing_;  ///< a row of zeros of any type
  std::vector<std::byte> working_;  ///< means before they are encoded
  const MeanStore* store_ = nullptr;
  const BoxMeanImages* images_ = nullptr;
};

inline TileOfBoxes::TileOfBoxes(std::span<const ChainBox> boxes, std::int64_t width)
    : boxes_(boxes), channels_(static_cast<std::size_t>(boxes[0].job.read.channels)), states_(boxes.size()) {
  const auto entries = [&](std::int64_t pixels) { return static_cast<std::size_t>(pixels) * channels_; };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const ChainBox& box = boxes[i];
    State& state = states_[i];
    const std::size_t in = entries(width + 2 * (box.margin_x + box.halo_x));
    const std::size_t sum = box.wide ? sizeof(double) : sizeof(std::uint32_t);
    if (!box.direct) state.ring.resize(static_cast<std::size_t>(box.ring_rows()) * in * size_of(box.input));
    if (box.fractional) state.sums.resize(in);
    const std::size_t scanned = entries(WholeVectors(width + 2 * (box.margin_x + box.halo_x)));
    state.line.resize(scanned * sum);
    state.prefix.resize((scanned + channels_) * sum);
    nothing_.resize(std::max(nothing_.size(), in * sizeof(std::uint32_t)));
  }
  working_.resize(entries(width) * sizeof(std::uint32_t));
}

inline std::size_t TileOfBoxes::bytes() const noexcept {
  std::size_t bytes = nothing_.size() + working_.size();
  for (const State& state : states_)
    bytes += state.ring.size() + state.sums.size() * 4 + state.line.size() + state.prefix.size();
  return bytes;
}

/// The rows of the picture and of the output that are next.
HWY_INLINE void TileOfBoxes::fetch_ahead(std::int64_t y, std::int64_t left) const {
  constexpr std::int64_t ahead = 2;
  const std::int64_t height = boxes_[0].job.height;
  const std::int64_t reads = y + boxes_[0].margin_y + boxes_[0].halo_y + ahead;
  const State& first = states_.front();
  const State& last = states_.back();
  if (reads < height)
    fetch(images_->source.at(first.in_first, reads),
          static_cast<std::size_t>((first.in_last - first.in_first) * images_->source.strides.pixel));
  if (y + ahead < height)
    fetch(images_->output.at(left, y + ahead),
          static_cast<std::size_t>((last.out_last - last.out_first) * images_->output.strides.pixel));
}

inline void TileOfBoxes::run(const MeanStore& store, const BoxMeanImages& images, Tile tile, MeanRows* means,
                             int slot) {
  store_ = &store;
  images_ = &images;
  place(tile);
  for (std::int64_t y = tile.top; y < tile.bottom; ++y) {
    fetch_ahead(y, tile.left);
    if (means == nullptr) {
      finish_row(y, tile.left);
    } else {
      means->take(y, tile.left, tile.right, working_row(y), slot);
    }
  }
}

inline void TileOfBoxes::place(Tile tile) {
  const std::int64_t width = boxes_[0].job.width;
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const ChainBox& box = boxes_[i];
    State& state = states_[i];
    state.out_first = std::max<std::int64_t>(0, tile.left - box.margin_x);
    state.out_last = std::min(width, tile.right + box.margin_x);
    state.in_first = std::max<std::int64_t>(0, state.out_first - box.halo_x);
    state.in_last = std::min(width, state.out_last + box.halo_x);
    state.next = std::max<std::int64_t>(0, tile.top - box.margin_y);
    state.filled = std::max<std::int64_t>(0, state.next - box.halo_y);
    state.started = false;
    std::fill(state.line.begin(), state.line.end(), std::byte{0});
  }
}

inline std::byte* TileOfBoxes::ring_row(std::size_t box, std::int64_t y) {
  State& state = states_[box];
  const auto slot = static_cast<std::size_t>(y % boxes_[box].ring_rows());
  return state.ring.data() + slot * (state.ring.size() / static_cast<std::size_t>(boxes_[box].ring_rows()));
}

inline const std::byte* TileOfBoxes::input_row(std::size_t box, std::int64_t position) {
  const std::int64_t y = source_of(position, boxes_[box].job.height, boxes_[box].job.border);
  if (y < 0) return nothing_.data();
  return boxes_[box].direct ? images_->source.at(states_[box].in_first, y) : ring_row(box, y);
}

inline void TileOfBoxes::fill_to(std::size_t box, std::int64_t y) {
  if (boxes_[box].direct) return;
  State& state = states_[box];
  for (; state.filled <= std::min(y, boxes_[box].job.height - 1); ++state.filled) {
    if (box == 0) {
      decode_to_ring(state.filled);
    } else {
      mean_row(box - 1, state.filled, ring_row(box, state.filled));
    }
  }
}

inline void TileOfBoxes::decode_to_ring(std::int64_t y) {
  const State& state = states_[0];
  const std::byte* source = images_->source.at(state.in_first, y);
  const std::size_t entries = static_cast<std::size_t>(state.in_last - state.in_first) * channels_;
  const TransferView& transfer = store_->reader.transfer;
  std::byte* row = ring_row(0, y);
  if (boxes_[0].input == Type::u16)
    return DecodeRow(As<std::uint8_t>(source), entries, transfer, reinterpret_cast<std::uint16_t*>(row));
  auto* values = reinterpret_cast<std::uint32_t*>(row);
  for (std::size_t i = 0; i < entries; ++i) values[i] = transfer.decode[As<std::uint16_t>(source)[i]];
}

/// Row y of the last box's means, before they are encoded.
inline const std::byte* TileOfBoxes::working_row(std::int64_t y) {
  mean_row(boxes_.size() - 1, y, working_.data());
  return working_.data();
}

/// Row y of the last box's means, as it is stored.
inline void TileOfBoxes::finish_row(std::int64_t y, std::int64_t left) {
  const std::size_t last = boxes_.size() - 1;
  std::byte* out = images_->output.at(left, y);
  if (!boxes_[last].encodes) return mean_row(last, y, out);
  const std::size_t entries =
      static_cast<std::size_t>(states_[last].out_last - states_[last].out_first) * channels_;
  mean_row(last, y, working_.data());
  if (boxes_[last].output == Type::u16) {
    EncodeRow(As<std::uint16_t>(working_), entries, store_->rule.transfer,
              reinterpret_cast<std::uint8_t*>(out));
  } else {
    EncodeRow16(As<std::uint32_t>(working_), entries, store_->rule.transfer,
                reinterpret_cast<std::uint16_t*>(out));
  }
}

inline void TileOfBoxes::mean_row(std::size_t index, std::int64_t y, std::byte* out) {
  const ChainBox& box = boxes_[index];
  fill_to(index, y + box.halo_y);
  WithInteger(box.input, [&]<class Value>() {
    if (!box.fractional) return sum_whole<Value>(index, y);
    box.wide ? sum_covered<Value, double>(index, y) : sum_covered<Value, std::uint32_t>(index, y);
  });
  states_[index].started = true;
  box.wide ? extend_and_scan<double>(index) : extend_and_scan<std::uint32_t>(index);
  WithInteger(box.output, [&]<class Mean>() {
    auto* means = reinterpret_cast<Mean*>(out);
    box.wide ? divide_row<double>(index, y, means) : divide_row<std::uint32_t>(index, y, means);
  });
}

/// Sums over the whole rows of the window around row y, each as often as the border makes it appear.
template <class Value>
inline void TileOfBoxes::start(std::size_t box, std::int64_t y, std::uint32_t* sums) {
  const State& state = states_[box];
  const std::size_t entries = static_cast<std::size_t>(state.in_last - state.in_first) * channels_;
  std::fill_n(sums, entries, 0U);
  for (std::int64_t row = y - boxes_[box].reach_y; row <= y + boxes_[box].reach_y; ++row)
    Add(As<Value>(input_row(box, row)), entries, sums);
}

template <class Value>
inline void TileOfBoxes::sum_whole(std::size_t index, std::int64_t y) {
  const ChainBox& box = boxes_[index];
  State& state = states_[index];
  const std::int64_t before = state.in_first - (state.out_first - box.halo_x);
  std::uint32_t* sums = As<std::uint32_t>(state.line) + static_cast<std::size_t>(before) * channels_;
  if (!state.started) return start<Value>(index, y, sums);
  Exchange(As<Value>(input_row(index, y + box.reach_y)), As<Value>(input_row(index, y - 1 - box.reach_y)),
           static_cast<std::size_t>(state.in_last - state.in_first) * channels_, sums);
}

template <class Value, class Sum>
inline void TileOfBoxes::sum_covered(std::size_t index, std::int64_t y) {
  const ChainBox& box = boxes_[index];
  State& state = states_[index];
  const std::int64_t before = state.in_first - (state.out_first - box.halo_x);
  Sum* weighted = As<Sum>(state.line) + static_cast<std::size_t>(before) * channels_;
  const auto* above = As<Value>(input_row(index, y - 1 - box.reach_y));
  const auto* below = As<Value>(input_row(index, y + 1 + box.reach_y));
  const Value* enters = As<Value>(input_row(index, y + box.reach_y));
  if (!state.started) {
    start<Value>(index, y, state.sums.data());
    enters = above;
  }
  const auto outer = static_cast<std::uint32_t>(box.job.radius.y % radius_one);
  Slide(enters, above, below, outer, static_cast<std::size_t>(state.in_last - state.in_first) * channels_,
        state.sums.data(), weighted);
}

/// Prefix sums of the line, after the border has filled it. Of shrink it is zeros, which place() wrote.
template <class Sum>
inline void TileOfBoxes::extend_and_scan(std::size_t index) {
  const ChainBox& box = boxes_[index];
  State& state = states_[index];
  const std::int64_t first = state.out_first - box.halo_x;
  const std::int64_t last = state.out_last + box.halo_x;
  Sum* line = As<Sum>(state.line);
  const auto at = [&](std::int64_t x) { return line + static_cast<std::size_t>(x - first) * channels_; };
  if (box.job.border != Border::shrink) {
    for (std::int64_t x = first; x < last; x = x + 1 == state.in_first ? state.in_last : x + 1) {
      if (x == state.in_first) x = state.in_last;
      if (x < last) std::copy_n(at(source_of(x, box.job.width, box.job.border)), channels_, at(x));
    }
  }
  Scan(line, static_cast<std::size_t>(WholeVectors(last - first)), static_cast<int>(channels_), nullptr,
       As<Sum>(state.prefix) + channels_);
}

/// Clipped columns have sizes of their own: those before `left` and from `right` on.
template <class Sum, class Mean>
inline void TileOfBoxes::divide_row(std::size_t index, std::int64_t y, Mean* out) {
  const ChainBox& box = boxes_[index];
  const State& state = states_[index];
  const BoxMeanJob& job = box.job;
  std::uint64_t size_y = axis_box(y, job.height, job.radius.y, job.border).size;
  if (box.fractional && job.radius.y % radius_one == 0) size_y *= radius_one;  // as Slide() weighs rows
  if (!job.write.working) size_y <<= job.read.fraction;
  std::int64_t left = state.out_first;
  std::int64_t right = state.out_last;
  if (job.border == Border::shrink) {
    left = std::clamp(box.halo_x, state.out_first, state.out_last);
    right = std::clamp(job.width - box.halo_x, left, state.out_last);
  }
  divide_part<Sum>(index, size_y, state.out_first, left, out);
  divide_part<Sum>(index, size_y, left, right, out);
  divide_part<Sum>(index, size_y, right, state.out_last, out);
}

template <class Sum, class Mean>
inline void TileOfBoxes::divide_part(std::size_t index, std::uint64_t size_y, std::int64_t first,
                                     std::int64_t last, Mean* out) {
  if (first >= last) return;
  const ChainBox& box = boxes_[index];
  State& state = states_[index];
  const BoxMeanJob& job = box.job;
  const auto entries = [&](std::int64_t pixels) { return static_cast<std::size_t>(pixels) * channels_; };
  const Sum* prefix = As<Sum>(state.prefix) + entries(1 + first - state.out_first + box.halo_x);
  out += entries(first - state.out_first);
  const double* size_x = nullptr;
  std::uint64_t size = axis_box(first, job.width, job.radius.x, job.border).size;
  if (job.border == Border::shrink && (first < box.halo_x || last > job.width - box.halo_x)) {
    size_x = box.sizes.data() +
             (first < box.halo_x ? entries(first) : box.sizes.size() - entries(job.width - first));
    size = 1;
  }
  const double scale = job.write.fraction > job.read.fraction ? 1 << job.write.fraction : 1;
  const auto divisor = static_cast<double>(size * size_y);
  if (box.fractional) {
    const std::int32_t outer = job.radius.x % radius_one;
    const CoveredRow<Sum> row{prefix,        entries(box.reach_x),
                              channels_,     (outer == 0 ? 1 : radius_one) * scale,
                              outer * scale, divisor,
                              size_x};
    return DivideCovered(row, entries(last - first), out);
  }
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    BoxDifferences<Sum> differences;
    differences.ahead[0] = prefix + entries(box.reach_x);
    differences.behind[0] = prefix - entries(box.reach_x + 1);
    differences.weight[0] = scale;
    Divisors divisors;
    divisors.divisor = divisor;
    divisors.reciprocal = 1.0 / divisor;
    divisors.words = box.words;
    divisors.size_x = size_x;
    divisors.size_y = divisor;
    Divide(differences, divisors, entries(last - first), out);
  }
}

inline std::unique_ptr<SlidingBoxes> MakeSlidingBoxes(std::span<const ChainBox> boxes, std::int64_t width) {
  return std::make_unique<TileOfBoxes>(boxes, width);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(MakeSlidingBoxes);

std::unique_ptr<SlidingBoxes> make_sliding_boxes(std::span<const ChainBox> boxes, std::int64_t width) {
  return HWY_DYNAMIC_DISPATCH(MakeSlidingBoxes)(boxes, width);
}

}  // namespace satin::cpu
#endif
