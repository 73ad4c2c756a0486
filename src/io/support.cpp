#include "support.h"

#include <algorithm>
#include <array>
#include <new>

#include "satin/error.h"

namespace satin::io {

void damaged(const char* format, const std::string& detail) {
  throw Error(ErrorKind::input, std::string("the ") + format + " data is damaged: " + detail +
                                    ". Get an undamaged copy of the file.");
}

void truncated(const char* format) {
  throw Error(ErrorKind::input, std::string("the ") + format +
                                    " data ends before the picture does. Get a complete copy of the file.");
}

void unsupported(const char* format, const std::string& detail, const std::string& advice) {
  throw Error(ErrorKind::input, std::string(format) + " with " + detail + " is not read. " + advice);
}

std::string partial_warning(const char* format) {
  return std::string("the ") + format + " data is damaged or ends early; part of the picture is missing.";
}

void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (width == 0 || height == 0)
    throw Error(ErrorKind::input,
                "the picture is " + size + " and has no pixels. Get an undamaged copy of the file.");
  if (width > limits.pixels || height > limits.pixels / width)
    throw Error(ErrorKind::input, "the picture of " + size + " is over the limit of " +
                                      std::to_string(limits.pixels) +
                                      " pixels. Raise it (--max-pixels), or make the picture smaller.");
  if (channels < 1 || channels > 4)
    throw Error(ErrorKind::input, "the picture has " + std::to_string(channels) +
                                      " channels; 1 to 4 are read. Store fewer channels in a file.");
  const std::uint64_t pixel = size_of(type) * static_cast<std::uint64_t>(channels);
  if (width * height > limits.bytes / pixel)
    throw Error(ErrorKind::input, "the picture of " + size + ", " + std::to_string(channels) + " x " +
                                      name_of(type) + " is over the limit of " +
                                      std::to_string(limits.bytes) +
                                      " bytes. Raise it (--max-bytes), or make the picture smaller.");
}

Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
               const ReadOptions& options) {
  check_limits(width, height, channels, type, options.limits);
  Shape shape;
  shape.width = static_cast<std::int64_t>(width);
  shape.height = static_cast<std::int64_t>(height);
  shape.channels = channels;
  shape.type = type;
  shape.alpha = alpha;
  return Image(shape, options.allocator);
}

bool starts_with(Bytes bytes, std::string_view magic, std::size_t at) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

FileBytes bytes_in(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string one_of(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

bool Sink::write(const void* data, std::size_t size) noexcept {
  try {
    if (position + size > bytes.size()) {
      if (position + size > bytes.capacity()) bytes.reserve(std::max(position + size, bytes.capacity() * 2));
      bytes.resize(position + size);
    }
  } catch (const std::exception&) {
    return false;
  }
  if (size != 0) std::memcpy(bytes.data() + position, data, size);
  position += size;
  return true;
}

void Sink::text(std::string_view text) {
  if (!write(text.data(), text.size())) throw std::bad_alloc();
}

void Sink::u8(unsigned value) {
  const char c = static_cast<char>(value);
  text({&c, 1});
}

void Sink::le16(unsigned value) {
  u8(value & 255);
  u8(value >> 8 & 255);
}

void Sink::le32(std::uint32_t value) {
  le16(value & 65535);
  le16(value >> 16);
}

void Sink::be32(std::uint32_t value) {
  for (unsigned shift = 32; shift > 0; shift -= 8) u8(value >> (shift - 8) & 255);
}

void swap_bytes(std::byte* data, std::size_t samples, std::size_t size) {
  for (std::size_t i = 0; i < samples; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

}  // namespace satin::io
