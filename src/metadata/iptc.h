#pragma once
// IPTC data (IIM 4.2): in JPEG one of Photoshop's image resources (APP13), in TIFF a tag, in PNG a text.

#include <algorithm>
#include <utility>

#include "metadata/bytes.h"

namespace satin::io {

inline constexpr unsigned iptc_data_set_mark = 0x1C;
inline constexpr std::string_view photoshop_resource_mark = "8BIM";
inline constexpr unsigned photoshop_iptc_resource = 0x0404;

/// Returns the whole data sets at the start of the block. Padding or damage follows them.
[[nodiscard]] inline Bytes iptc_data_sets(Bytes block) noexcept {
  const auto size_of_first = [](Bytes bytes) -> std::size_t {  // 0 if there is no whole data set
    constexpr std::size_t head = 5;
    if (bytes.size() < head || byte_at(bytes, 0) != iptc_data_set_mark) return 0;
    constexpr std::uint32_t extended = 0x8000;
    const std::uint32_t field = be16(bytes, 3);
    std::size_t size = head;
    std::uint64_t length = field;
    if ((field & extended) != 0) {  // the field is the number of bytes of the length that follows
      const std::size_t digits = field & (extended - 1);
      if (digits > 4 || bytes.size() - head < digits) return 0;
      length = 0;
      for (std::size_t i = 0; i < digits; ++i) length = length << 8 | byte_at(bytes, head + i);
      size += digits;
    }
    return length > bytes.size() - size ? 0 : size + static_cast<std::size_t>(length);
  };
  std::size_t size = 0;
  while (const std::size_t next = size_of_first(block.subspan(size))) size += next;
  return block.first(size);
}

/// Returns the data sets in the first IPTC resource; empty if there is none.
[[nodiscard]] inline FileBytes iptc_in_resources(Bytes resources) {
  const auto even = [](std::size_t size) { return size + size % 2; };
  while (starts_with(resources, photoshop_resource_mark) && resources.size() >= 7) {
    // A number, a name with its length before it, the size of the data, the data.
    const std::size_t size_at = 6 + even(std::size_t{1} + byte_at(resources, 6));
    if (resources.size() < size_at + 4) break;
    const std::size_t size = be32(resources, size_at);
    const Bytes data = resources.subspan(size_at + 4);
    if (size > data.size()) break;
    if (be16(resources, 4) == photoshop_iptc_resource) return copy_of(iptc_data_sets(data.first(size)));
    resources = data.subspan(std::min(even(size), data.size()));
  }
  return {};
}

/// Returns image resources with these data sets alone.
[[nodiscard]] inline FileBytes resources_of_iptc(Bytes iptc) {
  Sink sink;
  sink.text(photoshop_resource_mark);
  sink.u8(photoshop_iptc_resource >> 8);
  sink.u8(photoshop_iptc_resource & 255U);
  sink.le16(0);  // no name
  sink.be32(static_cast<std::uint32_t>(iptc.size()));
  sink.add(iptc);
  if (iptc.size() % 2 != 0) sink.u8(0);
  return std::move(sink.bytes);
}

/// Returns the data sets in a TIFF tag, whose type is bytes or, from Photoshop, 32-bit numbers. Some writers
/// swap those to the byte order of the file.
[[nodiscard]] inline FileBytes iptc_of_tag(Bytes value) {
  constexpr std::size_t word = 4;
  FileBytes bytes = copy_of(value);
  const bool swapped = bytes.size() >= word && byte_at(bytes, 0) != iptc_data_set_mark &&
                       byte_at(bytes, word - 1) == iptc_data_set_mark;
  if (swapped) swap_bytes(bytes.data(), bytes.size() / word, word);
  bytes.resize(iptc_data_sets(bytes).size());
  return bytes;
}

}  // namespace satin::io
