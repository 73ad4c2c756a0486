#pragma once
// The open picture, its side inputs, and the pixels that a pipeline makes from them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "satin/io.h"
#include "satin/pipeline.h"
#include "view/pyramid.h"

namespace satin::view {

/// Parts of a file that are read besides its pixels.
enum class PhotoUse : std::uint8_t {
  none,
  carried,   ///< depth and mattes of the photograph
  estimated  ///< depth from the session's model
};

/// A picture as filters read it and as the page shows it.
struct OpenPicture {
  OpenPicture(const Device& device, Picture picture, PhotoUse photo_use, bool has_depth);

  [[nodiscard]] const Shape& shape() const noexcept { return source->image.shape(); }

  std::shared_ptr<const Picture> source;
  std::shared_ptr<Pyramid> pixels;  ///< pixels of `source`
  std::shared_ptr<Pyramid> shown;   ///< the same in 8 bits
  PhotoUse photo_use;               ///< what it was read with
  bool has_depth;                   ///< whether the photograph carries depth
};

/// Returns what the pipeline uses besides the pixels.
[[nodiscard]] PhotoUse photo_use_of(const Pipeline& pipeline, const BatchOptions& options);

/// Returns the pipeline with the parameters that the photograph determines, if it uses them. Throws like a
/// batch.
[[nodiscard]] Pipeline steps_for(const Device& device, const Pipeline& pipeline, const OpenPicture& picture);

/// Converts a picture to 8 bits with straight alpha, as files with 8 bits store it, and to sRGB by its
/// profile. Returns the picture itself if it is already that.
[[nodiscard]] std::shared_ptr<const Image> in_8_bits(std::shared_ptr<const Image> image,
                                                     const Metadata& metadata);

/// The side inputs of a pipeline, for every step in the order of its record. Null for inputs that are not
/// used.
using Sides = std::vector<std::vector<std::shared_ptr<Pyramid>>>;

/// Reads side inputs, and keeps those of the last pipeline as long as their files do not change.
class SidePictures {
 public:
  explicit SidePictures(Device device) : device_(std::move(device)) {}

  /// `work` is the pipeline for one file. Throws like a batch.
  [[nodiscard]] Sides of(const Batch& work, const OpenPicture& picture);

 private:
  Device device_;
  std::string key_;
  Sides known_;
};

/// Pixels and the values that filters found in them.
struct Filtered {
  Image pixels;
  std::vector<FoundValue> found;
};

/// Runs the pipeline on the picture and returns the result in the type of the output. At a level above 0 the
/// picture and its masks are those of that level, and `steps` come from scaled(). Throws like a batch for one
/// file, and Error(cancelled) if `progress` cancels.
[[nodiscard]] Filtered filtered(const Device& device, const Pipeline& steps, const OpenPicture& picture,
                                int level, const Sides& sides, const std::filesystem::path& name,
                                const Progress& progress);

/// Whether the file that write_image() makes under this name shows 8-bit pixels unchanged.
[[nodiscard]] bool file_keeps(const Shape& pixels, const std::filesystem::path& name,
                              const WriteOptions& options);

/// Returns the pixels that decoding that file gives, in 8 bits.
[[nodiscard]] std::shared_ptr<const Image> as_in_file(const Image& pixels, const std::filesystem::path& name,
                                                      const WriteOptions& options);

/// Multiplies every parameter in pixels by 2^-level, as exactly as the filter allows.
[[nodiscard]] Pipeline scaled(const Pipeline& pipeline, int level);

}  // namespace satin::view
