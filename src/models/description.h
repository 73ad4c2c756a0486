#pragma once
// The description of a model, MODEL.json beside it: facts that the graph itself does not hold.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "satin/image_model.h"

namespace satin::models {

/// Order of the axes of a graph's input.
enum class Layout : std::uint8_t {
  nchw,  ///< a plane for each colour
  nhwc   ///< colours of a pixel side by side
};

/// Input and output of a model. The defaults are those of most networks: values from 0 to 1 with ImageNet's
/// mean and deviation.
struct Description {
  std::int64_t width = 0;        ///< size of the input that pictures are stretched to; 0: by `shorter`
  std::int64_t height = 0;       ///< its height
  std::int64_t shorter = 518;    ///< length of the shorter side, where the graph leaves the size open
  std::int64_t multiple = 0;     ///< both sides are multiples of it; 0: as the graph's names say, or else 14
  std::optional<Layout> layout;  ///< unset: as the graph says
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> deviation{0.229F, 0.224F, 0.225F};
  std::string output_name;  ///< empty: the first output
  Estimate output = Estimate::inverse_depth;
  bool stretches = false;      ///< a mask's values are stretched from their extremes to 0 to 1
  bool is_normalised = false;  ///< `mean` or `deviation` was given
  bool is_assumed = true;      ///< there is no file
};

/// Returns the path of the description of a model: its name with the extension .json.
[[nodiscard]] std::filesystem::path description_file(const std::filesystem::path& model);

/// Reads the description, or returns the defaults if there is none. Throws Error(input) for a file that is no
/// JSON object, Error(usage) for unknown members and values, with the remedy.
[[nodiscard]] Description read_description(const std::filesystem::path& model);

}  // namespace satin::models
