#pragma once
// What the filter `mask` is composed of: steps that make one mask from another one.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/backend.h"

namespace satin {

/// Masks are u8 with one channel, 0 and 255, in the backend's memory.
struct MaskStep {
  MaskStep() = default;
  MaskStep(const MaskStep&) = delete;
  MaskStep& operator=(const MaskStep&) = delete;
  virtual ~MaskStep() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void run(const ImageView& mask, const MutableImageView& output, Stream stream) = 0;
};

/// One operation as a step: run(operation, mask, output, stream) runs it.
template <class Operation, class Run>
class OperationStep final : public MaskStep {
 public:
  OperationStep(std::unique_ptr<Operation> operation, Run run)
      : operation_(std::move(operation)), run_(std::move(run)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return operation_->workspace_bytes();
  }
  void run(const ImageView& mask, const MutableImageView& output, Stream stream) override {
    run_(*operation_, mask, output, stream);
  }

 private:
  std::unique_ptr<Operation> operation_;
  Run run_;
};

template <class Operation, class Run>
std::unique_ptr<MaskStep> operation_step(std::unique_ptr<Operation> operation, Run run) {
  return std::make_unique<OperationStep<Operation, Run>>(std::move(operation), std::move(run));
}

/// Components of up to `most_area` pixels change sides; those of zeros only if they do not touch the border.
struct ComponentRule {
  bool zeros = false;  ///< components of what is outside
  int connectivity = 8;
  std::uint32_t most_area = 0;
};

/// One rule after the other.
[[nodiscard]] std::unique_ptr<MaskStep> component_step(Backend& backend, const Shape& shape,
                                                       std::span<const ComponentRule> rules);

}  // namespace satin
