#pragma once
// Labels through a table.

#include <cstdint>

#include "core/operation.h"

namespace satin {

struct RelabelOperation;

struct RelabelJob {
  using Operation = RelabelOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type output = Type::u32;  ///< u8, u16 or u32
};

struct RelabelOperation : Operation {
  /// output = table[label] for every pixel, cut to the output's type. Labels are u32; the table is in the
  /// backend's memory and has an entry for each label that occurs. `output` may be `labels` itself, if it is
  /// u32.
  virtual void run(const ImageView& labels, const std::uint32_t* table, const MutableImageView& output,
                   Stream stream) = 0;
};

}  // namespace satin
