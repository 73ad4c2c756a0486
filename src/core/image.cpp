#include "satin/image.h"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <new>

#include "core/allocated.h"
#include "core/host_copy.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t large_buffer = 2 * huge_page;

[[noreturn]] void refuse(const Shape& shape, const std::string& why) {
  throw Error(ErrorKind::usage, "A picture of " + describe(shape) + " is not possible: " + why + ".");
}

std::size_t multiply(std::size_t a, std::size_t b, const Shape& shape) {
  const auto limit = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (b != 0 && a > limit / b) refuse(shape, "its bytes do not fit 63 bits");
  return a * b;
}

template <class View>
View dense_view(decltype(View::data) data, const Shape& shape, Memory memory) {
  validate(shape);
  return {data, shape, interleaved_strides(shape), memory};
}

}  // namespace

std::size_t size_of(Type type) noexcept {
  switch (type) {
    case Type::u8:
      return 1;
    case Type::u16:
      return 2;
    case Type::u32:
    case Type::i32:
    case Type::f32:
      return 4;
    case Type::u64:
    case Type::f64:
      return 8;
  }
  return 0;
}

const char* name_of(Type type) noexcept {
  switch (type) {
    case Type::u8:
      return "u8";
    case Type::u16:
      return "u16";
    case Type::u32:
      return "u32";
    case Type::u64:
      return "u64";
    case Type::i32:
      return "i32";
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
  }
  return "?";
}

std::string describe(const Shape& shape) {
  std::string text = std::to_string(shape.width) + " x " + std::to_string(shape.height) + ", " +
                     std::to_string(shape.channels) + " x " + name_of(shape.type);
  if (shape.frames != 1) text += ", " + std::to_string(shape.frames) + " frames";
  return text;
}

void validate(const Shape& shape) {
  if (shape.width < 1 || shape.height < 1 || shape.frames < 1) refuse(shape, "sizes start at 1");
  if (shape.channels < 1 || shape.channels > 4) refuse(shape, "1 to 4 channels are supported");
  if (shape.type == Type::i32) refuse(shape, "i32 is for arrays");
  if (shape.alpha != Alpha::none && shape.channels % 2 != 0)
    refuse(shape, "alpha is the last of 2 or 4 channels");
  static_cast<void>(byte_size(shape));
}

std::size_t byte_size(const Shape& shape) {
  std::size_t bytes = size_of(shape.type) * static_cast<std::size_t>(shape.channels);
  bytes = multiply(bytes, static_cast<std::size_t>(shape.width), shape);
  bytes = multiply(bytes, static_cast<std::size_t>(shape.height), shape);
  return multiply(bytes, static_cast<std::size_t>(shape.frames), shape);
}

Strides interleaved_strides(const Shape& shape) noexcept {
  Strides strides;
  strides.channel = static_cast<std::ptrdiff_t>(size_of(shape.type));
  strides.pixel = strides.channel * shape.channels;
  strides.row = strides.pixel * shape.width;
  strides.frame = strides.row * shape.height;
  return strides;
}

Strides planar_strides(const Shape& shape) noexcept {
  Strides strides;
  strides.pixel = static_cast<std::ptrdiff_t>(size_of(shape.type));
  strides.row = strides.pixel * shape.width;
  strides.channel = strides.row * shape.height;
  strides.frame = strides.channel * shape.channels;
  return strides;
}

ImageView view_of(const void* data, const Shape& shape, Memory memory) {
  return dense_view<ImageView>(static_cast<const std::byte*>(data), shape, memory);
}

MutableImageView mutable_view_of(void* data, const Shape& shape, Memory memory) {
  return dense_view<MutableImageView>(static_cast<std::byte*>(data), shape, memory);
}

Buffer allocate_host(std::size_t bytes, const Allocator& allocator) {
  if (allocator.allocate || allocator.free) {
    Buffer buffer = allocated(allocator, bytes);
    if (buffer.get() == nullptr)
      throw Error(ErrorKind::environment, "The allocator has no " + std::to_string(bytes) + " bytes.");
    return buffer;
  }
  const std::align_val_t alignment{bytes < large_buffer ? cache_line : huge_page};
  void* memory = ::operator new(bytes == 0 ? 1 : bytes, alignment, std::nothrow);
  if (memory == nullptr)
    throw Error(ErrorKind::environment, "There is no memory for " + std::to_string(bytes) + " bytes.");
#ifdef MADV_HUGEPAGE
  if (bytes >= large_buffer)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: what comes of it does not matter
#endif
  return {{static_cast<std::byte*>(memory), [alignment](std::byte* p) { ::operator delete(p, alignment); }},
          bytes};
}

Image::Image(const Shape& shape, const Allocator& allocator) : shape_(shape) {
  validate(shape);
  buffer_ = allocate_host(byte_size(shape), allocator);
}

Image::Image(const Shape& shape, Buffer buffer, Memory memory)
    : shape_(shape), buffer_(std::move(buffer)), memory_(memory) {
  validate(shape);
  if (buffer_.size < byte_size(shape)) refuse(shape, "its buffer is too small");
}

ImageView Image::view() const {
  if (empty()) return {};
  return view_of(buffer_.get(), shape_, memory_);
}

MutableImageView Image::view() {
  if (empty()) return {};
  return mutable_view_of(buffer_.get(), shape_, memory_);
}

Image Image::clone() const {
  if (memory_ != Memory::host) throw Error(ErrorKind::usage, "Only a picture in host memory can be cloned.");
  Image result(shape_);
  std::memcpy(result.data(), data(), byte_size(shape_));
  return result;
}

Image copy_of(const ImageView& view) {
  if (view.memory != Memory::host) throw Error(ErrorKind::usage, "Only a view of host memory can be copied.");
  Image result(view.shape);
  copy_pixels(view, result.view());
  return result;
}

}  // namespace satin
