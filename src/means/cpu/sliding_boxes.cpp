// One tile of a chain of boxes, compiled for every SIMD target. Every box keeps the last rows of its input in
// a ring; a row of its means becomes the newest row of the next box's ring, so that nothing but the picture
// and the result is in memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/sliding_boxes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/with_type.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/sliding_box-inl.h"
#include "pixels/cpu/blend-inl.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/cpu/transfer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// row[x] = (its pixel, 1), or zeros where the mask is 0, for `pixels` pixels of `Channels` values, which end
/// where the row of results ends: what is written never reaches what is still to be read.
template <int Channels, class Weight, class Value>
void AppendCounts(const Weight* mask, std::size_t pixels, Value* row) {
  static_assert(Channels == 1 || Channels == 3);
  const hn::ScalableTag<Value> d;
  const Value* from = row + pixels;
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= pixels; x += hn::Lanes(d)) {
    const auto out = hn::Eq(LoadWide(d, mask + x), hn::Zero(d));
    const auto count = hn::IfThenZeroElse(out, hn::Set(d, 1));
    if constexpr (Channels == 1) {
      hn::StoreInterleaved2(hn::IfThenZeroElse(out, hn::LoadU(d, from + x)), count, d, row + 2 * x);
    } else {
      hn::Vec<decltype(d)> red, green, blue;
      hn::LoadInterleaved3(d, from + 3 * x, red, green, blue);
      hn::StoreInterleaved4(hn::IfThenZeroElse(out, red), hn::IfThenZeroElse(out, green),
                            hn::IfThenZeroElse(out, blue), count, d, row + 4 * x);
    }
  }
  for (; x < pixels; ++x) {
    const Value count = mask[x] == 0 ? 0 : 1;
    for (std::size_t c = 0; c < Channels; ++c)
      row[(Channels + 1) * x + c] = static_cast<Value>(from[Channels * x + c] * count);
    row[(Channels + 1) * x + Channels] = count;
  }
}

/// The means of colours alone, in place: every pixel loses its last value.
template <int Channels, class Mean>
void DropCounts(std::size_t pixels, Mean* means) {
  static_assert(Channels == 1 || Channels == 3);
  const hn::ScalableTag<Mean> d;
  hn::Vec<decltype(d)> red, green, blue, count;
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= pixels; x += hn::Lanes(d)) {
    if constexpr (Channels == 1) {
      hn::LoadInterleaved2(d, means + 2 * x, red, count);
      hn::StoreU(red, d, means + x);
    } else {
      hn::LoadInterleaved4(d, means + 4 * x, red, green, blue, count);
      hn::StoreInterleaved3(red, green, blue, d, means + 3 * x);
    }
  }
  for (; x < pixels; ++x)
    for (std::size_t c = 0; c < Channels; ++c) means[x * Channels + c] = means[x * (Channels + 1) + c];
}

class TileOfBoxes final : public SlidingBoxes {
 public:
  TileOfBoxes(std::span<const ChainBox> boxes, std::int64_t width)
      : boxes_(boxes),
        channels_(static_cast<std::size_t>(boxes[0].job.read.channels)),
        stored_channels_(static_cast<std::size_t>(boxes[0].stored_channels())) {
    states_.reserve(boxes.size());
    for (const ChainBox& box : boxes) {
      State& state = states_.emplace_back(State{SlidingBox(box, width)});
      const std::size_t entries = state.box.row_entries();
      const std::size_t ring_rows = in_place(box) ? 0 : static_cast<std::size_t>(box.ring_rows());
      state.row_bytes = entries * size_of(box.input);
      state.rows.resize((ring_rows + 1) * state.row_bytes);
      if (box.job.border != Border::constant) continue;  // zeros, as they are
      with_type(box.input, [&]<class Value>() {
        for (std::size_t i = 0; i < entries; ++i)
          reinterpret_cast<Value*>(state.outside())[i] = static_cast<Value>(box.outside(i % channels_));
      });
    }
    working_.resize(static_cast<std::size_t>(width) * channels_ * sizeof(std::uint64_t));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = working_.size();
    for (const State& state : states_) bytes += state.box.bytes() + state.rows.size();
    return bytes;
  }

  void run(std::span<const MeanStore> stores, const BoxMeanImages& images, Tile tile, const TakeMeans& take,
           int slot) override {
    stores_ = stores;
    images_ = &images;
    place(tile);
    for (std::int64_t y = tile.top; y < tile.bottom; ++y) {
      if (take) {
        last_means(y, working_.data());
        take(y, tile.left, tile.right, working_.data(), slot);
      } else {
        finish_row(y, tile.left);
      }
    }
  }

 private:
  /// Where one box of the chain stands.
  struct State {
    SlidingBox box;
    WorkspaceVector<std::byte> rows{};  ///< the ring of its input, and a row outside the picture
    std::size_t row_bytes = 0;
    std::int64_t filled = 0;  ///< rows before this one are in the ring, or were

    [[nodiscard]] std::byte* outside() { return rows.data() + rows.size() - row_bytes; }
  };

  /// Where the border wraps, rows above and below the picture are made like others; elsewhere they are rows
  /// near its edge, or none.
  void place(Tile tile) {
    const BoxMeanJob& job = boxes_[0].job;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const ChainBox& box = boxes_[i];
      states_[i].box.place(std::max<std::int64_t>(0, tile.left - box.margin_x),
                           std::min(job.width, tile.right + box.margin_x));
      std::int64_t& filled = states_[i].filled;
      filled = tile.top - box.margin_y - box.halo_y;
      if (job.border != Border::wrap) filled = std::max<std::int64_t>(0, filled);
    }
  }

  std::byte* ring_row(std::size_t box, std::int64_t position) {
    const std::int64_t rows = boxes_[box].ring_rows();
    const auto slot = static_cast<std::size_t>((position % rows + rows) % rows);
    return states_[box].rows.data() + slot * states_[box].row_bytes;
  }

  const std::byte* input_row(std::size_t box, std::int64_t position) {
    const BoxMeanJob& job = boxes_[box].job;
    const bool in_ring = !in_place(boxes_[box]);
    if (in_ring && job.border == Border::wrap) return ring_row(box, position);
    const std::int64_t y = source_of(position, job.height, job.border);
    if (y < 0) return states_[box].outside();
    return in_ring ? ring_row(box, y) : images_->source.at(states_[box].box.in_first(), y);
  }

  [[nodiscard]] static bool in_place(const ChainBox& box) {
    return box.source == RowSource::picture_in_place;
  }

  /// Reads one more row of the first box's input.
  void decode_row(std::int64_t position, std::byte* row) {
    const BoxMeanJob& job = boxes_[0].job;
    const SlidingBox& box = states_[0].box;
    const RowReader& reader = stores_[0].reader;
    const std::byte* source = images_->source.at(box.in_first(), source_of(position, job.height, job.border));
    if (job.excludes) {
      const std::byte* mask = images_->mask.at(box.in_first(), source_of(position, job.height, job.border));
      return boxes_[0].input == Type::u16 ? read_counted(source, mask, reinterpret_cast<std::uint16_t*>(row))
                                          : read_counted(source, mask, reinterpret_cast<std::uint32_t*>(row));
    }
    if (boxes_[0].input == Type::u16)
      return DecodeRow(As<std::uint8_t>(source), box.in_pixels() * channels_, reader.transfer,
                       reinterpret_cast<std::uint16_t*>(row));
    boxes_[0].input == Type::u32
        ? ReadRow(reader, source, box.in_pixels(), reinterpret_cast<std::uint32_t*>(row))
        : ReadRow(reader, source, box.in_pixels(), reinterpret_cast<std::uint64_t*>(row));
  }

  /// Working values of a row, each pixel followed by 1; zeros where the mask is 0.
  template <class Value>
  void read_counted(const std::byte* source, const std::byte* mask, Value* row) const {
    const std::size_t pixels = states_[0].box.in_pixels();
    RowReader reader = stores_[0].reader;
    reader.read.weighted = false;
    reader.read.channels = boxes_[0].stored_channels();
    Value* values = row + pixels;
    if constexpr (sizeof(Value) == 4) {
      ReadRow(reader, source, pixels, values);
    } else if (reader.read.type == Type::u16) {
      std::copy_n(As<std::uint16_t>(source), pixels * stored_channels_, values);
    } else if (reader.transfer.decode == nullptr) {
      std::copy_n(As<std::uint8_t>(source), pixels * stored_channels_, values);
    } else {
      DecodeRow(As<std::uint8_t>(source), pixels * stored_channels_, reader.transfer, values);
    }
    const auto append = [&](const auto* weights) {
      stored_channels_ == 1 ? AppendCounts<1>(weights, pixels, row) : AppendCounts<3>(weights, pixels, row);
    };
    boxes_[0].job.mask_maximum == 0xFF ? append(As<std::uint8_t>(mask)) : append(As<std::uint16_t>(mask));
  }

  /// Row y of a box's means, after the rows of its window are in its ring.
  void mean_row(std::size_t index, std::int64_t y, std::byte* out) {
    const ChainBox& box = boxes_[index];
    std::int64_t last = y + box.halo_y;
    if (box.job.border != Border::wrap) last = std::min(last, box.job.height - 1);
    if (!in_place(box))
      for (std::int64_t& next = states_[index].filled; next <= last; ++next)
        index == 0 ? decode_row(next, ring_row(0, next)) : mean_row(index - 1, next, ring_row(index, next));
    states_[index].box.mean_row(
        stores_[index], *images_, y, [&](std::int64_t position) { return input_row(index, position); }, out);
  }

  /// Row y of the last box's means, in the order of its columns.
  void last_means(std::int64_t y, std::byte* out) { mean_row(boxes_.size() - 1, y, out); }

  /// Row y of the last box's means, as it is stored.
  void finish_row(std::int64_t y, std::int64_t left) {
    const ChainBox& last = boxes_.back();
    if (last.sink != RowSink::blend_or_encode) return last_means(y, images_->output.at(left, y));
    if (last.job.write.type == Type::u8) return store_row<std::uint8_t, std::uint16_t>(y, left);
    last.output == Type::u16 ? store_row<std::uint16_t, std::uint16_t>(y, left)
                             : store_row<std::uint16_t, std::uint32_t>(y, left);
  }

  /// Stores row y. Pixels stay as they are where the mask is 0, and are stored without a blend where it is
  /// full.
  template <class T, class Mean>
  void store_row(std::int64_t y, std::int64_t left) {
    last_means(y, working_.data());
    const std::size_t pixels = states_.back().box.out_pixels();
    const auto at = [&](const auto& view, std::size_t x) {
      return view.template row<T>(y) + (static_cast<std::size_t>(left) + x) * stored_channels_;
    };
    Mean* means = As<Mean>(working_);
    if (boxes_.back().job.excludes)
      stored_channels_ == 1 ? DropCounts<1>(pixels, means) : DropCounts<3>(pixels, means);
    const std::uint32_t whole = stores_.back().rule.mask_maximum;
    if (whole == 0) return store_means(means, pixels, at(images_->original, 0), at(images_->output, 0));
    const auto under = [&](const auto* mask) {
      ByCover(mask, pixels, [&](Cover cover, std::size_t first, std::size_t count) {
        Mean* part = means + first * stored_channels_;
        const T* original = at(images_->original, first);
        T* out = at(images_->output, first);
        if (cover == Cover::none) {
          std::copy_n(original, count * stored_channels_, out);
        } else if (cover == Cover::full) {
          store_means(part, count, original, out);
        } else {
          store_blended(part, mask + first, count, original, out);
        }
      });
    };
    const std::byte* mask = images_->mask.at(left, y);
    whole == 0xFF ? under(As<std::uint8_t>(mask)) : under(As<std::uint16_t>(mask));
  }

  [[nodiscard]] bool with_alpha() const {
    return stores_.back().rule.weighted && !boxes_.back().job.excludes;
  }

  template <class T, class Mean>
  void store_means(const Mean* means, std::size_t pixels, const T* original, T* out) const {
    const MeanRule& rule = stores_.back().rule;
    if constexpr (sizeof(T) == 1 || sizeof(Mean) == 4)
      if (with_alpha()) return StoreWithAlpha(means, pixels, channels_, rule.transfer, original, out);
    EncodeWorking(means, pixels * stored_channels_, rule.transfer, out);
  }

  /// Means blended with the picture's own values under the mask before they are encoded.
  template <class T, class Mean, class Weight>
  void store_blended(Mean* means, const Weight* mask, std::size_t pixels, const T* original, T* out) const {
    const MeanRule& rule = stores_.back().rule;
    if (with_alpha())
      return channels_ == 2 ? store_weighted<2>(means, mask, pixels, original, out)
                            : store_weighted<4>(means, mask, pixels, original, out);
    if constexpr (sizeof(Mean) == 2 && sizeof(Weight) == 1) {
      BlendRow(original, means, mask, pixels, stored_channels_, rule.transfer, out);
    } else {
      const std::size_t channels = stored_channels_;
      for (std::size_t i = 0; i < pixels * channels; ++i)
        means[i] = static_cast<Mean>(
            blend(decode(original[i], rule.transfer), means[i], mask[i / channels], rule.mask_maximum));
      EncodeWorking(means, pixels * channels, rule.transfer, out);
    }
  }

  /// Blends and stores pixels with straight alpha.
  template <int Channels, class T, class Mean, class Weight>
  void store_weighted(const Mean* means, const Weight* mask, std::size_t pixels, const T* original,
                      T* out) const {
    for (std::size_t x = 0; x < pixels; ++x, original += Channels, means += Channels, out += Channels)
      store_integers<Channels>([means](int c) -> std::uint64_t { return means[c]; }, means[Channels - 1],
                               original, mask[x], stores_.back().rule, out);
  }

  std::span<const ChainBox> boxes_;
  std::size_t channels_;
  std::size_t stored_channels_;
  std::vector<State> states_;
  WorkspaceVector<std::byte> working_;  ///< means before they are stored
  std::span<const MeanStore> stores_;
  const BoxMeanImages* images_ = nullptr;
};

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
