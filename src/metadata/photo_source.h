#pragma once
// Where a JPEG file holds what belongs to its photograph: Apple's auxiliary pictures by the MPF index, GDepth
// and GImage in XMP, Dynamic Depth's and Google's containers behind the picture. Nothing is decoded here.

#include <optional>
#include <string>
#include <vector>

#include "metadata/depth_terms.h"

namespace satin::io {

struct DepthItem {
  DepthTerms terms;
  FileBytes item;     ///< a PNG or JPEG file
  std::string mime;   ///< of it
  std::string place;  ///< where it lay
};

struct MatteItem {
  std::string name;
  FileBytes item;
};

struct PhotoSource {
  std::optional<DepthItem> depth;
  std::vector<MatteItem> mattes;
  PhotoOriginal original;           ///< empty if the file has none beside its picture
  std::optional<PhotoFocus> focus;  ///< by GFocus, its place turned upright
  std::string problem;              ///< why depth that is there cannot be used
};

/// `xmp` is the file's packet together with its extended part, `orientation` that of its picture.
[[nodiscard]] PhotoSource photo_source(Bytes file, Bytes xmp, int orientation);

}  // namespace satin::io
