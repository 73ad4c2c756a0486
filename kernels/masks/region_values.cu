// Sums of a picture's values under every label. A thread moves down a column and keeps the sums of one label.
// When the label changes, they are added to a small hash table of the block in shared memory, and at the end
// this to the labels' sums. All sums are integers, so their order does not matter.

#include "core/with_type.h"
#include "kernels/device/tuning.h"
#include "kernels/masks/launch.h"
#include "kernels/pixels/plane.cuh"
#include "masks/maths/region.h"

namespace satin::kernels {
namespace {

constexpr int threads = tuning::region_values_threads;
constexpr int rows = tuning::region_values_rows;
constexpr int table_entries = tuning::region_values_slots;
constexpr int probes = 4;

__global__ void __launch_bounds__(threads) clear_sums(RegionSums* sums, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < count) sums[i] = {};
}

__device__ void add(std::uint64_t* sum, std::uint64_t value) {
  if (value != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

__device__ void add_atomically(RegionSums& into, const RegionSums& part) {
  add(&into.sum, part.sum);
  add(&into.squares_low, part.squares_low);
  add(&into.squares_high, part.squares_high);
  if (*static_cast<volatile std::uint32_t*>(&into.smallest) > part.smallest)
    atomicMin(&into.smallest, part.smallest);
  if (*static_cast<volatile std::uint32_t*>(&into.largest) < part.largest)
    atomicMax(&into.largest, part.largest);
}

/// Sums of the labels that a block has met, hashed by label.
struct BlockTable {
  std::uint32_t labels[table_entries];  ///< 0 if the entry is free
  RegionSums sums[table_entries];
};

/// Returns the entry of a label, or -1 if all entries that it may have belong to other labels.
__device__ int entry_of(BlockTable& table, std::uint32_t label) {
  std::uint32_t entry = label * 2654435761U >> 16;  // Knuth's multiplicative hash
  for (int probe = 0; probe < probes; ++probe, ++entry) {
    const std::uint32_t found = atomicCAS(&table.labels[entry % table_entries], 0U, label);
    if (found == 0 || found == label) return static_cast<int>(entry % table_entries);
  }
  return -1;
}

template <class T>
__global__ void __launch_bounds__(threads)
    sum_values(const __grid_constant__ RegionValuesArguments arguments, unsigned columns) {
  __shared__ alignas(BlockTable) unsigned char memory[sizeof(BlockTable)];  // constructed by what follows
  auto& table = *reinterpret_cast<BlockTable*>(memory);
  for (int entry = static_cast<int>(threadIdx.x); entry < table_entries; entry += threads) {
    table.labels[entry] = 0;
    table.sums[entry] = {};
  }
  __syncthreads();
  const RegionValuesJob& job = arguments.job;
  const auto channel = static_cast<int>(blockIdx.y);
  const std::int64_t x = std::int64_t{blockIdx.x % columns} * threads + threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.x / columns} * rows;
  const int exponent =
      arguments.measured == nullptr ? 0 : fixed_exponent(arguments.measured->largest[0], job.fixed_bits);
  const auto sums_of_label = [&](std::uint32_t label) -> RegionSums& {
    return arguments.sums[(label - std::int64_t{1}) * job.channels + channel];
  };

  std::uint32_t current = 0;
  RegionSums sums;
  const auto flush = [&] {
    if (current == 0) return;
    const int entry = entry_of(table, current);
    add_atomically(entry >= 0 ? table.sums[entry] : sums_of_label(current), sums);
  };
  for (std::int64_t y = first; y < first + rows && y < job.height && x < job.width; ++y) {
    const std::uint32_t label =
        reinterpret_cast<const std::uint32_t*>(arguments.labels.data + y * arguments.labels.row)[x];
    const T value = reinterpret_cast<const T*>(arguments.picture.data +
                                               y * arguments.picture.row)[x * job.channels + channel];
    if (label != current) {
      flush();
      current = label;
      sums = {};
    }
    add(sums, sums_of(value, exponent, job.fixed_bits));
  }
  flush();
  __syncthreads();
  for (int entry = static_cast<int>(threadIdx.x); entry < table_entries; entry += threads)
    if (table.labels[entry] != 0) add_atomically(sums_of_label(table.labels[entry]), table.sums[entry]);
}

}  // namespace

void sum_region_values(const RegionValuesArguments& arguments, StreamHandle stream) {
  const RegionValuesJob& job = arguments.job;
  const std::int64_t count = std::int64_t{arguments.count} * job.channels;
  if (count == 0) return;
  clear_sums<<<block_count(count, threads), threads, 0, stream>>>(arguments.sums, count);
  const unsigned columns = block_count(job.width, threads);
  const dim3 grid(columns * block_count(job.height, rows), static_cast<unsigned>(job.channels));
  with_pixel_type(job.type,
                  [&]<class T>() { sum_values<T><<<grid, threads, 0, stream>>>(arguments, columns); });
}

}  // namespace satin::kernels
