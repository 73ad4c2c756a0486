#pragma once
// Bytes with straight alpha, 2 or 4 channels, as premultiplied working values, and back.

#include <cstdint>

#include "pixels/maths/premultiplied.h"
#include "pixels/pixelwise.h"

namespace satin {

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
