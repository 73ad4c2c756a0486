#include "batch/picture_memory.h"

#include <unistd.h>

#include <algorithm>

namespace satin::batch {

std::uint64_t PictureMemory::estimate(std::uint64_t file_size) const noexcept {
  constexpr std::uint64_t usual_compression = 16;
  return std::max(largest_.load(), usual_compression * file_size);
}

bool PictureMemory::has_room(std::uint64_t bytes) const noexcept {
  const std::uint64_t taken = taken_;
  return taken == 0 || (taken <= limit_ && bytes <= limit_ - taken);
}

void PictureMemory::correct(std::uint64_t& share, std::uint64_t bytes) noexcept {
  std::uint64_t largest = largest_;
  while (largest < bytes && !largest_.compare_exchange_weak(largest, bytes)) {
  }
  taken_ += bytes - share;  // modulo 2^64
  share = bytes;
}

std::uint64_t usual_picture_memory() {
  constexpr std::uint64_t unknown = std::uint64_t{1} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return unknown;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4;
}

}  // namespace satin::batch
