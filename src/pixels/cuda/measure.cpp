#include "core/measure.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/pixels/launch.h"

namespace satin::cuda {
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
    kernels::check_map(job_.width, job_.height, source_of(map), result, backend_.stream_of(stream));
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
