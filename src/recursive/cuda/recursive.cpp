// Host side of recursive smoothing on the GPU.
//
// A run reads stored pixels into planes, scans the planes once for each pass, and stores them. Bytes skip the
// first or last step where the first pass goes along rows, or the last one down columns, because those scans
// read and write bytes.

#include "kernels/recursive/launch.h"

#include <vector>

#include "core/cuda/backend.h"
#include "core/plan_operations.h"
#include "pixels/cuda/transfer.h"
#include "recursive/recursive.h"

namespace satin::cuda {
namespace {

/// Real is the type of working values.
template <class Real>
class Recursive final : public RecursiveOperation {
 public:
  Recursive(CudaBackend& backend, const RecursiveJob& job) : backend_(backend), job_(job) {
    pixels_.width = job.width;
    pixels_.height = job.height;
    pixels_.channels = job.read.channels;
    pixels_.type = job.read.type;
    pixels_.rule.weighted = job.read.weighted;
    pixels_.rule.mask_maximum = job.mask_maximum;
    pixels_.rule.transfer = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb);
    if (!job.passes.empty()) prepare_scans();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return planes_.size + distances_.size;
  }

  void run(const RecursiveImages& images, Stream stream) override {
    backend_.select();
    const auto handle = backend_.stream_of(stream);
    if (job_.guide && (!scans_.empty() || job_.guide->type == Type::f32)) read_guide(images, handle);
    kernels::RecursivePixels pixels = pixels_;
    pixels.source = source_of(images.source);
    pixels.mask = source_of(images.mask);
    pixels.output = target_of(images.output);
    pixels.measured = images.measured;
    pixels.planes = planes_.get();
    const bool reads = scans_.empty() ? job_.read.type == Type::f32 : !scans_read_bytes();
    if (reads) kernels::read_planes(pixels, handle);
    scan(images, handle);
    if (scans_.empty())
      copy_->run(images.source, images.output, stream);
    else if (!scans_write_bytes())
      kernels::store_planes(pixels, handle);
    check_launch("smoothing recursively");
  }

 private:
  [[nodiscard]] bool scans_read_bytes() const { return sizeof(Real) == 4 && scans_.front().axis == Axis::x; }
  [[nodiscard]] bool scans_write_bytes() const {
    return sizeof(Real) == 4 && scans_.back().axis == Axis::y && !job_.read.weighted &&
           job_.mask_maximum == 0;
  }

  void scan(const RecursiveImages& images, kernels::StreamHandle stream) const {
    for (std::size_t i = 0; i < scans_.size(); ++i) {
      kernels::RecursiveScan<Real> scan = scans_[i];
      if (i == 0 && scans_read_bytes()) scan.source = source_of(images.source);
      if (i + 1 == scans_.size() && scans_write_bytes()) scan.output = target_of(images.output);
      kernels::recursive_scan(scan, stream);
    }
  }

  void prepare_scans() {
    const auto plane = static_cast<std::size_t>(kernels::Squares(job_.width, job_.height).size());
    const int channels = job_.read.channels;
    planes_ = backend_.allocate(plane * static_cast<std::size_t>(channels) * sizeof(Real));
    if (job_.guide) distances_ = backend_.allocate(2 * plane * sizeof(float));
    for (const RecursivePass& pass : job_.passes) {
      kernels::RecursiveScan<Real> scan;
      scan.axis = pass.axis;
      scan.width = job_.width;
      scan.height = job_.height;
      scan.channels = channels;
      scan.constants = pass_constants<Real>(pass, job_.guide.has_value());
      if (job_.guide) scan.distances = distances_along(pass.axis);
      scan.planes = reinterpret_cast<Real*>(planes_.get());
      scan.weighted = job_.read.weighted;
      scan.transfer = pixels_.rule.transfer;
      check(static_cast<cudaError_t>(kernels::prepare_recursive_scan(scan)), "asking for shared memory");
      scans_.push_back(scan);
    }
  }

  [[nodiscard]] float* distances_along(Axis axis) const {
    return reinterpret_cast<float*>(distances_.get()) +
           (axis == Axis::x ? 0 : kernels::Squares(job_.width, job_.height).size());
  }

  void read_guide(const RecursiveImages& images, kernels::StreamHandle stream) {
    kernels::RecursiveGuide guide;
    guide.width = job_.width;
    guide.height = job_.height;
    guide.guide = *job_.guide;
    guide.source = source_of(images.guide);
    if (!scans_.empty()) {
      guide.along_x = distances_along(Axis::x);
      guide.along_y = distances_along(Axis::y);
    }
    guide.measured = images.measured;
    kernels::read_distances(guide, stream);
  }

  CudaBackend& backend_;
  RecursiveJob job_;
  kernels::RecursivePixels pixels_;
  std::unique_ptr<CopyOperation> copy_ = backend_.prepare(CopyJob{});
  std::vector<kernels::RecursiveScan<Real>> scans_;
  Buffer planes_;
  Buffer distances_;  ///< distances along x, then along y
};

}  // namespace

Prepared<RecursiveJob> prepare_recursive(Backend& backend, const RecursiveJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (recursive_working_type(job) == Type::f32) return std::make_unique<Recursive<float>>(cuda, job);
  return std::make_unique<Recursive<double>>(cuda, job);
}

}  // namespace satin::cuda
