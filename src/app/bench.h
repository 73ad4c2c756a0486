#pragma once
// Times a filter through its plan, beside a copy of as many bytes.

#include <cstddef>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/filter.h"

namespace satin::app {

constexpr int bench_repeats = 11;

struct BenchResult {
  std::vector<std::string> side_inputs;  ///< those that were made
  std::size_t bytes = 0;                 ///< that must move: the inputs read once, the output written once
  double seconds = 0;                    ///< of one run, the median
  double copy_seconds = 0;  ///< of a copy that reads half of the bytes and writes the other half, the median

  [[nodiscard]] double bytes_per_second() const noexcept { return static_cast<double>(bytes) / seconds; }
  [[nodiscard]] double share_of_copy() const noexcept { return copy_seconds / seconds; }
};

/// All pictures lie in the device's memory. Runs and copies take turns, so that both see the same machine,
/// and go from picture to picture, so that none is found in a cache unless it is tiny. `optional_inputs` are
/// made beside those that the filter requires. Throws Error(usage) if the filter refuses the picture.
[[nodiscard]] BenchResult bench(const Device& device, const Parameters& parameters, const Shape& picture,
                                const std::vector<std::string>& optional_inputs);

}  // namespace satin::app
