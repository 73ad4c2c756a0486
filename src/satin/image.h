#pragma once
// Pictures as values: a picture that owns its memory, and (satin/view.h) views of memory that somebody else
// owns.

#include <functional>
#include <memory>
#include <string>

#include "satin/view.h"

namespace [[gnu::visibility("default")]] satin {

/// "640 x 480, 3 x u8", for messages.
[[nodiscard]] std::string describe(const Shape& shape);

/// Bytes with the function that frees them.
struct Buffer {
  std::unique_ptr<std::byte, std::function<void(std::byte*)>> data;  ///< the first byte
  std::size_t size = 0;                                              ///< bytes

  /// The first byte, null if there is no memory.
  [[nodiscard]] std::byte* get() const noexcept { return data.get(); }
};

/// Where memory comes from, in place of the system. Give both functions or neither; they are called from
/// several threads at once, `free` as late as the last holder of memory dies.
struct Allocator {
  /// Bytes at a multiple of 64; null if there are none, which is Error(environment) to whom it may concern.
  std::function<void*(std::size_t bytes)> allocate;
  /// Takes back what allocate() gave for so many bytes. Does not throw.
  std::function<void(void* memory, std::size_t bytes)> free;
};

/// Host memory, aligned to 64 bytes or more, not initialised, of the allocator; without one, of the system,
/// where large buffers ask for huge pages. Throws Error(environment) when there is none, Error(usage) for
/// memory that is not aligned.
[[nodiscard]] Buffer allocate_host(std::size_t bytes, const Allocator& allocator = {});

/// A densely packed, interleaved picture that owns its memory. Moving is cheap; copying is explicit, by
/// clone().
class Image {
 public:
  /// No picture.
  Image() = default;
  /// A host picture; its pixels are not initialised. Throws as validate() and allocate_host().
  explicit Image(const Shape& shape, const Allocator& allocator = {});
  /// Takes over memory that holds byte_size(shape) bytes at least.
  Image(const Shape& shape, Buffer buffer, Memory memory);

  /// Width, height and pixel format.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// True if there is no picture.
  [[nodiscard]] bool empty() const noexcept { return buffer_.get() == nullptr; }
  /// Where the pixels are.
  [[nodiscard]] Memory memory() const noexcept { return memory_; }
  /// The first pixel.
  [[nodiscard]] std::byte* data() noexcept { return buffer_.get(); }
  /// The first pixel, to be read.
  [[nodiscard]] const std::byte* data() const noexcept { return buffer_.get(); }
  /// All pixels, to be read; an empty view if there is no picture.
  [[nodiscard]] ImageView view() const;
  /// All pixels; an empty view if there is no picture.
  [[nodiscard]] MutableImageView view();
  /// Converts by view().
  // NOLINTNEXTLINE(google-explicit-constructor): an image is usable wherever a view is
  operator ImageView() const { return view(); }

  /// A deep copy of a host picture. Throws Error(usage) for one in device memory.
  [[nodiscard]] Image clone() const;

 private:
  Shape shape_;
  Buffer buffer_;
  Memory memory_ = Memory::host;
};

/// Host picture with the pixels of a host view, interleaved and densely packed.
[[nodiscard]] Image copy_of(const ImageView& view);

}  // namespace satin
