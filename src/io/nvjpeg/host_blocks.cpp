#include "io/nvjpeg/host_blocks.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

namespace satin::nvjpeg {

void HostBlocks::Unlock::operator()(void* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }

void* HostBlocks::take(std::size_t bytes) noexcept try {
  constexpr std::size_t least = std::size_t{1} << 16;
  const std::size_t size = std::bit_ceil(std::max(bytes, least));
  const std::lock_guard lock(mutex_);
  Blocks& idle = idle_[size];
  Block block;
  if (!idle.empty()) {
    block = std::move(idle.back());
    idle.pop_back();
  } else {
    idle.reserve(counts_[size] + 1);
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, size, cudaHostAllocPortable) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    block.reset(memory);
    ++counts_[size];
  }
  void* memory = block.get();
  taken_.emplace(memory, std::pair(size, std::move(block)));
  return memory;
} catch (const std::exception&) {
  return nullptr;
}

void HostBlocks::give_back(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(memory);
  if (found == taken_.end()) return;
  auto& [size, block] = found->second;
  idle_.find(size)->second.push_back(std::move(block));
  taken_.erase(found);
}

}  // namespace satin::nvjpeg
