#pragma once
// Pictures that own their memory, and where that memory comes from. For views of memory that the caller owns
// see satin/view.h.

#include <functional>
#include <memory>
#include <string>

#include "satin/view.h"

namespace [[gnu::visibility("default")]] satin {

/// Returns a description for messages, such as "640 x 480, 3 x u8".
[[nodiscard]] std::string describe(const Shape& shape);

/// A block of memory with the function that frees it.
struct Buffer {
  std::unique_ptr<std::byte, std::function<void(std::byte*)>> data;  ///< the first byte
  std::size_t size = 0;                                              ///< bytes

  /// Returns the first byte, or null if there is no memory.
  [[nodiscard]] std::byte* get() const noexcept { return data.get(); }
};

/// A source of memory that replaces the system's. Set both functions or neither. They are called from several
/// threads at once, and `free` is called until the last holder of memory is destroyed.
struct Allocator {
  /// Returns memory at a multiple of 64 bytes, or null if there is none; the caller of Satin then gets
  /// Error(environment).
  std::function<void*(std::size_t bytes)> allocate;
  /// Frees memory that allocate() returned for this number of bytes. Must not throw.
  std::function<void(void* memory, std::size_t bytes)> free;
};

/// Allocates uninitialised host memory that is aligned to 64 bytes or more. Without an allocator it comes
/// from the system, and large buffers request huge pages. Throws Error(environment) if there is no memory,
/// and Error(usage) if the allocator returns unaligned memory.
[[nodiscard]] Buffer allocate_host(std::size_t bytes, const Allocator& allocator = {});

/// A densely packed, interleaved picture that owns its memory. Moving is cheap; copying is explicit, by
/// clone().
class Image {
 public:
  /// Holds no picture.
  Image() = default;
  /// Allocates a host picture with uninitialised pixels. Throws as validate() and allocate_host().
  explicit Image(const Shape& shape, const Allocator& allocator = {});
  /// Takes ownership of memory of at least byte_size(shape) bytes.
  Image(const Shape& shape, Buffer buffer, Memory memory);

  /// Width, height and pixel format.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// Whether there is no picture.
  [[nodiscard]] bool empty() const noexcept { return buffer_.get() == nullptr; }
  /// Memory that holds the pixels.
  [[nodiscard]] Memory memory() const noexcept { return memory_; }
  /// The first pixel.
  [[nodiscard]] std::byte* data() noexcept { return buffer_.get(); }
  /// The first pixel, read-only.
  [[nodiscard]] const std::byte* data() const noexcept { return buffer_.get(); }
  /// Returns a read-only view of all pixels, empty if there is no picture.
  [[nodiscard]] ImageView view() const;
  /// Returns a writable view of all pixels, empty if there is no picture.
  [[nodiscard]] MutableImageView view();
  /// Converts by view().
  // NOLINTNEXTLINE(google-explicit-constructor): an image is usable wherever a view is
  operator ImageView() const { return view(); }

  /// Returns a deep copy of a host picture. Throws Error(usage) for a picture in device memory.
  [[nodiscard]] Image clone() const;

 private:
  Shape shape_;
  Buffer buffer_;
  Memory memory_ = Memory::host;
};

/// Copies the pixels of a host view to a picture that is interleaved and densely packed. Throws as Image().
[[nodiscard]] Image copy_of(const ImageView& view, const Allocator& allocator = {});

}  // namespace satin
