#pragma once
// Page-locked memory for nvJPEG.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace satin::nvjpeg {

/// Blocks whose sizes are powers of two. Those that are given back are kept for others until the end, because
/// returning page-locked memory to the driver may wait for the whole device. For any number of threads.
class HostBlocks {
 public:
  /// Null if the system lets no more be locked.
  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  void give_back(void* memory) noexcept;

 private:
  struct Unlock {
    void operator()(void* memory) const noexcept;
  };
  using Block = std::unique_ptr<void, Unlock>;
  using Blocks = std::vector<Block>;

  std::mutex mutex_;
  std::map<std::size_t, Blocks> idle_;  ///< by size, with room for all blocks of that size
  std::map<std::size_t, std::size_t> counts_;
  std::map<void*, std::pair<std::size_t, Block>> taken_;
};

}  // namespace satin::nvjpeg
