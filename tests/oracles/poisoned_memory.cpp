#include "tests/oracles/poisoned_memory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/backend.h"
#include "core/workspace.h"
#include "satin/device.h"
#include "satin/error.h"

namespace satin::test {
namespace {

constexpr std::size_t most_poisoned = std::size_t{4} << 20;

/// Allocates from a second, plain device, which works like the poisoned one.
class PoisonedMemory {
 public:
  explicit PoisonedMemory(const std::string& id) : device_(Device::open(id, {.threads = 1})) {}

  void* allocate(std::size_t bytes) {
    try {
      Buffer block = allocated(bytes);
      const std::vector<std::byte> poison(std::min(bytes, most_poisoned), next_byte());
      if (!poison.empty()) device_.backend().upload(block.get(), poison.data(), poison.size(), {});
      void* const memory = block.get();
      const std::lock_guard lock(mutex_);
      blocks_.insert_or_assign(memory, std::move(block));
      return memory;
    } catch (const Error&) {
      return nullptr;
    }
  }
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(memory);
  }

 private:
  /// Allocates outside any budget, because the poisoned device has counted the memory.
  Buffer allocated(std::size_t bytes) {
    if (!device_.is_cuda()) return allocate_host(bytes);
    Buffer block = device_.backend().allocate(bytes);
    WorkspaceBudget::give_back(bytes);
    return block;
  }
  /// Returns an odd byte that differs from the last ones. Some make NaN of floats.
  std::byte next_byte() { return static_cast<std::byte>(count_.fetch_add(1) * 0x4EU | 1U); }

  Device device_;
  std::atomic<unsigned> count_ = 0;
  std::mutex mutex_;
  std::unordered_map<void*, Buffer> blocks_;
};

}  // namespace

Allocator poisoned_memory(const std::string& id) {
  const auto memory = std::make_shared<PoisonedMemory>(id);
  return {[memory](std::size_t bytes) { return memory->allocate(bytes); },
          [memory](void* block, std::size_t) { memory->free(block); }};
}

}  // namespace satin::test
