#include "masks/region_values.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/masks/launch.h"

namespace satin::cuda {
namespace {

class SumRegionValues final : public RegionValuesOperation {
 public:
  SumRegionValues(CudaBackend& backend, const RegionValuesJob& job) : backend_(backend), job_(job) {}

  void run(const ImageView& labels, const ImageView& picture, const Measured* measured, std::uint32_t count,
           RegionSums* sums, Stream stream) override {
    backend_.select();
    kernels::sum_region_values({job_, source_of(labels), source_of(picture), measured, count, sums},
                               backend_.stream_of(stream));
    check_launch("summing the values of regions");
  }

 private:
  CudaBackend& backend_;
  RegionValuesJob job_;
};

}  // namespace

Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job) {
  return std::make_unique<SumRegionValues>(as_cuda(backend), job);
}

}  // namespace satin::cuda
