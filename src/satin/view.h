#pragma once
// The shape of a picture, and views: pixels in memory that the caller owns. A view is cheap to copy and never
// owns its memory. Strides are in bytes and may be negative.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] satin {

/// The type of one channel of one pixel, or of one element of an array. Filters accept u8, u16 and f32. The
/// wider types hold tables; i32 is for arrays.
enum class Type : std::uint8_t {
  u8,   ///< unsigned, 8 bits
  u16,  ///< unsigned, 16 bits
  u32,  ///< unsigned, 32 bits
  u64,  ///< unsigned, 64 bits
  i32,  ///< signed, 32 bits
  f32,  ///< IEEE single precision
  f64   ///< IEEE double precision
};

/// Meaning of the last channel of a picture with 2 or 4 channels.
enum class Alpha : std::uint8_t {
  none,          ///< a channel like the others
  straight,      ///< opacity; colours are not multiplied by it (PNG, most 8- and 16-bit files)
  premultiplied  ///< opacity; colours are multiplied by it already (OpenEXR)
};

/// The order of the colour channels. Alpha, where there is one, is always last.
enum class Order : std::uint8_t {
  rgb,  ///< red first
  bgr   ///< blue first
};

/// Memory that holds the bytes of a view.
enum class Memory : std::uint8_t {
  host,   ///< readable by the CPU
  device  ///< memory of the CUDA device that the view is used with
};

/// Returns the bytes of one value.
[[nodiscard]] std::size_t size_of(Type type) noexcept;
/// Returns the name of the type for messages, such as "u8".
[[nodiscard]] const char* name_of(Type type) noexcept;

/// Width, height and pixel format of a picture, or of a batch of `frames` pictures of one size.
struct Shape {
  std::int64_t width = 0;     ///< pixels
  std::int64_t height = 0;    ///< pixels
  int channels = 1;           ///< 1 to 4
  Type type = Type::u8;       ///< type of every channel
  Alpha alpha = Alpha::none;  ///< meaning of the last channel
  Order order = Order::rgb;   ///< order of the colours
  std::int64_t frames = 1;    ///< number of pictures of this size, in a batch

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Throws Error(usage) unless the sizes are positive, channels are 1 to 4, alpha is `none` or there are 2 or
/// 4 channels, and the size in bytes fits 63 bits.
void validate(const Shape& shape);

/// Returns the bytes of the densely packed, interleaved picture. Throws as validate().
[[nodiscard]] std::size_t byte_size(const Shape& shape);

/// Whether a picture and a side input have the same aspect, with one of the sides rounded to a pixel.
[[nodiscard]] bool has_aspect_of(const Shape& picture, const Shape& side) noexcept;

/// Distances in bytes. For interleaved pixels, pixel = channels * size and channel = size. For planes, pixel
/// = size and channel is the size of a plane.
struct Strides {
  std::ptrdiff_t pixel = 0;    ///< to the pixel at the right
  std::ptrdiff_t row = 0;      ///< to the pixel below
  std::ptrdiff_t channel = 0;  ///< to the next channel of the pixel
  std::ptrdiff_t frame = 0;    ///< to the pixel in the next picture

  friend bool operator==(const Strides&, const Strides&) = default;
};

/// Returns the strides of densely packed pixels whose channels are adjacent.
[[nodiscard]] Strides interleaved_strides(const Shape& shape) noexcept;
/// Returns the strides of densely packed planes, one per channel. The planes of a frame follow each other.
[[nodiscard]] Strides planar_strides(const Shape& shape) noexcept;

/// A view of pixels that the caller keeps alive. `Byte` is std::byte or const std::byte.
template <class Byte>
struct BasicImageView {
  Byte* data = nullptr;          ///< pixel (0, 0), channel 0, frame 0
  Shape shape;                   ///< width, height and pixel format
  Strides strides;               ///< distances in bytes
  Memory memory = Memory::host;  ///< memory that holds the bytes

  /// Whether there are no pixels, as for an input that is not used.
  [[nodiscard]] bool empty() const noexcept { return data == nullptr; }

  /// Returns the address of one channel of one pixel. Nothing is checked.
  [[nodiscard]] Byte* at(std::int64_t x, std::int64_t y, int channel = 0,
                         std::int64_t frame = 0) const noexcept {
    return data + x * strides.pixel + y * strides.row + channel * strides.channel + frame * strides.frame;
  }

  /// Returns one channel of one pixel in host memory as T, which must match the view's type.
  template <class T>
  [[nodiscard]] auto& value(std::int64_t x, std::int64_t y, int channel = 0,
                            std::int64_t frame = 0) const noexcept {
    using Value = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return *reinterpret_cast<Value*>(at(x, y, channel, frame));
  }

  /// Returns the start of row `y` of an interleaved view as T.
  template <class T>
  [[nodiscard]] auto* row(std::int64_t y, std::int64_t frame = 0) const noexcept {
    return &value<T>(0, y, 0, frame);
  }

  /// Whether the channels of a pixel, and the pixels of a row, are adjacent.
  [[nodiscard]] bool interleaved() const noexcept {
    const auto size = static_cast<std::ptrdiff_t>(size_of(shape.type));
    return strides.channel == size && strides.pixel == size * shape.channels;
  }

  /// Returns one frame of the batch as a picture.
  [[nodiscard]] BasicImageView frame(std::int64_t index) const noexcept {
    BasicImageView result = *this;
    result.data = at(0, 0, 0, index);
    result.shape.frames = 1;
    return result;
  }

  /// Converts to a read-only view.
  // NOLINTNEXTLINE(google-explicit-constructor): a writable view is a view
  operator BasicImageView<const std::byte>() const noexcept requires(!std::is_const_v<Byte>) {
    return {data, shape, strides, memory};
  }
};

/// A read-only view.
using ImageView = BasicImageView<const std::byte>;
/// A writable view.
using MutableImageView = BasicImageView<std::byte>;

/// Returns a read-only interleaved view of densely packed pixels.
[[nodiscard]] ImageView view_of(const void* data, const Shape& shape, Memory memory = Memory::host);
/// Returns a view of the pixels in a span. Throws Error(usage) unless it has the bytes of this shape.
[[nodiscard]] ImageView view_of(std::span<const std::byte> pixels, const Shape& shape);
/// Returns a view of the pixels in a vector, an array or a span of numbers, which must live longer than the
/// view. Throws as for a span of bytes.
template <class Pixels>
requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*std::data(std::declval<const Pixels&>()))>>
[[nodiscard]] ImageView view_of(const Pixels& pixels, const Shape& shape) {
  return view_of(std::as_bytes(std::span(std::data(pixels), std::size(pixels))), shape);
}
/// Returns a writable interleaved view of densely packed pixels.
[[nodiscard]] MutableImageView mutable_view_of(void* data, const Shape& shape, Memory memory = Memory::host);

}  // namespace satin
