#pragma once
// Reads run lengths from JSON: the output of `satin regions` and the annotations of COCO.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "satin/rle.h"

namespace satin::app {

struct LabelledMask {
  std::int64_t label =
      0;  ///< "label" of a region, "id" of an annotation, or the position in the list, from 1
  RunLengths runs;
};

/// The masks of one picture.
struct MaskList {
  std::int64_t width = 0;  ///< from the file or the masks; 0 if neither says
  std::int64_t height = 0;
  std::vector<LabelledMask> masks;
};

/// Reads the object {"size": [h, w], "counts": ...}, with numbers or compressed text; an object that holds it
/// as "segmentation" or "rle"; or a list of such objects, alone or as "regions" or "annotations". `name` is
/// for messages. Throws Error(input) for text that is not JSON, is nested deeper than 32 levels or holds
/// none of these, and for polygons, damaged counts, masks of different sizes or several pictures, and more
/// than 2^30 pixels. Memory: up to 20 bytes per character of the text.
[[nodiscard]] MaskList parse_masks(std::string_view text, const std::string& name);

/// Reads the masks from a file, or from standard input for "-", of 128 MiB at most.
[[nodiscard]] MaskList read_masks(const std::string& path);

}  // namespace satin::app
