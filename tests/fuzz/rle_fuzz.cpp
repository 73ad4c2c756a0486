// Run lengths as compressed text and as JSON: any input is refused with Error(input), or is a mask that
// pixels and text reproduce.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/rle_file.h"
#include "satin/error.h"
#include "satin/rle.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::int64_t pixels_inside(const satin::Image& mask) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(mask.data());
  return std::count(first, first + mask.shape().width * mask.shape().height, std::uint8_t{255});
}

void check_mask(const satin::RunLengths& runs) {
  constexpr std::int64_t small = 1 << 16;
  require(satin::parse_compressed_counts(satin::compressed_counts(runs), runs.height, runs.width) == runs);
  if (runs.height * runs.width > small) return;
  const satin::Image mask = satin::decode_run_lengths(runs);
  require(pixels_inside(mask) == satin::area(runs));
  const satin::RunLengths again = satin::encode_run_lengths(mask.view());
  require(satin::area(again) == satin::area(runs));
  require(satin::encode_run_lengths(satin::decode_run_lengths(again).view()) == again);
  require(satin::bounding_box(again) == satin::bounding_box(runs));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  try {
    if (data[0] % 2 == 0) {
      check_mask(satin::parse_compressed_counts(text, data[0] / 2 + 1, data[1] + 1));
    } else {
      for (const satin::app::LabelledMask& mask : satin::app::parse_masks(text, "masks").masks)
        check_mask(mask.runs);
    }
  } catch (const satin::Error& error) {
    require(error.kind() == satin::ErrorKind::input);
  }
  return 0;
}
