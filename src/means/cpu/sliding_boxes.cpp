// One tile of a chain of boxes, compiled for every SIMD target. Every box keeps the last rows of its input in
// a ring; a row of its means becomes the newest row of the next box's ring, so that nothing but the picture
// and the result is in memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/sliding_boxes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/with_type.h"
#include "core/workspace.h"
#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "means/cpu/sliding_box-inl.h"
#include "means/cpu/striped_box-inl.h"
#include "means/cpu/striped_codes-inl.h"
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

/// Box is SlidingBox or StripedBox, whose rows are all striped between the picture and the result.
template <class Box>
class TileOfBoxes final : public SlidingBoxes {
 public:
  TileOfBoxes(std::span<const ChainBox> boxes, std::int64_t width)
      : boxes_(boxes),
        channels_(static_cast<std::size_t>(boxes[0].job.read.channels)),
        stored_channels_(static_cast<std::size_t>(boxes[0].stored_channels())) {
    states_.reserve(boxes.size());
    for (const ChainBox& box : boxes) {
      State& state = states_.emplace_back(State{Box(box, width)});
      const std::size_t entries = state.box.row_entries();
      const std::size_t ring_rows = direct(box) ? 0 : static_cast<std::size_t>(box.ring_rows());
      state.row_bytes = entries * size_of(box.input);
      state.rows.resize((ring_rows + 1) * state.row_bytes);
      if (box.job.border != Border::constant && !Box::striped) continue;  // zeros, as they are
      with_type(box.input, [&]<class Value>() {
        for (std::size_t i = 0; i < entries; ++i)
          reinterpret_cast<Value*>(state.outside())[i] =
              static_cast<Value>(box.outside(state.box.channel_of(i)) ^ taken<Value>);
      });
    }
    working_.resize(static_cast<std::size_t>(width) * channels_ * sizeof(std::uint64_t));
    if (!Box::striped) return;
    striped_.resize(states_.back().box.row_entries() * sizeof(std::uint16_t));
    codes_.emplace(Stripes(static_cast<std::size_t>(width), channels_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = working_.size() + striped_.size() + (codes_ ? codes_->bytes() : 0);
    for (const State& state : states_) bytes += state.box.bytes() + state.rows.size();
    return bytes;
  }

  void run(std::span<const MeanStore> stores, const BoxMeanImages& images, Tile tile, const TakeMeans& take,
           int slot) override {
    stores_ = stores;
    images_ = &images;
    if (Box::striped && stores[0].reader.transfer.decode != nullptr)
      for (std::size_t code = 0; code < light_.size(); ++code)
        light_[code] =
            static_cast<std::uint16_t>(stores[0].reader.transfer.decode[code] ^ value_centre<std::uint16_t>);
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
  /// Striped rows hold values less their centre.
  template <class Value>
  static constexpr std::uint64_t taken = Box::striped ? value_centre<Value> : 0;

  /// Where one box of the chain stands.
  struct State {
    Box box;
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
    const bool in_ring = !direct(boxes_[box]);
    if (in_ring && job.border == Border::wrap) return ring_row(box, position);
    const std::int64_t y = source_of(position, job.height, job.border);
    if (y < 0) return states_[box].outside();
    return in_ring ? ring_row(box, y) : images_->source.at(states_[box].box.in_first(), y);
  }

  [[nodiscard]] static bool direct(const ChainBox& box) { return box.direct && !Box::striped; }

  /// One more row of the first box's input.
  void fill_ring(std::int64_t position) {
    std::byte* row = ring_row(0, position);
    if constexpr (!Box::striped) {
      decode_row(position, row);
    } else {
      const Stripes& stripes = states_[0].box.stripes();
      const std::byte* source = images_->source.at(0, position);
      auto* values = reinterpret_cast<std::uint16_t*>(row);
      if (boxes_[0].input == Type::u8)
        return ToStripes(stripes, As<std::uint8_t>(source), reinterpret_cast<std::uint8_t*>(row));
      if (boxes_[0].direct) return ToStripes(stripes, As<std::uint16_t>(source), values);
      codes_->decode(As<std::uint8_t>(source), light_.data(), values);
    }
  }

  void decode_row(std::int64_t position, std::byte* row) {
    const BoxMeanJob& job = boxes_[0].job;
    const Box& box = states_[0].box;
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
    if (!direct(box))
      for (std::int64_t& next = states_[index].filled; next <= last; ++next)
        index == 0 ? fill_ring(next) : mean_row(index - 1, next, ring_row(index, next));
    states_[index].box.mean_row(
        stores_[index], *images_, y, [&](std::int64_t position) { return input_row(index, position); }, out);
  }

  /// Row y of the last box's means, in the order of its columns.
  void last_means(std::int64_t y, std::byte* out) {
    if constexpr (Box::striped) {
      const Stripes& stripes = states_.back().box.stripes();
      mean_row(boxes_.size() - 1, y, striped_.data());
      boxes_.back().output == Type::u8
          ? FromStripes(stripes, As<std::uint8_t>(striped_), reinterpret_cast<std::uint8_t*>(out))
          : FromStripes(stripes, As<std::uint16_t>(striped_), reinterpret_cast<std::uint16_t*>(out));
    } else {
      mean_row(boxes_.size() - 1, y, out);
    }
  }

  /// Row y of the last box's means, as it is stored.
  void finish_row(std::int64_t y, std::int64_t left) {
    const ChainBox& last = boxes_.back();
    if (!last.finishes) return last_means(y, images_->output.at(left, y));
    if constexpr (Box::striped)
      if (stores_.back().rule.mask_maximum == 0) return encode_stripes(y);
    if (last.job.write.type == Type::u8) return store_row<std::uint8_t, std::uint16_t>(y, left);
    last.output == Type::u16 ? store_row<std::uint16_t, std::uint16_t>(y, left)
                             : store_row<std::uint16_t, std::uint32_t>(y, left);
  }

  /// Striped means have 16 bits, so that without a mask they are only to be encoded.
  void encode_stripes(std::int64_t y) {
    mean_row(boxes_.size() - 1, y, striped_.data());
    codes_->encode(As<std::uint16_t>(striped_), stores_.back().rule.transfer,
                   images_->output.row<std::uint8_t>(y));
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
  WorkspaceVector<std::byte> striped_;  ///< and before they are in order
  std::optional<StripedCodes> codes_;
  std::array<std::uint16_t, 256> light_{};  ///< of codes, less its centre
  std::span<const MeanStore> stores_;
  const BoxMeanImages* images_ = nullptr;
};

/// Bringing rows into stripes and back pays only where several boxes come in between.
inline std::unique_ptr<SlidingBoxes> MakeSlidingBoxes(std::span<const ChainBox> boxes, std::int64_t width) {
  if constexpr (Stripes::lanes > 1)
    if (boxes.size() > 1 && width == boxes[0].job.width && std::ranges::all_of(boxes, &StripedBox::fits))
      return std::make_unique<TileOfBoxes<StripedBox>>(boxes, width);
  return std::make_unique<TileOfBoxes<SlidingBox>>(boxes, width);
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
