#pragma once
// The pipeline of a batch on one stream of a device, with the plans for the shapes that were met last.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "satin/batch.h"

namespace satin::batch {

class FilterChain {
 public:
  /// `work` must outlive the chain. On a CUDA device the side images that pictures share are copied there.
  FilterChain(const Device& device, const Batch& work);

  /// Throws Error(usage) for parameters that fit no picture: a few usual shapes are tried.
  void check_parameters() const;

  /// Plans the pipeline for a picture of this shape and returns the shape of the result. Throws Error(usage)
  /// for side inputs of another size; `input` is the picture's name for that message, `own_images` are its
  /// own side images, for each step in the order of the record, or nothing: one that is not empty stands in
  /// for the image that all pictures share, and must live until run() is done.
  const Shape& plan(const std::filesystem::path& input, const Shape& picture,
                    std::span<const std::vector<Image>> own_images = {});

  /// Runs what was planned last, from and to host memory; returns warnings.
  std::vector<std::string> run(const ImageView& picture, const MutableImageView& output);

  /// The same of a pipeline that makes JSON, of the picture in the file `input`: sets `text`, a line.
  std::vector<std::string> json(const std::filesystem::path& input, const ImageView& picture,
                                std::string& text);

  /// Gives back the memory of all plans.
  void forget_plans();
  /// Bytes of the device that its plans hold.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// True if a step of what was planned last has no memory for the whole picture.
  [[nodiscard]] bool in_windows() const noexcept;

 private:
  struct ShapedPlan {
    std::vector<Shape> shapes;
    PipelinePlan plan;
  };

  void share(const Image& image);
  [[nodiscard]] std::vector<Shape> shapes_with(const Shape& picture) const;
  [[nodiscard]] Shape usual_shape(int channels) const;
  void check_step(std::size_t step, const std::filesystem::path& input, const Shape& picture) const;

  Device device_;
  const Batch& work_;
  OwnedStream stream_;  // before what is freed in it
  std::vector<Image> device_images_;
  std::vector<ImageView> shared_;  ///< inputs that pictures share: none for the picture, then those of steps
  std::vector<ImageView> inputs_;  ///< of the next run
  std::vector<ShapedPlan> plans_;  ///< the last used one first
  PipelinePlan* planned_ = nullptr;  ///< what was planned last
};

}  // namespace satin::batch
