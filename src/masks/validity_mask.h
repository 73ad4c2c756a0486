#pragma once
// A picture of which only some pixels count.

#include <cstdint>

#include "core/operation.h"

namespace satin {

struct ValidityMaskOperation;

struct ValidityMaskJob {
  using Operation = ValidityMaskOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;       ///< of the picture: u8, u16 or f32
  Type mask_type = Type::u8;  ///< u8 or u16
};

struct ValidityMaskOperation : Operation {
  /// `selected`: the pixels whose mask is not 0, and 0 in place of the others, whatever they hold.
  /// `included`, one channel of u8: 1 for the former, 0 for the latter.
  virtual void run(const ImageView& picture, const ImageView& mask, const MutableImageView& selected,
                   const MutableImageView& included, Stream stream) = 0;
};

}  // namespace satin
