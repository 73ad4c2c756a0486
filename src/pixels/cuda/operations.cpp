// The threshold and measure operations on the GPU: host side of kernels/pixels.

#include "core/cuda/backend.h"
#include "core/plan_operations.h"
#include "kernels/pixels/launch.h"
#include "pixels/fixed_threshold.h"

namespace satin::cuda {
namespace {

class FixedThreshold final : public FixedThresholdOperation {
 public:
  FixedThreshold(CudaBackend& backend, const FixedThresholdJob& job)
      : backend_(backend),
        job_(job),
        counts_(backend.allocate(codes_of(job.plane.type) * sizeof(std::uint64_t))) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return counts_.size; }

  Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                  Stream stream) override {
    backend_.select();
    kernels::FixedThresholdArguments arguments = arguments_of(picture);
    arguments.measured = measured;
    kernels::count_codes(arguments, reinterpret_cast<std::uint64_t*>(counts_.get()),
                         backend_.stream_of(stream));
    check_launch("counting the codes of a picture");
    Measured known{};
    if (measured != nullptr) backend_.download(&known, measured, sizeof known, stream);
    backend_.download(counts, counts_.get(), counts_.size, stream);
    return quantised(job_.plane, plane_exponent(job_.plane, measured == nullptr ? nullptr : &known));
  }

  void run(const ImageView& picture, double level, const MutableImageView& output, Stream stream) override {
    backend_.select();
    kernels::FixedThresholdArguments arguments = arguments_of(picture);
    arguments.level = level;
    arguments.output = target_of(output);
    kernels::apply_fixed_threshold(arguments, backend_.stream_of(stream));
    check_launch("comparing a picture with a level");
  }

 private:
  kernels::FixedThresholdArguments arguments_of(const ImageView& picture) const {
    kernels::FixedThresholdArguments arguments;
    arguments.job = job_;
    arguments.job.width = picture.shape.width;
    arguments.job.height = picture.shape.height;
    arguments.picture = source_of(picture);
    return arguments;
  }

  CudaBackend& backend_;
  FixedThresholdJob job_;
  Buffer counts_;
};

}  // namespace

Prepared<FixedThresholdJob> prepare_fixed_threshold(Backend& backend, const FixedThresholdJob& job) {
  return std::make_unique<FixedThreshold>(as_cuda(backend), job);
}

namespace {

class Measure final : public MeasureOperation {
 public:
  Measure(CudaBackend& backend, const MeasureJob& job) : backend_(backend), job_(job) {}

  void clear(Measured* result, Stream stream) override {
    backend_.select();
    kernels::clear_measured(result, backend_.stream_of(stream));
    check_launch("clearing the measured range");
  }

  void measure(const ImageView& picture, Measured* result, Stream stream) override {
    backend_.select();
    kernels::measure(job_, source_of(picture), result, backend_.stream_of(stream));
    check_launch("measuring the range of the picture");
  }

  void check_map(const ImageView& map, Measured* result, Stream stream) override {
    backend_.select();
    kernels::check_map(map.shape.width, map.shape.height, source_of(map), result, backend_.stream_of(stream));
    check_launch("checking the radius map");
  }

 private:
  CudaBackend& backend_;
  MeasureJob job_;
};

}  // namespace

Prepared<MeasureJob> prepare_measure(Backend& backend, const MeasureJob& job) {
  return std::make_unique<Measure>(as_cuda(backend), job);
}

}  // namespace satin::cuda
