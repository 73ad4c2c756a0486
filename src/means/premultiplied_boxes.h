#pragma once
// Successive boxes of bytes with straight alpha: between the two ends all channels are averaged alike.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/backend.h"
#include "means/box_mean.h"
#include "pixels/premultiplied.h"

namespace satin {

class PremultipliedBoxes final : public BoxMeanOperation {
 public:
  /// The jobs read premultiplied pixels; the last writes stored pixels or working values.
  PremultipliedBoxes(Backend& backend, std::span<const BoxMeanJob> jobs);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override;
  void run(const BoxMeanImages& images, Stream stream) override;

 private:
  std::unique_ptr<PremultiplyJob::Operation> premultiply_;
  std::vector<std::unique_ptr<BoxMeanOperation>> boxes_;
  std::unique_ptr<UnpremultiplyJob::Operation> unpremultiply_;  ///< null if working values are wanted
  std::array<Buffer, 2> values_;                                ///< of before and after a box, in turns
  Shape shape_;
};

}  // namespace satin
