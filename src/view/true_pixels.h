#pragma once
// Filtered pixels, those of a preview too, and what the file shows that holds them.

#include <filesystem>
#include <memory>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "satin/io.h"
#include "satin/pipeline.h"
#include "view/open_picture.h"

namespace satin::view {

struct Filtered {
  Image pixels;
  std::vector<FoundValue> found;
};

/// The result of the command for the picture, in the type that it writes. At a level above 0 the picture and
/// its masks are those of that level, and `steps` are scaled(). Throws as a batch does for one file;
/// Error(cancelled) as `progress` says.
[[nodiscard]] Filtered filtered(const Device& device, const Pipeline& steps, const OpenPicture& picture,
                                int level, const Sides& sides, const std::filesystem::path& name,
                                const Progress& progress);

/// True if the file that write_image() makes of the pixels under this name shows 8 bits as they are.
[[nodiscard]] bool file_keeps(const Shape& pixels, const std::filesystem::path& name,
                              const WriteOptions& options);

/// The pixels that decoding that file gives, in 8 bits.
[[nodiscard]] std::shared_ptr<const Image> as_in_file(const Image& pixels, const std::filesystem::path& name,
                                                      const WriteOptions& options);

/// Every parameter in pixels of the picture becomes 2^-level of itself, as near as the filter takes it.
[[nodiscard]] Pipeline scaled(const Pipeline& pipeline, int level);

}  // namespace satin::view
