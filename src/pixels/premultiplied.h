#pragma once
// Bytes with straight alpha, 2 or 4 channels, as premultiplied working values, and back: rules, steps and
// jobs.
//
// A colour becomes light (or code) times alpha, which is exact, and alpha becomes white times alpha, where
// white is 255 or, in linear light, 65535. Values are at most 255 times white: codes need 16 bits, linear
// light 24.

#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/rows.h"
#include "pixels/maths/store.h"
#include "pixels/pixelwise.h"

namespace satin {

struct PremultiplyRule : StoreRule {
  std::uint32_t white = 0xFF;
};

/// Returns the colour of premultiplied means, to nearest, ties up; 0 without alpha. It may exceed white,
/// since both means were rounded.
SATIN_HD std::uint64_t unpremultiplied(std::uint64_t colour, std::uint32_t alpha, std::uint32_t white) {
  return alpha == 0 ? 0 : (colour * white + alpha / 2) / alpha;
}

template <int Channels, class Value>
SATIN_HD void premultiply(const std::uint8_t* stored, const PremultiplyRule& rule, Value* values) {
  const std::uint32_t alpha = stored[Channels - 1];
  for (int c = 0; c + 1 < Channels; ++c)
    values[c] = static_cast<Value>(decode(stored[c], rule.transfer) * alpha);
  values[Channels - 1] = static_cast<Value>(rule.white * alpha);
}

/// Stores one pixel. The last value is the mean of white times alpha.
template <int Channels, class Value>
SATIN_HD void store_premultiplied(const Value* values, const std::uint8_t* original, std::uint32_t mask,
                                  const PremultiplyRule& rule, std::uint8_t* out) {
  const std::uint32_t alpha = values[Channels - 1];
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  const auto colour = [&](int c) { return unpremultiplied(values[c], alpha, rule.white); };
  store_integers<Channels>(colour, (alpha + rule.white / 2) / rule.white, original, mask, rule, out);
}

template <int Channels, class Value>
struct PremultiplyPixels {
  PremultiplyRule rule;
  Rows<const std::uint8_t> picture;
  Rows<Value> values;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = std::int64_t{x} * Channels;
    premultiply<Channels>(picture.row(y) + at, rule, values.row(y) + at);
  }
};

template <int Channels, class Value>
struct UnpremultiplyPixels {
  PremultiplyRule rule;
  Rows<const Value> values;
  Rows<const std::uint8_t> original;
  MaskRows mask;
  Rows<std::uint8_t> output;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = std::int64_t{x} * Channels;
    store_premultiplied<Channels>(values.row(y) + at, original.row(y) + at, mask.weight(x, y), rule,
                                  output.row(y) + at);
  }
};

struct PremultipliedJob {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;                  ///< how the picture is read: `premultiplied`
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask

  [[nodiscard]] StoredCodes codes() const { return {Type::u8, read.transfer}; }
  /// Returns the type of the premultiplied values: u16, or u32 in linear light.
  [[nodiscard]] Type values_type() const { return working_pixels(read).type; }

 protected:
  [[nodiscard]] PremultiplyRule rule(const TransferView& transfer) const {
    return {{true, mask_maximum, transfer}, static_cast<std::uint32_t>(white_of(read))};
  }
  template <class Step>
  void with_values(const Step& step) const {
    const bool narrow = values_type() == Type::u16;
    if (read.channels == 2)
      return narrow ? step.template operator()<2, std::uint16_t>()
                    : step.template operator()<2, std::uint32_t>();
    narrow ? step.template operator()<4, std::uint16_t>() : step.template operator()<4, std::uint32_t>();
  }
};

struct PremultiplyJob : PremultipliedJob {
  using Operation = PixelwiseOperation<PremultiplyJob>;
  static constexpr const char* doing = "multiplying a picture by its alpha";

  struct Images {
    ImageView picture;
    MutableImageView values;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_values([&]<int Channels, class Value>() {
      launch(width, height,
             PremultiplyPixels<Channels, Value>{rule(transfer), Rows<const std::uint8_t>(images.picture),
                                                Rows<Value>(images.values)});
    });
  }
};

/// Stores a picture of premultiplied values with straight alpha.
struct UnpremultiplyJob : PremultipliedJob {
  using Operation = PixelwiseOperation<UnpremultiplyJob>;
  static constexpr const char* doing = "dividing a picture by its alpha";

  struct Images {
    ImageView values;
    ImageView original;
    ImageView mask;
    MutableImageView output;  ///< may alias none of the others
  };

  template <class Launch>
  void each(const Images& images, const TransferView& transfer, const Launch& launch) const {
    with_values([&]<int Channels, class Value>() {
      launch(width, height,
             UnpremultiplyPixels<Channels, Value>{
                 rule(transfer), Rows<const Value>(images.values), Rows<const std::uint8_t>(images.original),
                 MaskRows(images.mask, mask_maximum), Rows<std::uint8_t>(images.output)});
    });
  }
};

}  // namespace satin
