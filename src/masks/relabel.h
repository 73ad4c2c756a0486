#pragma once
// Labels through a table.

#include <cstdint>

#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

template <class T>
struct LookUpLabels {
  Rows<const std::uint32_t> labels;
  const std::uint32_t* table;
  Rows<T> output;

  SATIN_HD void operator()(int x, int y) const { output.row(y)[x] = static_cast<T>(table[labels.row(y)[x]]); }
};

struct RelabelJob {
  using Operation = PixelwiseOperation<RelabelJob>;
  static constexpr const char* doing = "relabelling";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type output = Type::u32;  ///< u8, u16 or u32

  struct Images {
    ImageView labels;                      ///< u32
    const std::uint32_t* table = nullptr;  ///< in the backend's memory: an entry for each label that occurs
    MutableImageView output;               ///< may be `labels` itself, if it is u32
  };

  /// output = table[label], cut to the output's type.
  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const auto look_up = [&]<class T>(T) {
      launch(width, height,
             LookUpLabels<T>{Rows<const std::uint32_t>(images.labels), images.table, Rows<T>(images.output)});
    };
    if (output == Type::u8) return look_up(std::uint8_t{});
    if (output == Type::u16) return look_up(std::uint16_t{});
    look_up(std::uint32_t{});
  }
};

}  // namespace satin
