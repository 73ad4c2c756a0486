#pragma once
// What a backend is: memory, a stream, and a table of operations.

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/operations/active_tiles.h"
#include "core/operations/box_mean.h"
#include "core/operations/box_stats.h"
#include "core/operations/copy.h"
#include "core/operations/coverage.h"
#include "core/operations/deposit.h"
#include "core/operations/depth.h"
#include "core/operations/detail.h"
#include "core/operations/distance.h"
#include "core/operations/inclusion.h"
#include "core/operations/label.h"
#include "core/operations/lens_layers.h"
#include "core/operations/lens_store.h"
#include "core/operations/level.h"
#include "core/operations/lobe_mean.h"
#include "core/operations/local_linear.h"
#include "core/operations/measure.h"
#include "core/operations/paint.h"
#include "core/operations/premultiplied.h"
#include "core/operations/recursive.h"
#include "core/operations/region_values.h"
#include "core/operations/relabel.h"
#include "core/operations/running_extreme.h"
#include "core/operations/scan.h"
#include "core/operations/table.h"
#include "core/run_parts.h"
#include "core/windows.h"
#include "satin/device.h"
#include "satin/error.h"

namespace satin {

/// One function a semantic operation. Each allocates the workspace of the job and may throw
/// Error(environment). The scan family works on arrays and is not prepared.
struct Operations {
  std::unique_ptr<CopyOperation> (*copy)(Backend&) = nullptr;
  std::unique_ptr<MeasureOperation> (*measure)(Backend&, const MeasureJob&) = nullptr;
  std::unique_ptr<TableOperation> (*table)(Backend&, const TableJob&) = nullptr;
  std::unique_ptr<BoxMeanOperation> (*box_mean)(Backend&, const BoxMeanJob&) = nullptr;
  /// Successive box means at once, each of what the one before wrote. Null, or returns null, where the
  /// backend has nothing better for these jobs than one after the other.
  std::unique_ptr<BoxMeanOperation> (*box_chain)(Backend&, std::span<const BoxMeanJob>) = nullptr;
  std::unique_ptr<PremultiplyOperation> (*premultiply)(Backend&, const PremultipliedJob&) = nullptr;
  std::unique_ptr<UnpremultiplyOperation> (*unpremultiply)(Backend&, const PremultipliedJob&) = nullptr;
  std::unique_ptr<BoxStatsOperation> (*box_stats)(Backend&, const BoxStatsJob&) = nullptr;
  std::unique_ptr<LensLayersOperation> (*lens_layers)(Backend&, const LensLayersJob&) = nullptr;
  std::unique_ptr<LensStoreOperation> (*lens_store)(Backend&, const LensStoreJob&) = nullptr;
  std::unique_ptr<LevelOperation> (*level)(Backend&, const LevelJob&) = nullptr;
  std::unique_ptr<DistanceOperation> (*distance)(Backend&, const DistanceJob&) = nullptr;
  std::unique_ptr<DepositOperation> (*deposit)(Backend&, const DepositJob&) = nullptr;
  std::unique_ptr<DetailOperation> (*detail)(Backend&, const DetailJob&) = nullptr;
  /// The detail beside the means of successive boxes of the picture at once: `means` of its images is empty.
  /// Null, or returns null, where the backend has nothing better than one after the other.
  std::unique_ptr<DetailOperation> (*detail_chain)(Backend&, std::span<const BoxMeanJob>,
                                                   const DetailJob&) = nullptr;
  std::unique_ptr<LobeMeanOperation> (*lobe_mean)(Backend&, const LobeMeanJob&) = nullptr;
  std::unique_ptr<LocalLinearOperation> (*local_linear)(Backend&, const LocalLinearJob&) = nullptr;
  std::unique_ptr<RunningExtremeOperation> (*running_extreme)(Backend&, const RunningExtremeJob&) = nullptr;
  std::unique_ptr<RecursiveOperation> (*recursive)(Backend&, const RecursiveJob&) = nullptr;
  std::unique_ptr<LabelOperation> (*label)(Backend&, const LabelJob&) = nullptr;
  std::unique_ptr<RelabelOperation> (*relabel)(Backend&, const RelabelJob&) = nullptr;
  std::unique_ptr<RegionValuesOperation> (*region_values)(Backend&, const RegionValuesJob&) = nullptr;
  std::unique_ptr<CoverageOperation> (*coverage)(Backend&, const CoverageJob&) = nullptr;
  std::unique_ptr<PaintOperation> (*paint)(Backend&, const PaintJob&) = nullptr;
  std::unique_ptr<ActiveTilesOperation> (*active_tiles)(Backend&, const ActiveTilesJob&) = nullptr;
  std::unique_ptr<InclusionOperation> (*inclusion)(Backend&, const InclusionJob&) = nullptr;
  DepthOperations depth{};
  ScanOperations scan{};
};

/// Thrown where memory does not suffice, so that less may be tried.
struct NoMemory : Error {
  explicit NoMemory(const std::string& message) : Error(ErrorKind::environment, message) {}
};

/// One open device. Thread-safe: what operations share is set up when the backend is opened.
struct Backend : std::enable_shared_from_this<Backend> {
  DeviceInfo info;
  Operations operations;
  WindowCosts mean_windows;                   ///< of means over boxes
  WindowCosts extreme_windows;                ///< of running extremes
  std::atomic<std::size_t> memory_limit = 0;  ///< bytes that a plan may hold; 0: what there is
  Allocator allocator;                        ///< the caller's; empty: allocate_own()
  bool host_memory = true;                    ///< its memory is the host's: nothing needs to be staged
  int runs_at_once = 1;                       ///< that keep it busy, each in a stream of its own
  Allocator page_locked;                      ///< host memory for copies; empty: any does
  RunListener listener;                       ///< told of the parts of runs, which then end one by one

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Throws NoMemory.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  /// Copies bytes in stream order; host memory is read, or filled, before they return.
  virtual void upload(void* device, const void* host, std::size_t bytes, Stream stream) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes, Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;
  /// A stream that is destroyed with its last owner; null where there are none.
  [[nodiscard]] virtual std::shared_ptr<void> new_stream() { return nullptr; }

 protected:
  /// Where the caller has no allocator. Throws NoMemory.
  [[nodiscard]] virtual Buffer allocate_own(std::size_t bytes) = 0;
};

// The factories behind Device. Each is the only name that the rest of the library knows of its backend.
[[nodiscard]] DeviceInfo describe_cpu();
[[nodiscard]] std::shared_ptr<Backend> open_cpu(int threads);
[[nodiscard]] std::vector<DeviceInfo> describe_cuda();          ///< never throws; at least one entry
[[nodiscard]] std::shared_ptr<Backend> open_cuda(int ordinal);  ///< throws Error(environment) with the reason

}  // namespace satin
