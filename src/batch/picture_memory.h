#pragma once
// Memory for pictures: how much of it those in flight take, and blocks for one picture after another.

#include <atomic>
#include <cstdint>

#include "satin/image.h"

namespace satin::batch {

/// Before a file is begun its share is estimated: 16 times the size of the file, but no less than the largest
/// picture so far. Once decoded it counts with its true size. So the limit is passed only by a picture that
/// is larger than all before it, and by one that is larger than the limit itself, which then is alone.
class PictureMemory {
 public:
  explicit PictureMemory(std::uint64_t limit) : limit_(limit) {}

  [[nodiscard]] std::uint64_t estimate(std::uint64_t file_size) const noexcept;
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// True if that many bytes are left, or nothing is in flight.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept;

  void take(std::uint64_t bytes) noexcept { taken_ += bytes; }
  void give_back(std::uint64_t bytes) noexcept { taken_ -= bytes; }
  /// Replaces an estimate; may be called from any thread.
  void correct(std::uint64_t& share, std::uint64_t bytes) noexcept;

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> largest_{0};
};

/// A quarter of this machine's memory.
[[nodiscard]] std::uint64_t usual_picture_memory();

/// An allocator that asks `source` for blocks and keeps those that it gets back for pictures of about their
/// size (it rounds up by an eighth at most), so that pictures of one size soon cost no call of `source`. It
/// holds `most` bytes at most, in use or not, and no more than `first` and an eighth of what it has handed
/// out, so that blocks that are slow to get pay off: before it would hold more, it gives up blocks that
/// nobody uses. Where that is not enough, and where `source` gives nothing, the memory is the system's.
/// Whatever holds memory may outlive this; the last of them returns the blocks to `source`.
[[nodiscard]] Allocator pooled(const Allocator& source, std::uint64_t first, std::uint64_t most);

}  // namespace satin::batch
