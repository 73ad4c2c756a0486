#include "metadata/extended_xmp.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "metadata/jpeg_markers.h"
#include "metadata/md5.h"
#include "metadata/xmp_properties.h"

namespace satin::io {
namespace {

constexpr std::string_view extended_name{"http://ns.adobe.com/xmp/extension/\0", 35};
constexpr std::string_view note = "http://ns.adobe.com/xmp/note/";
constexpr std::size_t guid_size = 32;
constexpr std::size_t head_size = extended_name.size() + guid_size + 8;
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
    sink.text(extended_name);
    sink.text(guid);
    sink.be32(static_cast<std::uint32_t>(packet.size()));
    sink.be32(static_cast<std::uint32_t>(at));
    sink.text(std::string_view(packet).substr(at, most));
    segments.push_back(std::move(sink.bytes));
  }
}

}  // namespace

bool ExtendedXmp::add(Bytes segment) {
  if (segment.size() < head_size || !starts_with(segment, extended_name)) return false;
  std::string guid(text_of(segment.subspan(extended_name.size(), guid_size)));
  Parts& parts = packets_[lower(guid)];
  parts.length = be32(segment, extended_name.size() + guid_size);
  parts.by_offset.emplace(be32(segment, extended_name.size() + guid_size + 4), segment.subspan(head_size));
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
