#pragma once
// Views: the shape of a picture, and memory that somebody else owns looked at as pixels. A view is cheap to
// copy and never owns; every stride is in bytes and may be negative.

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace [[gnu::visibility("default")]] satin {

/// The type of one channel of one pixel, or of one element of an array. Filters take u8, u16 and f32; the
/// wider types carry tables; i32 is for arrays.
enum class Type : std::uint8_t {
  u8,   ///< 8 bits, unsigned
  u16,  ///< 16 bits, unsigned
  u32,  ///< 32 bits, unsigned
  u64,  ///< 64 bits, unsigned
  i32,  ///< 32 bits, signed
  f32,  ///< a float
  f64   ///< a double
};

/// What the last channel of a picture of 2 or 4 channels means.
enum class Alpha : std::uint8_t {
  none,          ///< it is a channel like the others
  straight,      ///< opacity; colours are not multiplied by it (PNG, most 8- and 16-bit files)
  premultiplied  ///< opacity; colours are multiplied by it already (OpenEXR)
};

/// The order of the colour channels. Alpha, where there is one, is always last.
enum class Order : std::uint8_t {
  rgb,  ///< red first
  bgr   ///< blue first
};

/// Where the bytes of a view are.
enum class Memory : std::uint8_t {
  host,   ///< readable by the CPU
  device  ///< memory of the CUDA device that the view is used with
};

/// Bytes of one value.
[[nodiscard]] std::size_t size_of(Type type) noexcept;
/// "u8", for messages.
[[nodiscard]] const char* name_of(Type type) noexcept;

/// Width, height and pixel format of a picture, or of a batch of `frames` pictures of one size.
struct Shape {
  std::int64_t width = 0;     ///< pixels
  std::int64_t height = 0;    ///< pixels
  int channels = 1;           ///< 1 to 4
  Type type = Type::u8;       ///< of every channel
  Alpha alpha = Alpha::none;  ///< of the last channel
  Order order = Order::rgb;   ///< of the colours
  std::int64_t frames = 1;    ///< pictures of this size, in a batch

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Throws Error(usage) unless the sizes are positive, channels are 1 to 4, alpha sits on 2 or 4 channels, and
/// the bytes of the picture fit 63 bits.
void validate(const Shape& shape);

/// Bytes of the densely packed, interleaved picture. Throws as validate().
[[nodiscard]] std::size_t byte_size(const Shape& shape);

/// Distances in bytes. Interleaved: pixel = channels * size, channel = size. Planar: pixel = size, channel =
/// plane.
struct Strides {
  std::ptrdiff_t pixel = 0;    ///< to the pixel at the right
  std::ptrdiff_t row = 0;      ///< to the pixel below
  std::ptrdiff_t channel = 0;  ///< to the next channel of the pixel
  std::ptrdiff_t frame = 0;    ///< to the pixel in the next picture

  friend bool operator==(const Strides&, const Strides&) = default;
};

/// Strides of densely packed pixels whose channels lie next to each other.
[[nodiscard]] Strides interleaved_strides(const Shape& shape) noexcept;
/// Strides of densely packed planes, one a channel; the planes of a frame lie one after another.
[[nodiscard]] Strides planar_strides(const Shape& shape) noexcept;

/// A view of pixels that somebody else keeps alive. `Byte` is std::byte or const std::byte.
template <class Byte>
struct BasicImageView {
  Byte* data = nullptr;          ///< pixel (0, 0), channel 0, frame 0
  Shape shape;                   ///< width, height and pixel format
  Strides strides;               ///< distances in bytes
  Memory memory = Memory::host;  ///< where the bytes are

  /// True for a view of nothing: an input that is not used.
  [[nodiscard]] bool empty() const noexcept { return data == nullptr; }

  /// Address of one channel of one pixel; nothing is checked.
  [[nodiscard]] Byte* at(std::int64_t x, std::int64_t y, int channel = 0,
                         std::int64_t frame = 0) const noexcept {
    return data + x * strides.pixel + y * strides.row + channel * strides.channel + frame * strides.frame;
  }

  /// One channel of one pixel in host memory as T, which must be the view's type.
  template <class T>
  [[nodiscard]] auto& value(std::int64_t x, std::int64_t y, int channel = 0,
                            std::int64_t frame = 0) const noexcept {
    using Value = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return *reinterpret_cast<Value*>(at(x, y, channel, frame));
  }

  /// Row `y` of an interleaved view as T.
  template <class T>
  [[nodiscard]] auto* row(std::int64_t y, std::int64_t frame = 0) const noexcept {
    return &value<T>(0, y, 0, frame);
  }

  /// True if the channels of a pixel, and the pixels of a row, lie next to each other.
  [[nodiscard]] bool interleaved() const noexcept {
    const auto size = static_cast<std::ptrdiff_t>(size_of(shape.type));
    return strides.channel == size && strides.pixel == size * shape.channels;
  }

  /// One frame of the batch as a picture.
  [[nodiscard]] BasicImageView frame(std::int64_t index) const noexcept {
    BasicImageView result = *this;
    result.data = at(0, 0, 0, index);
    result.shape.frames = 1;
    return result;
  }

  /// The view that does not write.
  // NOLINTNEXTLINE(google-explicit-constructor): a writable view is a view
  operator BasicImageView<const std::byte>() const noexcept requires(!std::is_const_v<Byte>) {
    return {data, shape, strides, memory};
  }
};

/// A picture that is read.
using ImageView = BasicImageView<const std::byte>;
/// A picture that is written.
using MutableImageView = BasicImageView<std::byte>;

/// Interleaved view of densely packed pixels.
[[nodiscard]] ImageView view_of(const void* data, const Shape& shape, Memory memory = Memory::host);
/// Interleaved view of densely packed pixels, to be written.
[[nodiscard]] MutableImageView mutable_view_of(void* data, const Shape& shape, Memory memory = Memory::host);

}  // namespace satin
