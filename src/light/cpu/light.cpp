// Restored light and the gains of new maps on the CPU, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "light/cpu/light.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "light/gain_ratio.h"
#include "light/restore.h"
#include "pixels/cpu/pixelwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// RestorePixel for rows of bytes without alpha. A row of the map is enlarged vertically first, in integers,
/// which gives the sums of RestorePixel. Vectors hold entries in the order of the picture: colour k of
/// `Colours` vectors has lanes of all colours.
template <int Colours, int Gains>
class RestoreBytes {
  using Floats = hn::ScalableTag<float>;
  using Integers = hn::RebindToSigned<Floats>;
  using Step = RestorePixel<std::uint8_t, Colours, Gains>;
  static constexpr std::size_t most_lanes = hn::MaxLanes(Floats());
  static constexpr int code_count = 256;

 public:
  RestoreBytes(const Step& step, std::int64_t width, std::int64_t map_width)
      : step_(step),
        width_(static_cast<std::size_t>(width)),
        map_width_(map_width),
        curve_(step.gains.row(0)) {
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < Gains; ++c) {
        const unsigned place = step.x.at(static_cast<int>(x));
        const std::int64_t plane = step.map_channels == 1 ? 0 : colour_of(c);
        lefts_.push_back(static_cast<std::int32_t>(place / gain_steps + plane * (map_width + 1)));
        weights_.push_back(static_cast<std::int32_t>(place % gain_steps));
      }
    for (int c = 0; c < Colours; ++c)
      for (int code = 0; code < code_count; ++code)
        light_[c * code_count + code] = static_cast<float>(step.linear.of(static_cast<std::uint8_t>(code))) +
                                        step.offsets.base[term_of(c)];
    const auto lanes = static_cast<int>(hn::Lanes(Floats()));
    for (int i = 0; i < Colours * lanes; ++i) {
      const int c = i % Colours;
      tables_[i] = c * code_count;
      pixels_[i] = i / Colours;
      offsets_[i] = step.offsets.light[term_of(c)];
      const int curve = Gains == 1 || step.curves == 1 ? 0 : colour_of(c);
      curves_[i] = static_cast<std::int32_t>(step.gains.row(curve) - curve_);
    }
  }

  /// Restores row y.
  void operator()(int y) const {
    const auto row = step_.row(y);
    const std::size_t lanes = hn::Lanes(Floats());
    if (width_ < lanes) {
      for (int x = 0; x < static_cast<int>(width_); ++x) row(x);
      return;
    }
    std::vector<std::int32_t> codes(static_cast<std::size_t>(step_.map_channels * (map_width_ + 1)));
    enlarge(row, codes.data());
    for (std::size_t next = 0; next < width_; next += lanes)
      restore(row, codes.data(), std::min(next, width_ - lanes));
  }

 private:
  [[nodiscard]] int colour_of(int c) const { return step_.linear.is_bgr ? 2 - c : c; }
  /// Returns the index of the offsets of a colour.
  [[nodiscard]] int term_of(int c) const { return Gains == 1 ? 0 : colour_of(c); }

  /// Sets a row of codes in 1/256 for each channel of the map, with one more at its end.
  void enlarge(const typename Step::Row& row, std::int32_t* codes) const {
    const auto upper = static_cast<std::int32_t>(gain_steps - row.below_weight);
    const auto lower = static_cast<std::int32_t>(row.below_weight);
    const std::int64_t step = step_.map_channels;
    for (std::int64_t c = 0; c < step; ++c)
      for (std::int64_t i = 0; i < map_width_; ++i)
        codes[c * (map_width_ + 1) + i] = row.above[i * step + c] * upper + row.below[i * step + c] * lower;
  }

  /// Returns the gains of entries from `at` on.
  [[nodiscard]] HWY_INLINE auto gains(const std::int32_t* codes, std::size_t at, std::size_t lane) const {
    const Integers integers;
    const auto left = hn::LoadU(integers, lefts_.data() + at);
    const auto own = hn::GatherIndex(integers, codes, left);
    const auto next = hn::GatherIndex(integers, codes + 1, left);
    const auto more = hn::Mul(hn::Sub(next, own), hn::LoadU(integers, weights_.data() + at));
    const auto sum = hn::Add(hn::ShiftLeft<8>(own), more);
    const auto index = hn::ShiftRight<8>(hn::Add(sum, hn::Set(integers, std::int32_t{gain_steps / 2})));
    return hn::GatherIndex(Floats(), curve_, hn::Add(index, hn::LoadU(integers, curves_ + lane)));
  }

  /// Restores as many pixels as a vector has lanes, from x on.
  HWY_INLINE void restore(const typename Step::Row& row, const std::int32_t* codes, std::size_t x) const {
    const Floats floats;
    const Integers integers;
    const hn::Rebind<std::uint8_t, Floats> bytes;
    auto gain = hn::Zero(floats);
    if constexpr (Gains == 1) gain = gains(codes, x, 0);
    for (std::size_t c = 0; c < Colours; ++c) {
      const std::size_t lane = c * hn::Lanes(floats), at = x * Colours + lane;
      const auto stored = hn::PromoteTo(integers, hn::LoadU(bytes, row.base + at));
      const auto sdr = hn::GatherIndex(floats, light_, hn::Add(stored, hn::LoadU(integers, tables_ + lane)));
      auto own = gain;
      if constexpr (Gains > 1)
        own = gains(codes, at, lane);
      else if constexpr (Colours > 1)
        own = hn::TableLookupLanes(gain, hn::SetTableIndices(floats, pixels_ + lane));
      const auto restored = hn::Sub(hn::Mul(sdr, own), hn::LoadU(floats, offsets_ + lane));
      hn::StoreU(hn::IfThenElseZero(hn::Gt(restored, hn::Zero(floats)), restored), floats, row.light + at);
    }
  }

  const Step& step_;
  std::size_t width_;
  std::int64_t map_width_;
  const float* curve_;
  std::vector<std::int32_t> lefts_;    ///< entry of the enlarged row left of each pixel, for each gain
  std::vector<std::int32_t> weights_;  ///< weight of the entry right of it, in 1/256
  float light_[std::size_t{Colours} * code_count];          ///< light and offset of the base's codes
  std::int32_t tables_[std::size_t{Colours} * most_lanes];  ///< by lanes of `Colours` vectors
  std::int32_t pixels_[std::size_t{Colours} * most_lanes];
  std::int32_t curves_[std::size_t{Colours} * most_lanes];
  float offsets_[std::size_t{Colours} * most_lanes];
};

struct GainMapRows : EachRow {
  using EachRow::EachRow;
  using EachRow::operator();

  template <int Colours, int Gains>
  void operator()(std::int64_t width, std::int64_t height,
                  const RestorePixel<std::uint8_t, Colours, Gains>& step) const {
    if (step.channels != Colours) return each(width, height, step);
    const RestoreBytes<Colours, Gains> restore(step, width, step.x.last / gain_steps + 1);
    rows(height, [&](int y) HWY_ATTR { restore(y); });
  }
};

inline std::unique_ptr<RestoreJob::Operation> PrepareRestore(Backend& backend, const RestoreJob& job) {
  return prepare_pixelwise<GainMapRows>(backend, job);
}
inline std::unique_ptr<GainRatioJob::Operation> PrepareGainRatio(Backend& backend, const GainRatioJob& job) {
  return prepare_pixelwise<GainMapRows>(backend, job);
}
inline std::unique_ptr<GainCodesJob::Operation> PrepareGainCodes(Backend& backend, const GainCodesJob& job) {
  return prepare_pixelwise<GainMapRows>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareRestore);
HWY_EXPORT(PrepareGainRatio);
HWY_EXPORT(PrepareGainCodes);

std::unique_ptr<RestoreJob::Operation> prepare_restore(Backend& backend, const RestoreJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareRestore)(backend, job);
}
std::unique_ptr<GainRatioJob::Operation> prepare_gain_ratio(Backend& backend, const GainRatioJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareGainRatio)(backend, job);
}
std::unique_ptr<GainCodesJob::Operation> prepare_gain_codes(Backend& backend, const GainCodesJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareGainCodes)(backend, job);
}

}  // namespace satin::cpu
#endif
