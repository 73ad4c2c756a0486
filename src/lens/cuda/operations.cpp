// Operations of the lens on CUDA: workspaces, tables and launches of LensLayersOperation and SplatOperation.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/cuda/backend.h"
#include "kernels/lens/launch.h"
#include "lens/layers.h"
#include "lens/splat.h"
#include "pixels/cuda/transfer.h"
#include "satin/error.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t most_pixels = (1LL << 32) - 1;  ///< kernels use 32-bit pixel indices

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CudaBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        fill_(backend.allocate(kernels::fill_workspace_bytes(job))),
        nonlocal_(backend.allocate(kernels::nonlocal_workspace_bytes(job))) {
    if (job.width * job.height > most_pixels)
      throw Error(ErrorKind::usage, "Depth of field of 2^32 pixels and more is not made on the GPU.");
    check(static_cast<cudaError_t>(kernels::prepare_fill_disocclusions(job.channels)),
          "asking for shared memory");
    check(cudaMemsetAsync(fill_.get(), 0, fill_.size, backend.stream_of({})),
          "clearing the borders of planes");
    backend.synchronize({});  // runs may be in other streams
    arguments_.job = job;
    arguments_.transfer = device_transfer(backend, job.type, job.transfer == Transfer::srgb);
    arguments_.fill_workspace = fill_.get();
    arguments_.nonlocal_workspace = nonlocal_.get();
    arguments_.multiprocessors = backend.multiprocessors();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return fill_.size + nonlocal_.size; }

  void run(const ImageView& picture, const Measured* measured, const LensScene& scene,
           Stream stream) override {
    backend_.select();
    cudaStream_t queue = backend_.stream_of(stream);
    kernels::make_visible_samples(arguments_, picture, measured, scene, queue);
    kernels::fill_disocclusions(arguments_, scene, queue);
    kernels::fill_nonlocally(arguments_, scene, queue);
    check_launch("making the layers of depth of field");
  }

  void show(const LensScene& scene, const LensShow& shown, Stream stream) override {
    backend_.select();
    kernels::show_lens(arguments_.job, scene, shown, backend_.stream_of(stream));
    check_launch("showing the layers of depth of field");
  }

 private:
  CudaBackend& backend_;
  Buffer fill_;
  Buffer nonlocal_;
  kernels::LensLayersArguments arguments_;
};

constexpr std::int64_t largest_side = 1LL << 30;  // kernels use 32-bit columns and rows

std::vector<kernels::NearStaircase> near_staircases(std::span<const Staircase> all) {
  std::vector<kernels::NearStaircase> near(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].reach > kernels::splat_reach) continue;
    std::copy_n(all[i].wide, all[i].boxes, near[i].wide);
    std::copy_n(all[i].high, all[i].boxes, near[i].high);
    near[i].boxes = static_cast<std::uint8_t>(all[i].boxes);
    near[i].reach = static_cast<std::uint8_t>(all[i].reach);
    near[i].outline = all[i].outline;
  }
  return near;
}

class Splat final : public SplatOperation {
 public:
  Splat(CudaBackend& backend, const SplatJob& job)
      : backend_(backend), job_(job), groups_(static_cast<std::size_t>(job.groups)) {
    if (job.width > largest_side || job.height > largest_side)
      throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
    arguments_.width = static_cast<std::int32_t>(job.width);
    arguments_.height = static_cast<std::int32_t>(job.height);
    arguments_.tile_columns = tiles(job.width, kernels::splat_tile_width);
    arguments_.tile_rows = tiles(job.height, kernels::splat_tile_height);
    arguments_.channels = job.channels;
    arguments_.single = job.colour_bits <= most_bits_in_float;
    arguments_.last_group = static_cast<std::uint32_t>(job.groups - 1);
    arguments_.most_listed = job.most_listed;
    arguments_.most_lamps = job.most_lamps;
    arguments_.stores_codes = job.stores_codes;
    if (job.stores_codes) arguments_.transfer = device_transfer(backend, Type::u8, true);
    arguments_.all_planes = kernels::splat_shared_bytes(job.channels + 1) <= backend.shared_memory();
    check(static_cast<cudaError_t>(kernels::allow_splat(job.channels)), "asking for shared memory");
    upload(lens_kernels(job));
    allocate();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.size;
    for (const Buffer& buffer : tables_) sum += buffer.size;
    return sum;
  }

  void set_opening(const Opening& opening, Stream stream) override {
    if (opening == job_.opening) return;
    backend_.synchronize(stream);
    job_.opening = opening;
    upload(lens_kernels(job_));
  }

  void run(const SplatImages& images, Stream stream) override {
    backend_.select();
    const auto handle = backend_.stream_of(stream);
    kernels::SplatArguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.colours = source_of(images.colours);
    arguments.radii = source_of(images.radii);
    arguments.groups = source_of(images.groups);
    arguments.weights = source_of(images.weights);
    arguments.exposed = source_of(images.exposed);
    arguments.listed = images.listed;
    arguments.count = images.count;
    arguments.lamps = images.lamps;
    arguments.lamp_count = images.lamp_count;
    arguments.aperture = images.aperture;
    arguments.output = target_of(images.output);
    check(cudaMemsetAsync(arguments.sums.direct, 0, groups_ * tile_count(), handle),
          "clearing the marks of tiles");
    kernels::splat_survey(arguments, handle);
    kernels::splat_direct(arguments, handle);
    kernels::splat_gather(arguments, handle);
    kernels::splat_composite(arguments, handle);
    check_launch("spreading samples over a picture");
  }

 private:
  static std::int32_t tiles(std::int64_t pixels, int tile) {
    return static_cast<std::int32_t>((pixels + tile - 1) / tile);
  }
  [[nodiscard]] std::size_t tile_count() const {
    return static_cast<std::size_t>(arguments_.tile_columns) * static_cast<std::size_t>(arguments_.tile_rows);
  }

  template <class T>
  T* allocated(std::size_t count) {
    buffers_.push_back(backend_.allocate(count * sizeof(T)));
    return reinterpret_cast<T*>(buffers_.back().get());
  }
  template <class Values>
  const typename Values::value_type* uploaded(const Values& values) {
    tables_.push_back(backend_.uploaded(values));
    return reinterpret_cast<const typename Values::value_type*>(tables_.back().get());
  }

  void upload(const LensKernels& tables) {
    tables_.clear();
    arguments_.kernels = {uploaded(tables.staircases), uploaded(tables.kernels), tables.largest,
                          tables.weight_bits, uploaded(tables.outlines)};
    arguments_.near = uploaded(near_staircases(tables.staircases));
    arguments_.short_sums = has_short_sums(job_, tables.weight_bits);
    const auto reaches = reaches_of(tables);
    arguments_.reaches = uploaded(reaches);
    arguments_.largest_reach = reaches.back();
  }

  kernels::SplatRecords allocated_records(std::size_t count) {
    return {allocated<kernels::RecordColours>(count), allocated<kernels::RecordShape>(count)};
  }

  void allocate() {
    constexpr std::size_t cells_of_tile = kernels::splat_tile_width / kernels::splat_cell;
    const std::size_t planes = groups_ * (static_cast<std::size_t>(arguments_.channels) + 1);
    const std::size_t cells = tile_count() * cells_of_tile;
    kernels::SplatSums& sums = arguments_.sums;
    sums.tiles = allocated<std::uint64_t>(planes * tile_count() * kernels::splat_tile_pixels);
    sums.columns = allocated<std::uint64_t>(planes * tile_count() * kernels::splat_tile_width);
    sums.rows = allocated<std::uint64_t>(planes * tile_count() * kernels::splat_tile_height);
    sums.direct = allocated<std::uint8_t>(groups_ * tile_count());
    sums.spread = allocated<std::uint8_t>(groups_ * tile_count());
    sums.records = allocated_records(cells * kernels::splat_cell * kernels::splat_cell);
    sums.cells = allocated<kernels::SplatCell>(groups_ * cells);
    sums.focused = allocated<std::uint8_t>(cells);
    const std::size_t subcells = groups_ * cells * kernels::splat_subcells;
    sums.visible = allocated<kernels::Subcell>(subcells);
    sums.listed = allocated<kernels::Subcell>(subcells + 1);
    sums.placed = reinterpret_cast<std::uint32_t*>(sums.listed + subcells);  // cleared with `listed`
    sums.listed_records = allocated_records(arguments_.most_listed);
    sums.order_counts = allocated<std::uint32_t>(kernels::order_bins);
    sums.order = allocated<std::uint32_t>(kernels::order_bins * groups_ * tile_count());
  }

  CudaBackend& backend_;
  SplatJob job_;
  std::size_t groups_;
  kernels::SplatArguments arguments_;
  std::vector<Buffer> tables_;
  std::vector<Buffer> buffers_;
};

}  // namespace

Prepared<LensLayersJob> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cuda(backend), job);
}

Prepared<SplatJob> prepare_splat(Backend& backend, const SplatJob& job) {
  return std::make_unique<Splat>(as_cuda(backend), job);
}

}  // namespace satin::cuda
