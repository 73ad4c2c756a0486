#pragma once
// The steps of a pipeline, one after another on one device.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "batch/filter_step.h"
#include "satin/batch.h"

namespace satin::batch {

class FilterChain {
 public:
  /// `work` must outlive the chain.
  FilterChain(const Device& device, const Batch& work);

  /// Throws Error(usage) for parameters that fit no picture: a few usual shapes are tried.
  void check_parameters() const;

  /// Plans every step for a picture of this shape and returns the shape of the result. Throws Error(usage)
  /// for side inputs of another size; `input` is the picture's name for that message, `own_images` are its
  /// own side images, for each step, or nothing: they must live until run() is done.
  const Shape& plan(const std::filesystem::path& input, const Shape& picture,
                    std::span<const std::vector<Image>> own_images = {});

  /// Runs what was planned last, from and to host memory; returns warnings.
  std::vector<std::string> run(const ImageView& picture, const MutableImageView& output);

 private:
  [[nodiscard]] Image room_for(const Shape& shape) const;
  void try_shape(Shape shape) const;
  [[nodiscard]] Shape usual_shape(int channels) const;

  Device device_;
  const Batch& work_;
  std::vector<FilterStep> steps_;
  std::vector<Plan*> plans_;  ///< those of the current picture
};

}  // namespace satin::batch
