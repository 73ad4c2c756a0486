#include "masks/label.h"

#include <string>

#include "satin/error.h"

namespace satin {

void check_label_size(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t word = 32;
  constexpr std::int64_t limit = (std::int64_t{1} << 32) / word;
  if (width < 1 || height < 1 || (width - 1) / word + 1 > (limit - 1) / height)
    throw Error(ErrorKind::usage, "A mask of " + std::to_string(width) + " x " + std::to_string(height) +
                                      " has no labels: from 1 to fewer than 2^32 pixels are possible, where "
                                      "rows count as multiples of 32.");
}

}  // namespace satin
