#include "kernels/recursive/launch.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/copy.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "pixels/cuda/transfer.h"
#include "recursive/recursive.h"

namespace satin::cuda {
namespace {

/// Real: the type of working values.
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
    return planes_.size + distances_.size + carries_.size;
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
    if (!scans_.empty() || job_.read.type == Type::f32) kernels::read_planes(pixels, handle);
    for (const kernels::RecursiveScan<Real>& scan : scans_) kernels::recursive_scan(scan, handle);
    if (scans_.empty())
      copy_->run(images.source, images.output, stream);
    else
      kernels::store_planes(pixels, handle);
    check_launch("smoothing recursively");
  }

 private:
  void prepare_scans() {
    const auto pixels = static_cast<std::size_t>(job_.width * job_.height);
    const int channels = job_.read.channels;
    planes_ = backend_.allocate(pixels * static_cast<std::size_t>(channels) * sizeof(Real));
    std::size_t carries = 0;
    for (const RecursivePass& pass : job_.passes)
      carries = std::max(carries, kernels::recursive_carries(pass.axis, job_.width, job_.height, channels));
    carries_ = backend_.allocate(carries * sizeof(Real));
    if (job_.guide) distances_ = backend_.allocate(2 * pixels * sizeof(float));
    for (const RecursivePass& pass : job_.passes) {
      kernels::RecursiveScan<Real> scan;
      scan.axis = pass.axis;
      scan.width = job_.width;
      scan.height = job_.height;
      scan.channels = channels;
      scan.constants = pass_constants<Real>(pass, job_.guide.has_value());
      if (job_.guide) scan.distances = distances_along(pass.axis);
      scan.planes = reinterpret_cast<Real*>(planes_.get());
      scan.carries = reinterpret_cast<Real*>(carries_.get());
      scans_.push_back(scan);
    }
  }

  [[nodiscard]] float* distances_along(Axis axis) const {
    return reinterpret_cast<float*>(distances_.get()) + (axis == Axis::x ? 0 : job_.width * job_.height);
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
  Buffer distances_;  ///< along x, then along y
  Buffer carries_;
};

}  // namespace

std::unique_ptr<RecursiveOperation> prepare_recursive(Backend& backend, const RecursiveJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (recursive_working_type(job) == Type::f32) return std::make_unique<Recursive<float>>(cuda, job);
  return std::make_unique<Recursive<double>>(cuda, job);
}

}  // namespace satin::cuda
