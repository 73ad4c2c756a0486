#pragma once
// What most filters of floats have in common.

#include <memory>

#include "core/prepared_filter.h"
#include "pixels/measure.h"

namespace satin {

/// A filter that needs to know the range of its picture, the first input, where that holds floats.
class MeasuredFilter : public PreparedFilter {
 public:
  [[nodiscard]] int measurements() const noexcept override { return range_ == nullptr ? 0 : 1; }

  void begin(Measured* measured, Stream stream) override {
    if (range_ != nullptr) range_->clear(measured, stream);
  }

  void measure(int /*step*/, std::span<const ImageView> inputs, const Rectangle& /*inner*/,
               Measured* measured, Stream stream) override {
    range_->measure(inputs.front(), measured, stream);
  }

 protected:
  /// `range` is null where nothing is measured.
  explicit MeasuredFilter(std::unique_ptr<MeasureOperation> range = nullptr) : range_(std::move(range)) {}

 private:
  std::unique_ptr<MeasureOperation> range_;
};

}  // namespace satin
