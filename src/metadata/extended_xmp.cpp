#include "metadata/extended_xmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

constexpr std::size_t block_size = 64;
using State = std::array<std::uint32_t, 4>;

/// The integer part of 2^32 |sin(i)|, i from 1 (RFC 1321, 3.4).
const std::array<std::uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 4294967296.0);
    return values;
  }();
  return table;
}

struct Step {
  std::uint32_t mixed;  ///< what the function of the round makes of three words
  std::size_t word;     ///< of the block
};

Step step_of(const State& s, std::size_t i) {
  const auto [a, b, c, d] = s;
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(b & d) | (c & ~d), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), 7 * i % 16};
  }
}

void add_block(State& state, Bytes block) {
  static constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  State s = state;
  for (std::size_t i = 0; i < block_size; ++i) {
    const Step step = step_of(s, i);
    const std::uint32_t sum = s[0] + step.mixed + sines()[i] + le32(block, 4 * step.word);
    s = {s[3], s[1] + std::rotl(sum, rotations[i / 16][i % 4]), s[1], s[2]};
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

/// The last bytes with a one, zeros, and the length in bits.
FileBytes last_blocks(Bytes rest, std::uint64_t length) {
  Sink sink;
  sink.add(rest);
  sink.u8(0x80);
  while (sink.position % block_size != block_size - 8) sink.u8(0);
  sink.le32(static_cast<std::uint32_t>(length * 8));
  sink.le32(static_cast<std::uint32_t>(length >> 29));
  return std::move(sink.bytes);
}

constexpr std::string_view note = "http://ns.adobe.com/xmp/note/";
constexpr std::size_t guid_size = 32;
constexpr std::size_t head_size = extended_xmp_name.size() + guid_size + 8;
constexpr std::string_view packet_start =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">";
constexpr std::string_view packet_end = "</rdf:RDF></x:xmpmeta>";

std::string note_of(const std::string& guid) {
  return "<rdf:Description xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" rdf:about=\"\" "
         "xmlns:xmpNote=\"" +
         std::string(note) + "\" xmpNote:HasExtendedXMP=\"" + guid + "\"/>";
}

FileBytes with_name(std::string_view name, std::string_view text) {
  Sink sink;
  sink.text(name);
  sink.text(text);
  return std::move(sink.bytes);
}

/// The largest properties whose text together is at least as long as the excess; all if they are not enough.
std::vector<bool> largest_properties(const XmpProperties& all, std::size_t excess) {
  std::vector<std::size_t> order(all.properties.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::size_t i) { return all.properties[i].end - all.properties[i].begin; };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return size(a) > size(b) || (size(a) == size(b) && a < b);
  });
  std::vector<bool> chosen(all.properties.size());
  for (std::size_t sum = 0; const std::size_t i : order) {
    if (sum >= excess) break;
    chosen[i] = true;
    sum += size(i);
  }
  return chosen;
}

/// The packet without the chosen properties, which names the packet that holds them.
std::string remaining_packet(const XmpProperties& all, const std::vector<bool>& chosen, Bytes xmp,
                             const std::string& guid) {
  const std::string_view text = text_of(xmp);
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    result += text.substr(at, all.properties[i].begin - at);
    at = all.properties[i].end;
  }
  result += text.substr(at, all.end - at);
  result += note_of(guid);
  return result += text.substr(all.end);
}

void add_extended(std::vector<FileBytes>& segments, const std::string& packet, const std::string& guid) {
  constexpr std::size_t most = jpeg_segment_limit - head_size;
  for (std::size_t at = 0; at < packet.size(); at += most) {
    Sink sink;
    sink.text(extended_xmp_name);
    sink.text(guid);
    sink.be32(static_cast<std::uint32_t>(packet.size()));
    sink.be32(static_cast<std::uint32_t>(at));
    sink.text(std::string_view(packet).substr(at, most));
    segments.push_back(std::move(sink.bytes));
  }
}

}  // namespace

std::string md5_of(Bytes bytes) {
  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  const std::size_t whole = bytes.size() / block_size * block_size;
  const FileBytes last = last_blocks(bytes.subspan(whole), bytes.size());
  for (const Bytes part : {bytes.first(whole), Bytes(last)})
    for (std::size_t at = 0; at < part.size(); at += block_size)
      add_block(state, part.subspan(at, block_size));
  std::string digits;
  for (const std::uint32_t word : state)
    for (int shift : {4, 0, 12, 8, 20, 16, 28, 24}) digits += "0123456789ABCDEF"[word >> shift & 15U];
  return digits;
}

bool ExtendedXmp::add(Bytes segment) {
  if (segment.size() < head_size || !starts_with(segment, extended_xmp_name)) return false;
  std::string guid(text_of(segment.subspan(extended_xmp_name.size(), guid_size)));
  Parts& parts = packets_[lower(guid)];
  parts.length = be32(segment, extended_xmp_name.size() + guid_size);
  parts.by_offset.emplace(be32(segment, extended_xmp_name.size() + guid_size + 4),
                          segment.subspan(head_size));
  return true;
}

std::optional<FileBytes> ExtendedXmp::packet(const std::string& guid) const {
  const auto found = packets_.find(lower(guid));
  if (found == packets_.end()) return std::nullopt;
  FileBytes packet;
  for (const auto& [offset, part] : found->second.by_offset) {
    if (offset != packet.size()) return std::nullopt;
    packet.insert(packet.end(), part.begin(), part.end());
  }
  if (packet.size() != found->second.length || lower(md5_of(packet)) != found->first) return std::nullopt;
  return packet;
}

std::string extended_guid(Bytes xmp) {
  if (const auto all = xmp_properties(without_zeros(xmp)))
    for (const XmpProperty& property : all->properties)
      if (property.space == note && property.name == "HasExtendedXMP") return property.value;
  return {};
}

std::optional<FileBytes> joined_xmp(Bytes xmp, Bytes extended) {
  xmp = without_zeros(xmp);
  extended = without_zeros(extended);
  const auto first = xmp_properties(xmp), second = xmp_properties(extended);
  if (!first || !second) return std::nullopt;
  Sink sink;
  sink.add(xmp.first(first->end));
  sink.text(descriptions_with(*second, std::vector<bool>(second->properties.size(), true), extended));
  sink.add(xmp.subspan(first->end));
  return std::move(sink.bytes);
}

std::vector<FileBytes> xmp_segments(Bytes xmp) {
  constexpr std::size_t most = jpeg_segment_limit - xmp_name.size();
  std::vector<FileBytes> segments;
  if (xmp.empty()) return segments;
  if (xmp.size() <= most) return {with_name(xmp_name, text_of(xmp))};
  const std::optional<XmpProperties> all = xmp_properties(xmp);
  if (!all) return segments;
  const std::string unnamed(guid_size, '0');
  const std::vector<bool> chosen = largest_properties(*all, xmp.size() + note_of(unnamed).size() - most);
  const std::string extended =
      std::string(packet_start) + descriptions_with(*all, chosen, xmp) + std::string(packet_end);
  const std::string guid = md5_of(std::as_bytes(std::span(extended)));
  std::string standard = remaining_packet(*all, chosen, xmp, guid);
  // What is no property, such as padding, may be left out.
  if (standard.size() > most) standard = std::string(packet_start) + note_of(guid) + std::string(packet_end);
  segments.push_back(with_name(xmp_name, standard));
  add_extended(segments, extended, guid);
  return segments;
}

}  // namespace satin::io
