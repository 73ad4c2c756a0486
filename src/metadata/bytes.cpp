#include "metadata/bytes.h"

#include <algorithm>
#include <cstring>
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

void not_read(const char* format, const std::string& reason, const std::string& advice) {
  throw Error(ErrorKind::input,
              std::string("the ") + format + " file is not read, because " + reason + ". " + advice);
}

void not_decoded(const char* format, const std::string& library, const std::string& reason,
                 const std::string& advice) {
  for (const char* words :
       {"nsupported", "not supported", "not implemented", "nknown compression", "critical chunk"})
    if (reason.find(words) != std::string::npos) not_read(format, library + " says: " + reason, advice);
  damaged(format, reason);
}

bool starts_with(Bytes bytes, std::string_view magic, std::size_t at) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
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

void Sink::add(Bytes more) {
  if (!write(more.data(), more.size())) throw std::bad_alloc();
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
