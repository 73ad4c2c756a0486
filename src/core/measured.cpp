#include <limits>

#include "core/prepared_filter.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::input, what); }

}  // namespace

void check_measured(std::span<const Measured> frames, double growth, std::vector<std::string>& warnings) {
  bool vanished = false;
  for (const Measured& frame : frames) {
    if (frame.picture_not_finite != 0)
      refuse("The picture holds NaN or infinite values: replace them before filtering.");
    if (frame.map_out_of_range != 0)
      refuse("The radius map holds values outside 0..1, or NaN: scale it to 0..1 first.");
    if (frame.guide_not_finite != 0)
      refuse("The guide holds NaN or infinite values: replace them before filtering.");
    const double largest = double_of(frame.largest[0]);
    if (growth > 1 && growth * largest > std::numeric_limits<float>::max())
      refuse("The picture holds values of up to " + print_real(largest) +
             ": results could be larger than floats are. Divide it first.");
    for (int group = 0; group < 2; ++group)
      vanished = vanished || (frame.largest[group] != 0 &&
                              (frame.largest[group] >> 52) > (frame.smallest[group] >> 52) + 40);
  }
  if (vanished) warnings.emplace_back("Values below 2^-40 of the largest one count as 0.");
}

}  // namespace satin
