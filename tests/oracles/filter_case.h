#pragma once
// Cases from the registry alone: a filter, its parameters as text, a picture and its side inputs.

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "satin/filter.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {

struct FilterCase {
  const FilterRecord* filter = nullptr;
  std::vector<std::pair<std::string, std::string>> settings;  ///< parameter, text
  unsigned side_inputs = 0;                                   ///< one bit for each of the record's inputs
  int depth_channels = 1;                                     ///< channels of a depth image among them
  Shape shape;
  std::uint64_t seed = 1;

  [[nodiscard]] Parameters parameters() const;
  /// Returns the side inputs; unused ones are empty.
  [[nodiscard]] std::vector<Image> side_images() const;
  [[nodiscard]] Plan plan(const Device& device, const Shape& picture) const;
};

std::string describe(const FilterCase& filter_case);

/// Whether the filter accepts these parameters and shapes. It must refuse others with a usage error.
[[nodiscard]] bool accepted(const FilterCase& filter_case);

/// Returns the default, smallest, largest and a middle text of a parameter; every choice; both states of a
/// flag.
std::vector<std::string> values_of(const ParameterRecord& parameter);

/// Calls `check` for every value of every parameter of the filter, with every combination of side inputs,
/// every size, and formats in turn. Skips combinations that the filter refuses, but fails if a value is
/// refused in all of them. After the first accepted case of a value, only one in `thinning` cases is
/// planned and checked.
void for_each_filter_case(const FilterRecord& filter, const std::function<void(const FilterCase&)>& check,
                          std::uint64_t thinning = slow_build() ? 24 : 1);

/// All defaults with every combination of side inputs that the filter accepts, on pictures of this size.
std::vector<FilterCase> cases_of_inputs(const FilterRecord& filter, const std::array<int, 2>& size);

/// All defaults, on a picture of this size that the filter accepts, with side inputs where it needs them.
FilterCase default_case(const FilterRecord& filter, const std::array<int, 2>& size);

}  // namespace satin::test
