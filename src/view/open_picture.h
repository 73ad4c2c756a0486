#pragma once
// The picture that is open, the pictures beside it, and the pixels that a pipeline makes of them.

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

/// A picture as filters take it and as the page shows it.
class OpenPicture {
 public:
  OpenPicture(const Device& device, Picture picture, bool with_photo);

  [[nodiscard]] const Picture& source() const noexcept { return *source_; }
  /// The pixels of `source`.
  [[nodiscard]] Pyramid& pixels() const noexcept { return *pixels_; }
  /// The pixels of `source` in 8 bits.
  [[nodiscard]] Pyramid& shown() const noexcept { return *shown_; }
  /// True if the picture was read with what photographs carry for refocusing.
  [[nodiscard]] bool with_photo() const noexcept { return with_photo_; }
  /// The shape of `source`.
  [[nodiscard]] const Shape& shape() const noexcept { return source_->image.shape(); }

 private:
  std::shared_ptr<const Picture> source_;
  std::shared_ptr<Pyramid> pixels_;
  std::shared_ptr<Pyramid> shown_;
  bool with_photo_;
};

/// True if the pipeline takes depth or a mask from the photograph.
[[nodiscard]] bool wants_photo(const Pipeline& pipeline, const BatchOptions& options);

/// The pipeline with what the photograph tells, if it takes that. Throws as a batch does.
[[nodiscard]] Pipeline steps_for(const Pipeline& pipeline, const OpenPicture& picture);

/// The picture in 8 bits with straight alpha, as files of 8 bits get it, in sRGB by its profile; itself if it
/// is that.
[[nodiscard]] std::shared_ptr<const Image> in_8_bits(std::shared_ptr<const Image> image,
                                                     const Metadata& metadata);

/// The side inputs of a pipeline: for every step in the order of the record, null for those that are not
/// used.
using Sides = std::vector<std::vector<std::shared_ptr<Pyramid>>>;

/// Reads side inputs, and keeps those of the last pipeline as long as their files stay the same.
class SidePictures {
 public:
  explicit SidePictures(Device device) : device_(std::move(device)) {}

  /// `work` is the pipeline for one file. Throws as a batch does.
  [[nodiscard]] Sides of(const Batch& work, const OpenPicture& picture);

 private:
  Device device_;
  std::string key_;
  Sides known_;
};

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
