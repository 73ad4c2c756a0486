#pragma once
// The steps of a pipeline, one after another in one stream of a device.

#include <cstddef>
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

  /// Gives back the memory of all plans.
  void forget_plans();
  /// Bytes of the device that its plans hold.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// True if a step of what was planned last has no memory for the whole picture.
  [[nodiscard]] bool in_windows() const noexcept;

 private:
  [[nodiscard]] MutableImageView between(std::size_t step);
  [[nodiscard]] Image room_for(const Shape& shape) const;
  void try_shape(Shape shape) const;
  [[nodiscard]] Shape usual_shape(int channels) const;

  Device device_;
  const Batch& work_;
  OwnedStream stream_;  // before what is freed in it
  std::vector<FilterStep> steps_;
  std::vector<Plan*> plans_;  ///< those of the current picture; null for a step that the one before includes
  std::vector<Image> between_;  ///< results of the steps but the last, kept for the next picture
};

}  // namespace satin::batch
