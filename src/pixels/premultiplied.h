#pragma once
// Bytes with straight alpha, 2 or 4 channels, as premultiplied working values, and back.

#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/rows.h"
#include "pixels/maths/store.h"
#include "pixels/pixelwise.h"

namespace satin {

// Bytes with straight alpha as colours times alpha, which are exact, and back: the same lines on host and
// device. White is 255, or 65535 in linear light; a value is at most 255 times white, so codes take 16 bits
// and linear light takes 24.

struct PremultiplyRule : StoreRule {
  std::uint32_t white = 0xFF;
};

/// The colour of premultiplied means, to nearest, ties up. May exceed white, as both were rounded; nothing
/// where there is no alpha.
SATIN_HD std::uint64_t unpremultiplied(std::uint64_t colour, std::uint32_t alpha, std::uint32_t white) {
  return alpha == 0 ? 0 : (colour * white + alpha / 2) / alpha;
}

/// The alpha byte of its mean, to nearest.
SATIN_HD std::uint32_t alpha_byte(std::uint32_t alpha, std::uint32_t white) {
  return (alpha + white / 2) / white;
}

/// Alpha becomes white times alpha, so that a colour is white colour / alpha.
template <int Channels, class Value>
SATIN_HD void premultiply(const std::uint8_t* stored, const PremultiplyRule& rule, Value* values) {
  const std::uint32_t alpha = stored[Channels - 1];
  for (int c = 0; c + 1 < Channels; ++c)
    values[c] = static_cast<Value>(decode(stored[c], rule.transfer) * alpha);
  values[Channels - 1] = static_cast<Value>(rule.white * alpha);
}

/// `colour(c)`: what unpremultiplied() gives of channel c, `alpha` the mean of white times alpha.
template <int Channels, class Colour>
SATIN_HD void store_straight(const Colour& colour, std::uint32_t alpha, const std::uint8_t* original,
                             std::uint32_t mask, const PremultiplyRule& rule, std::uint8_t* out) {
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  store_integers<Channels>(colour, alpha_byte(alpha, rule.white), original, mask, rule, out);
}

template <int Channels, class Value>
SATIN_HD void store_premultiplied(const Value* values, const std::uint8_t* original, std::uint32_t mask,
                                  const PremultiplyRule& rule, std::uint8_t* out) {
  const std::uint32_t alpha = values[Channels - 1];
  const auto colour = [&](int c) { return unpremultiplied(values[c], alpha, rule.white); };
  store_straight<Channels>(colour, alpha, original, mask, rule, out);
}

template <int Channels, class Value>
struct PremultiplyPixels {
  PremultiplyRule rule;
  Rows<const std::uint8_t> picture;
  Rows<Value> values;
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
  PixelRead read;                  ///< of the picture: premultiplied
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask

  [[nodiscard]] StoredCodes codes() const { return {Type::u8, read.transfer}; }

 protected:
  [[nodiscard]] PremultiplyRule rule(const TransferView& transfer) const {
    return {{true, mask_maximum, transfer}, static_cast<std::uint32_t>(white_of(read))};
  }
  /// step.operator()<Channels, Value>() with the values' type.
  template <class Step>
  void with_values(const Step& step) const;
};

/// The type of the values: u16, or u32 in linear light.
[[nodiscard]] inline Type values_type(const PremultipliedJob& job) { return working_pixels(job.read).type; }

template <class Step>
void PremultipliedJob::with_values(const Step& step) const {
  const bool narrow = values_type(*this) == Type::u16;
  if (read.channels == 2)
    return narrow ? step.template operator()<2, std::uint16_t>()
                  : step.template operator()<2, std::uint32_t>();
  narrow ? step.template operator()<4, std::uint16_t>() : step.template operator()<4, std::uint32_t>();
}

/// Every pixel by premultiply().
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

/// Every pixel by store_premultiplied().
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
