#pragma once
// Memory for pictures: a budget for those in flight, and a pool of blocks that are used again.

#include <atomic>
#include <cstdint>

#include "satin/image.h"

namespace satin::batch {

/// Budget for the pictures in flight. Before a file is read its share is estimated as 16 times the size of
/// the file, but at least the largest picture so far. After decoding, the true size counts. The limit is
/// therefore exceeded only by a picture larger than all before it, and by one that is larger than the limit
/// itself, which is then in flight alone.
class PictureMemory {
 public:
  explicit PictureMemory(std::uint64_t limit) : limit_(limit) {}

  [[nodiscard]] std::uint64_t estimate(std::uint64_t file_size) const noexcept;
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// Whether that many bytes are left, or nothing is in flight.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept;

  void take(std::uint64_t bytes) noexcept { taken_ += bytes; }
  void give_back(std::uint64_t bytes) noexcept { taken_ -= bytes; }
  /// Replaces an estimate. Thread-safe.
  void correct(std::uint64_t& share, std::uint64_t bytes) noexcept;

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> largest_{0};
};

/// Returns a quarter of this machine's memory.
[[nodiscard]] std::uint64_t usual_picture_memory();

/// Returns an allocator that gets blocks from `source` and keeps freed blocks for pictures of about the same
/// size (sizes are rounded up by an eighth at most), so that pictures of one size soon need no call of
/// `source`.
///
/// The pool holds at most `most` bytes, in use or not, and at most `first` plus an eighth of all bytes handed
/// out, so that blocks which are slow to get pay off. Before it would exceed that, it frees unused blocks. If
/// that is not enough, or `source` has no memory, the memory comes from the system. Memory may outlive the
/// allocator: the last owner returns the blocks to `source`.
[[nodiscard]] Allocator pooled(const Allocator& source, std::uint64_t first, std::uint64_t most);

}  // namespace satin::batch
