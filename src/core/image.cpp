// Pictures: shapes, strides, views, host memory and copies between views.

#include "satin/image.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>

#include "core/kept_blocks.h"
#include "core/workspace.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr std::size_t large_buffer = 2 * KeptBlocks::huge_page;

[[noreturn]] void refuse(const Shape& shape, const std::string& why) {
  throw Error(ErrorKind::usage, "A picture of " + describe(shape) + " is not possible: " + why + ".");
}

std::size_t multiply(std::size_t a, std::size_t b, const Shape& shape) {
  const auto limit = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (b != 0 && a > limit / b) refuse(shape, "its bytes do not fit 63 bits");
  return a * b;
}

struct TypeFacts {
  const char* name;
  std::size_t size;
};

const TypeFacts& facts_of(Type type) noexcept {
  static constexpr TypeFacts facts[] = {{"u8", 1},  {"u16", 2}, {"u32", 4}, {"u64", 8},
                                        {"i32", 4}, {"f32", 4}, {"f64", 8}};  // in the order of Type
  static constexpr TypeFacts unknown{"?", 0};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(facts) ? facts[index] : unknown;
}

template <class View>
View dense_view(decltype(View::data) data, const Shape& shape, Memory memory) {
  validate(shape);
  return {data, shape, interleaved_strides(shape), memory};
}

}  // namespace

std::size_t size_of(Type type) noexcept { return facts_of(type).size; }

const char* name_of(Type type) noexcept { return facts_of(type).name; }

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

bool has_aspect_of(const Shape& picture, const Shape& side) noexcept {
  const std::int64_t apart = side.width * picture.height - side.height * picture.width;
  return std::abs(apart) <= std::max(picture.width, picture.height);
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

ImageView view_of(std::span<const std::byte> pixels, const Shape& shape) {
  validate(shape);
  if (pixels.size() != byte_size(shape))
    throw Error(ErrorKind::usage, "There are " + std::to_string(pixels.size()) + " bytes, but " +
                                      std::to_string(byte_size(shape)) + " in a picture of " +
                                      describe(shape) + ".");
  return view_of(pixels.data(), shape);
}

MutableImageView mutable_view_of(void* data, const Shape& shape, Memory memory) {
  return dense_view<MutableImageView>(static_cast<std::byte*>(data), shape, memory);
}

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

Buffer allocate_host(std::size_t bytes, const Allocator& allocator) {
  if (allocator.allocate || allocator.free) {
    Buffer buffer = allocated(allocator, bytes);
    if (buffer.get() == nullptr)
      throw Error(ErrorKind::environment, "The allocator has no " + std::to_string(bytes) + " bytes.");
    return buffer;
  }
  const bool large = bytes >= large_buffer;
  std::size_t held = bytes;
  void* memory = large ? KeptBlocks::of_process().take(held) : new_lines(bytes);
  if (memory == nullptr)
    throw Error(ErrorKind::environment, "There is no memory for " + std::to_string(bytes) + " bytes.");
  return {{static_cast<std::byte*>(memory),
           [large, held](std::byte* p) { large ? KeptBlocks::of_process().keep(p, held) : free_lines(p); }},
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

Image copy_of(const ImageView& view, const Allocator& allocator) {
  if (view.memory != Memory::host) throw Error(ErrorKind::usage, "Only a view of host memory can be copied.");
  Image result(view.shape, allocator);
  copy_pixels(view, result.view());
  return result;
}

}  // namespace satin
