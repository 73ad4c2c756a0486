#include "metadata/gain_map_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "metadata/exif.h"
#include "metadata/heif_boxes.h"
#include "metadata/jpeg_markers.h"
#include "metadata/photo_source.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::io {
namespace {

constexpr std::string_view hdrgm = "http://ns.adobe.com/hdr-gain-map/1.0/";
constexpr std::string_view apple_map = "http://ns.apple.com/HDRGainMap/1.0/";
constexpr std::string_view rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr unsigned app1 = 0xE1, app2 = 0xE2;

// Binary parameters. All numbers are big-endian.

constexpr unsigned has_three_channels = 0x80, uses_base_colours = 0x40;
/// libultrahdr: one denominator for all numbers, before them.
constexpr unsigned has_one_denominator = 0x08;

constexpr double steps = 1 << 24;  // gammas up to 64 fit 32 bits with a sign

void add_fraction(Sink& sink, double value) {
  sink.be32(static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(value * steps))));
  sink.be32(static_cast<std::uint32_t>(steps));
}

/// Exchanges what files store for base and alternate picture, if the base is the one for HDR.
void order_offsets(GainMapMetadata& metadata) {
  if (metadata.base_is_hdr())
    for (GainMapChannel& channel : metadata.channels) std::swap(channel.offset_sdr, channel.offset_hdr);
}

// XMP.

/// A parameter that each colour may have, and its value where it is missing (Ultra HDR 1.1).
struct Parameter {
  const char* name;
  double GainMapChannel::*member;
  std::optional<double> missing;
};
constexpr Parameter parameters[] = {{"GainMapMin", &GainMapChannel::min, 0},
                                    {"GainMapMax", &GainMapChannel::max, std::nullopt},
                                    {"Gamma", &GainMapChannel::gamma, 1},
                                    {"OffsetSDR", &GainMapChannel::offset_sdr, 1.0 / 64},
                                    {"OffsetHDR", &GainMapChannel::offset_hdr, 1.0 / 64}};

double number_in(const char* name, std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse_gain_map(std::string(name) + " is '" + printable(std::string(text.substr(0, 40))) +
                    "', which is not a number");
  return value;
}

/// Returns the value for each colour: from one text, or from a list of one or three.
std::array<double, 3> colours_of(const XmpNode& xmp, const char* name, std::optional<double> missing) {
  const XmpNode* node = xmp.find(hdrgm, name);
  if (node == nullptr && !missing) refuse_gain_map(std::string(name) + " is missing");
  if (node == nullptr) return {*missing, *missing, *missing};
  std::array<double, 3> values{};
  const std::vector<const XmpNode*> list = node->all(rdf, "li");
  if (!list.empty() && list.size() != 1 && list.size() != 3)
    refuse_gain_map(std::string(name) + " has " + std::to_string(list.size()) + " values");
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = number_in(name, list.empty() ? node->text : list[list.size() == 1 ? 0 : i]->text);
  return values;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" hdrgm:") + name + "=\"" + value + "\"";
}

std::string packet(const std::string& attributes, const std::string& elements) {
  return "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"" + std::string(rdf) +
         "\"><rdf:Description rdf:about=\"\" xmlns:hdrgm=\"" + std::string(hdrgm) + "\"" + attributes + ">" +
         elements + "</rdf:Description></rdf:RDF></x:xmpmeta>";
}

// Files.

/// Returns a signed rational of Apple's maker notes: a name of 10 bytes, a version, the byte order and a
/// directory, whose offsets count from the name.
std::optional<double> apple_note(Bytes exif, std::uint32_t tag) {
  constexpr std::string_view name{"Apple iOS\0\0\x01MM", 14};
  constexpr std::uint32_t maker_note = 0x927C, exif_directory = 0x8769;
  const ExifReader reader(exif);
  const auto pointer = reader.find(reader.first_directory(), exif_directory);
  const auto entry = pointer ? reader.find(pointer->value, maker_note) : std::nullopt;
  if (!entry || entry->value > exif.size() || entry->count > exif.size() - entry->value) return std::nullopt;
  FileBytes note = copy_of(exif.subspan(entry->value, entry->count));
  if (!starts_with(note, name)) return std::nullopt;
  constexpr std::string_view header{"MM\0*\0\0\0\x0e", 8};  // of a TIFF file whose directory is there
  std::ranges::copy(std::as_bytes(std::span(header)), note.begin());
  const ExifReader notes(note);
  const auto value = notes.find(notes.first_directory(), tag);
  if (!value || value->type != type_signed_rational || value->count != 1 || value->value > note.size() ||
      note.size() - value->value < 8)
    return std::nullopt;
  const auto part = [&](std::size_t at) {
    return static_cast<double>(static_cast<std::int32_t>(notes.u32(at)));
  };
  return part(value->value) / part(value->value + 4);
}

/// Returns the JPEG files beside the picture: those of the index, then those of a container. A limit bounds
/// the work for hostile files.
std::vector<Bytes> further_pictures(Bytes file, const std::optional<XmpNode>& xmp) {
  std::vector<Bytes> pictures = mpf_pictures(file);
  if (!pictures.empty()) pictures.erase(pictures.begin());
  if (xmp)
    for (const ContainerItem& item : container_items(file, *xmp))
      if (item.semantic == "GainMap") pictures.push_back(item.bytes);
  std::erase_if(pictures, [](Bytes picture) { return !starts_with(picture, "\xff\xd8\xff"); });
  constexpr std::size_t most = 16;
  pictures.resize(std::min(pictures.size(), most));
  return pictures;
}

/// Returns the map that this picture is, by binary parameters or by XMP.
std::optional<GainMapItem> item_of(Bytes jpeg, bool binary, Bytes exif) {
  for (const PlacedSegment& segment : placed_segments(jpeg)) {
    constexpr std::size_t version_bytes = 4;
    if (binary && segment.marker == app2 && starts_with(segment.content, iso_gain_map_name) &&
        segment.content.size() > iso_gain_map_name.size() + version_bytes)
      return GainMapItem{jpeg,
                         GainMapOrigin::iso_21496_1,
                         read_iso_gain_map(segment.content.subspan(iso_gain_map_name.size())),
                         {}};
    if (binary || segment.marker != app1 || !starts_with(segment.content, xmp_name)) continue;
    const std::optional<XmpNode> xmp = parse_xmp(segment.content.subspan(xmp_name.size()));
    if (!xmp) continue;
    if (const auto metadata = read_xmp_gain_map(*xmp))
      return GainMapItem{jpeg, GainMapOrigin::ultra_hdr_xmp, *metadata, {}};
    if (xmp->find(apple_map, "HDRGainMapVersion") != nullptr)
      return GainMapItem{jpeg, GainMapOrigin::apple, apple_headroom_of(xmp, exif), {}};
  }
  return std::nullopt;
}

/// Returns the place behind the segments of metadata at the start of a JPEG file.
std::size_t end_of_metadata(Bytes jpeg) {
  constexpr unsigned first_app = 0xE0, last_app = 0xEF, comment = 0xFE;
  std::size_t at = 2;
  for (const PlacedSegment& segment : placed_segments(jpeg)) {
    const bool is_metadata =
        (segment.marker >= first_app && segment.marker <= last_app) || segment.marker == comment;
    if (!is_metadata) break;
    at = segment.at + 4 + segment.content.size();
  }
  return at;
}

}  // namespace

void refuse_gain_map(const std::string& what) {
  throw Error(ErrorKind::input, "its gain map cannot be used: " + what + ".");
}

GainMapMetadata read_iso_gain_map(Bytes block) {
  BoxReader reader(block);
  if (const std::uint32_t version = reader.number(2); version != 0)
    refuse_gain_map("it needs version " + std::to_string(version) + " of ISO 21496-1, and 0 is read");
  reader.take(2);  // the writer's version
  const unsigned flags = reader.number(1);
  const std::uint32_t common = (flags & has_one_denominator) != 0 ? reader.number(4) : 0;
  const auto fraction = [&](bool has_sign) {
    const std::uint32_t bits = reader.number(4);
    const std::uint32_t denominator = (flags & has_one_denominator) != 0 ? common : reader.number(4);
    if (reader.cut()) refuse_gain_map("its ISO 21496-1 parameters end too early");
    if (denominator == 0) refuse_gain_map("a denominator of its ISO 21496-1 parameters is 0");
    const double numerator =
        has_sign ? static_cast<double>(static_cast<std::int32_t>(bits)) : static_cast<double>(bits);
    return numerator / static_cast<double>(denominator);
  };
  GainMapMetadata metadata;
  metadata.use_base_colour_space = (flags & uses_base_colours) != 0;
  metadata.base_headroom = fraction(false);
  metadata.alternate_headroom = fraction(false);
  for (std::size_t i = 0; i < ((flags & has_three_channels) != 0 ? 3U : 1U); ++i) {
    GainMapChannel& channel = metadata.channels[i];
    channel.min = fraction(true);
    channel.max = fraction(true);
    channel.gamma = fraction(false);
    channel.offset_sdr = fraction(true);
    channel.offset_hdr = fraction(true);
  }
  if ((flags & has_three_channels) == 0) metadata.channels.fill(GainMapChannel(metadata.channels[0]));
  order_offsets(metadata);
  return metadata;
}

FileBytes iso_gain_map(const GainMapMetadata& metadata) {
  GainMapMetadata stored = metadata;
  order_offsets(stored);
  const std::size_t channels = stored.is_uniform() ? 1 : 3;
  Sink sink;
  sink.be32(0);  // least version that a reader needs, and the writer's
  sink.u8((channels == 3 ? has_three_channels : 0) | (stored.use_base_colour_space ? uses_base_colours : 0));
  add_fraction(sink, stored.base_headroom);
  add_fraction(sink, stored.alternate_headroom);
  for (const GainMapChannel& channel : std::span(stored.channels).first(channels))
    for (const double value :
         {channel.min, channel.max, channel.gamma, channel.offset_sdr, channel.offset_hdr})
      add_fraction(sink, value);
  return std::move(sink.bytes);
}

std::optional<GainMapMetadata> read_xmp_gain_map(const XmpNode& xmp) {
  const XmpNode* version = xmp.find(hdrgm, "Version");
  if (version == nullptr) return std::nullopt;
  if (!version->text.starts_with("1."))
    refuse_gain_map("its XMP is of version '" + printable(version->text.substr(0, 40)) +
                    "', and 1.0 is read");
  GainMapMetadata metadata;
  for (const auto& [name, member, missing] : parameters) {
    const std::array<double, 3> values = colours_of(xmp, name, missing);
    for (std::size_t i = 0; i < values.size(); ++i) metadata.channels[i].*member = values[i];
  }
  metadata.base_headroom = colours_of(xmp, "HDRCapacityMin", 0)[0];
  metadata.alternate_headroom = colours_of(xmp, "HDRCapacityMax", std::nullopt)[0];
  if (lower(xmp.text_of(hdrgm, "BaseRenditionIsHDR")) == "true")
    std::swap(metadata.base_headroom, metadata.alternate_headroom);
  return metadata;
}

std::string xmp_gain_map(const GainMapMetadata& metadata) {
  std::string attributes = attribute("Version", "1.0"), elements;
  for (const Parameter& parameter : parameters) {
    std::array<std::string, 3> texts;
    std::ranges::transform(metadata.channels, texts.begin(), [&](const GainMapChannel& channel) {
      return print_real(channel.*parameter.member);
    });
    const std::string name = parameter.name;
    if (texts[0] == texts[1] && texts[0] == texts[2]) {
      attributes += attribute(parameter.name, texts[0]);
      continue;
    }
    elements += "<hdrgm:" + name + "><rdf:Seq>";
    for (const std::string& text : texts) elements += "<rdf:li>" + text + "</rdf:li>";
    elements += "</rdf:Seq></hdrgm:" + name + ">";
  }
  const auto [least, most] = std::minmax(metadata.base_headroom, metadata.alternate_headroom);
  attributes += attribute("HDRCapacityMin", print_real(least)) +
                attribute("HDRCapacityMax", print_real(most)) +
                attribute("BaseRenditionIsHDR", metadata.base_is_hdr() ? "True" : "False");
  return packet(attributes, elements);
}

std::string xmp_with_gain_map(std::size_t map_bytes) {
  const auto item = [](const std::string& attributes) {
    return "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Mime=\"image/jpeg\" " + attributes +
           "/></rdf:li>";
  };
  return packet(attribute("Version", "1.0") +
                    " xmlns:Container=\"http://ns.google.com/photos/1.0/container/\""
                    " xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\"",
                "<Container:Directory><rdf:Seq>" + item("Item:Semantic=\"Primary\"") +
                    item("Item:Semantic=\"GainMap\" Item:Length=\"" + std::to_string(map_bytes) + "\"") +
                    "</rdf:Seq></Container:Directory>");
}

double apple_headroom_of(const std::optional<XmpNode>& xmp, Bytes exif) {
  const std::string text = xmp ? xmp->text_of(apple_map, "HDRGainMapHeadroom") : std::string();
  if (!text.empty()) return number_in("HDRGainMapHeadroom", text);
  constexpr std::uint32_t headroom = 0x21, gain = 0x30;
  const std::optional<double> first = apple_note(exif, headroom), second = apple_note(exif, gain);
  if (!first && !second)
    refuse_gain_map("its headroom is neither in its XMP nor in the maker notes of the picture");
  return apple_headroom(first.value_or(0), second.value_or(0));  // older phones write one of them
}

std::optional<GainMapItem> find_gain_map(Bytes file) {
  Bytes exif, xmp;
  for (const PlacedSegment& segment : placed_segments(file)) {
    if (segment.marker != app1) continue;
    if (exif.empty() && starts_with(segment.content, exif_name))
      exif = segment.content.subspan(exif_name.size());
    if (xmp.empty() && starts_with(segment.content, xmp_name)) xmp = segment.content.subspan(xmp_name.size());
  }
  // A picture of Ultra HDR names the standard.
  const bool names_map = text_of(xmp).find(hdrgm) != std::string_view::npos;
  const std::optional<XmpNode> tree = names_map ? parse_xmp(xmp) : std::nullopt;
  const std::vector<Bytes> pictures = further_pictures(file, tree);
  for (const bool binary : {true, false})
    for (const Bytes picture : pictures)
      if (std::optional<GainMapItem> item = item_of(picture, binary, exif)) {
        item->orientation = stored_orientation(exif, xmp);
        return item;
      }
  if (tree && tree->find(hdrgm, "Version") != nullptr)
    refuse_gain_map("the XMP of the picture names it, but it is not in the file");
  return std::nullopt;
}

FileBytes with_segments(Bytes jpeg, std::span<const JpegSegment> segments) {
  const std::size_t at = end_of_metadata(jpeg);
  Sink sink;
  sink.add(jpeg.first(at));
  for (const auto& [marker, content] : segments) {
    const auto length = static_cast<std::uint32_t>(content.size() + 2);
    sink.be32(0xFF000000U | marker << 16 | length);
    sink.add(content);
  }
  sink.add(jpeg.subspan(at));
  return std::move(sink.bytes);
}

FileBytes joined_jpegs(Bytes picture, Bytes map) {
  // An index (CIPA DC-007, 5.2.3) of three fields in big-endian order, then two entries of 16 bytes.
  constexpr std::uint32_t undefined = 7, directory = 8, entries = directory + 2 + 3 * 12 + 4;
  constexpr std::uint32_t baseline_primary = 0x030000, index_bytes = entries + 2 * 16;
  constexpr std::string_view name{"MPF\0", 4};
  constexpr std::size_t header = 4 + name.size();  // of the segment
  // The offset of the map counts from the byte order of the index.
  const std::size_t size = picture.size() + header + index_bytes;
  const std::size_t offset = size - end_of_metadata(picture) - header;
  Sink sink;
  const auto add = [&](std::initializer_list<std::size_t> numbers) {
    for (const std::size_t number : numbers) sink.be32(static_cast<std::uint32_t>(number));
  };
  sink.text(name);
  sink.text({"MM\0*\0\0\0\x08\0\x03", 10});
  add({0xB0000000U | undefined, 4, 0x30313030});  // version "0100"
  add({0xB0010000U | type_long, 1, 2});           // pictures
  add({0xB0020000U | undefined, std::size_t{2} * 16, entries, 0});
  add({baseline_primary, size, 0, 0, 0, map.size(), offset, 0});
  FileBytes joined = with_segments(picture, {{{app2, std::move(sink.bytes)}}});
  joined.insert(joined.end(), map.begin(), map.end());
  return joined;
}

}  // namespace satin::io
