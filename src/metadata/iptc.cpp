#include "metadata/iptc.h"

#include <algorithm>

namespace satin::io {
namespace {

constexpr unsigned data_set_mark = 0x1C;
constexpr std::string_view resource_mark = "8BIM";
constexpr unsigned iptc_resource = 0x0404;

/// Bytes of the data set that begins there; 0 if there is no whole one.
std::size_t data_set_size(Bytes bytes) noexcept {
  constexpr std::size_t head = 5;
  if (bytes.size() < head || byte_at(bytes, 0) != data_set_mark) return 0;
  constexpr std::uint32_t extended = 0x8000;
  const std::uint32_t field = be16(bytes, 3);
  std::size_t size = head;
  std::uint64_t length = field;
  if ((field & extended) != 0) {  // the length follows in so many bytes
    const std::size_t digits = field & (extended - 1);
    if (digits > 4 || bytes.size() - head < digits) return 0;
    length = 0;
    for (std::size_t i = 0; i < digits; ++i) length = length << 8 | byte_at(bytes, head + i);
    size += digits;
  }
  return length > bytes.size() - size ? 0 : size + static_cast<std::size_t>(length);
}

constexpr std::size_t even(std::size_t size) { return size + size % 2; }

}  // namespace

Bytes iptc_data_sets(Bytes block) noexcept {
  std::size_t size = 0;
  while (const std::size_t next = data_set_size(block.subspan(size))) size += next;
  return block.first(size);
}

FileBytes iptc_in_resources(Bytes resources) {
  while (starts_with(resources, resource_mark) && resources.size() >= 7) {
    // A number, a name with its length before it, the size of the data, the data.
    const std::size_t size_at = 6 + even(std::size_t{1} + byte_at(resources, 6));
    if (resources.size() < size_at + 4) break;
    const std::size_t size = be32(resources, size_at);
    const Bytes data = resources.subspan(size_at + 4);
    if (size > data.size()) break;
    if (be16(resources, 4) == iptc_resource) return copy_of(iptc_data_sets(data.first(size)));
    resources = data.subspan(std::min(even(size), data.size()));
  }
  return {};
}

FileBytes resources_of_iptc(Bytes iptc) {
  Sink sink;
  sink.text(resource_mark);
  sink.u8(iptc_resource >> 8);
  sink.u8(iptc_resource & 255U);
  sink.le16(0);  // no name
  sink.be32(static_cast<std::uint32_t>(iptc.size()));
  sink.add(iptc);
  if (iptc.size() % 2 != 0) sink.u8(0);
  return std::move(sink.bytes);
}

FileBytes iptc_of_tag(Bytes value) {
  constexpr std::size_t word = 4;
  FileBytes bytes = copy_of(value);
  const bool turned =
      bytes.size() >= word && byte_at(bytes, 0) != data_set_mark && byte_at(bytes, word - 1) == data_set_mark;
  if (turned) swap_bytes(bytes.data(), bytes.size() / word, word);
  bytes.resize(iptc_data_sets(bytes).size());
  return bytes;
}

}  // namespace satin::io
