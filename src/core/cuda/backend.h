#pragma once
// The host side of the CUDA backend: memory, a stream, and the transfer tables in device memory.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>

#include "core/backend.h"
#include "kernels/launch.h"

namespace satin::cuda {

/// A stream of the current device that does not wait for the default stream.
class OwnStream {
 public:
  OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream();
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Memory that is allocated and freed in stream order, apart from that of other users of the device.
class OwnPool {
 public:
  /// Of the device `ordinal`; keeps up to `kept` bytes that are not in use. A device without pools has none.
  OwnPool(int ordinal, std::size_t kept);
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;
  ~OwnPool();
  [[nodiscard]] cudaMemPool_t get() const noexcept { return pool_; }

 private:
  cudaMemPool_t pool_ = nullptr;
};

/// Makes the device that it is constructed with the calling thread's current one.
struct SelectedDevice {
  explicit SelectedDevice(int ordinal);
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(int ordinal, const DeviceInfo& description);
  ~CudaBackend() override;

  void upload(void* device, const void* host, std::size_t bytes, Stream stream) override;
  void download(void* host, const void* device, std::size_t bytes, Stream stream) override;
  void synchronize(Stream stream) override;
  [[nodiscard]] std::shared_ptr<void> new_stream() override;

  /// Device memory that holds the elements of a host array, for runs in any stream.
  template <class Values>
  [[nodiscard]] Buffer uploaded(const Values& values) {
    const std::size_t bytes = values.size() * sizeof(values[0]);
    Buffer buffer = allocate(bytes);
    upload(buffer.get(), values.data(), bytes, {});
    return buffer;
  }

  /// Makes this backend's device current: at the entry of every call from outside.
  void select() const;
  [[nodiscard]] cudaStream_t stream_of(Stream stream) const noexcept;
  [[nodiscard]] cudaMemPool_t pool() const noexcept { return pool_.get(); }
  [[nodiscard]] int multiprocessors() const noexcept { return multiprocessors_; }
  /// The most shared memory that a block may ask for.
  [[nodiscard]] std::size_t shared_memory() const noexcept {
    return static_cast<std::size_t>(shared_memory_);
  }
  /// Tables for u8 and u16 in device memory; null pointers otherwise, and without srgb. Uploads those for u16
  /// when first asked for.
  [[nodiscard]] TransferView transfer(Type type, bool srgb);

 private:
  [[nodiscard]] Buffer allocate_own(std::size_t bytes) override;

  int ordinal_;
  SelectedDevice selected_;  // before what is made on the device
  int multiprocessors_ = 1;
  int shared_memory_ = 0;
  OwnStream stream_;
  OwnPool pool_;
  Buffer decode8_, encode8_;
  std::mutex tables16_;
  Buffer decode16_, thresholds16_, first_code16_;
};

inline CudaBackend& as_cuda(Backend& backend) { return static_cast<CudaBackend&>(backend); }

[[nodiscard]] inline kernels::Source source_of(const ImageView& view) {
  return {view.data, view.strides.row};
}
[[nodiscard]] inline kernels::Target target_of(const MutableImageView& view) {
  return {view.data, view.strides.row};
}

// One factory an operation, each in its own file.
std::unique_ptr<CopyOperation> prepare_copy(Backend& backend);
std::unique_ptr<MeasureOperation> prepare_measure(Backend& backend, const MeasureJob& job);
std::unique_ptr<TableOperation> prepare_table(Backend& backend, const TableJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean(Backend& backend, const BoxMeanJob& job);
std::unique_ptr<PremultiplyOperation> prepare_premultiply(Backend& backend, const PremultipliedJob& job);
std::unique_ptr<UnpremultiplyOperation> prepare_unpremultiply(Backend& backend, const PremultipliedJob& job);
std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job);
std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job);
std::unique_ptr<LensStoreOperation> prepare_lens_store(Backend& backend, const LensStoreJob& job);
std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job);
std::unique_ptr<DistanceOperation> prepare_distance(Backend& backend, const DistanceJob& job);
std::unique_ptr<DepositOperation> prepare_deposit(Backend& backend, const DepositJob& job);
std::unique_ptr<DetailOperation> prepare_detail(Backend& backend, const DetailJob& job);
std::unique_ptr<LobeMeanOperation> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job);
std::unique_ptr<LocalLinearOperation> prepare_local_linear(Backend& backend, const LocalLinearJob& job);
std::unique_ptr<RunningExtremeOperation> prepare_running_extreme(Backend& backend,
                                                                 const RunningExtremeJob& job);
std::unique_ptr<RecursiveOperation> prepare_recursive(Backend& backend, const RecursiveJob& job);
std::unique_ptr<LabelOperation> prepare_label(Backend& backend, const LabelJob& job);
std::unique_ptr<RelabelOperation> prepare_relabel(Backend& backend, const RelabelJob& job);
std::unique_ptr<RegionValuesOperation> prepare_region_values(Backend& backend, const RegionValuesJob& job);
std::unique_ptr<CoverageOperation> prepare_coverage(Backend& backend, const CoverageJob& job);
std::unique_ptr<PaintOperation> prepare_paint(Backend& backend, const PaintJob& job);
std::unique_ptr<ActiveTilesOperation> prepare_active_tiles(Backend& backend, const ActiveTilesJob& job);
std::unique_ptr<InclusionOperation> prepare_inclusion(Backend& backend, const InclusionJob& job);

}  // namespace satin::cuda
