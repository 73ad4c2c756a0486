#include "core/allocated.h"

#include <cstdint>

#include "satin/error.h"

namespace satin {

void require_whole(const Allocator& allocator) {
  if (!allocator.allocate != !allocator.free)
    throw Error(ErrorKind::usage, "An allocator is two functions: give both, or neither.");
}

Buffer allocated(const Allocator& allocator, std::size_t bytes) {
  require_whole(allocator);
  void* memory = allocator.allocate(bytes);
  if (memory == nullptr) return {};
  Buffer buffer{{static_cast<std::byte*>(memory),
                 [free = allocator.free, bytes](std::byte* given) { free(given, bytes); }},
                bytes};
  if (reinterpret_cast<std::uintptr_t>(memory) % 64 != 0)
    throw Error(ErrorKind::usage, "The allocator gave memory that is not at a multiple of 64 bytes.");
  return buffer;
}

}  // namespace satin
