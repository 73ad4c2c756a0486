#include "metadata/gain_map_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "metadata/exif.h"
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

/// Reads fractions from the front of a block.
class Fractions {
 public:
  explicit Fractions(Bytes block) : rest_(block) {}

  std::uint32_t number(std::size_t size) {
    if (rest_.size() < size) refuse_gain_map("its ISO 21496-1 parameters end too early");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | byte_at(rest_, i);
    rest_ = rest_.subspan(size);
    return value;
  }

  void read_denominator() { common_ = number(4); }

  double positive() { return divided(static_cast<double>(number(4))); }
  double signed_one() { return divided(static_cast<double>(static_cast<std::int32_t>(number(4)))); }

 private:
  double divided(double numerator) {
    const std::uint32_t denominator = common_ ? *common_ : number(4);
    if (denominator == 0) refuse_gain_map("a denominator of its ISO 21496-1 parameters is 0");
    return numerator / static_cast<double>(denominator);
  }

  Bytes rest_;
  std::optional<std::uint32_t> common_;
};

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
  std::array<double, 3> values{};
  if (node == nullptr) {
    values.fill(*missing);
    return values;
  }
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

/// Returns a parameter as an attribute in `attributes`, or as a list in `elements` if the colours differ.
void add_parameter(std::string& attributes, std::string& elements, const char* name,
                   const GainMapMetadata& metadata, double GainMapChannel::*member) {
  const auto text = [&](std::size_t i) { return print_real(metadata.channels[i].*member); };
  if (text(0) == text(1) && text(0) == text(2)) {
    attributes += attribute(name, text(0));
    return;
  }
  elements += std::string("<hdrgm:") + name + "><rdf:Seq>";
  for (std::size_t i = 0; i < 3; ++i) elements += "<rdf:li>" + text(i) + "</rdf:li>";
  elements += std::string("</rdf:Seq></hdrgm:") + name + ">";
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
                         {},
                         GainMapOrigin::iso_21496_1,
                         read_iso_gain_map(segment.content.subspan(iso_gain_map_name.size()))};
    if (binary || segment.marker != app1 || !starts_with(segment.content, xmp_name)) continue;
    const std::optional<XmpNode> xmp = parse_xmp(segment.content.subspan(xmp_name.size()));
    if (!xmp) continue;
    if (const auto metadata = read_xmp_gain_map(*xmp))
      return GainMapItem{jpeg, {}, GainMapOrigin::ultra_hdr_xmp, *metadata};
    if (xmp->find(apple_map, "HDRGainMapVersion") != nullptr)
      return GainMapItem{jpeg, {}, GainMapOrigin::apple, apple_headroom_of(xmp, exif)};
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
  Fractions fractions(block);
  if (const std::uint32_t version = fractions.number(2); version != 0)
    refuse_gain_map("it needs version " + std::to_string(version) + " of ISO 21496-1, and 0 is read");
  static_cast<void>(fractions.number(2));  // the writer's version
  const unsigned flags = fractions.number(1);
  GainMapMetadata metadata;
  metadata.use_base_colour_space = (flags & uses_base_colours) != 0;
  if ((flags & has_one_denominator) != 0) fractions.read_denominator();
  metadata.base_headroom = fractions.positive();
  metadata.alternate_headroom = fractions.positive();
  const std::size_t stored = (flags & has_three_channels) != 0 ? 3 : 1;
  for (std::size_t i = 0; i < metadata.channels.size(); ++i) {
    GainMapChannel& channel = metadata.channels[i];
    if (i >= stored) {
      channel = metadata.channels[0];
      continue;
    }
    channel.min = fractions.signed_one();
    channel.max = fractions.signed_one();
    channel.gamma = fractions.positive();
    channel.offset_sdr = fractions.signed_one();
    channel.offset_hdr = fractions.signed_one();
  }
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
  const auto one = [&](const char* name, std::optional<double> missing) {
    return colours_of(xmp, name, missing)[0];
  };
  GainMapMetadata metadata;
  const auto set = [&](double GainMapChannel::*member, const char* name, std::optional<double> missing) {
    const std::array<double, 3> values = colours_of(xmp, name, missing);
    for (std::size_t i = 0; i < values.size(); ++i) metadata.channels[i].*member = values[i];
  };
  set(&GainMapChannel::min, "GainMapMin", 0);
  set(&GainMapChannel::max, "GainMapMax", std::nullopt);
  set(&GainMapChannel::gamma, "Gamma", 1);
  set(&GainMapChannel::offset_sdr, "OffsetSDR", 1.0 / 64);
  set(&GainMapChannel::offset_hdr, "OffsetHDR", 1.0 / 64);
  metadata.base_headroom = one("HDRCapacityMin", 0);
  metadata.alternate_headroom = one("HDRCapacityMax", std::nullopt);
  if (lower(xmp.text_of(hdrgm, "BaseRenditionIsHDR")) == "true")
    std::swap(metadata.base_headroom, metadata.alternate_headroom);
  return metadata;
}

std::string xmp_gain_map(const GainMapMetadata& metadata) {
  std::string attributes = attribute("Version", "1.0"), elements;
  add_parameter(attributes, elements, "GainMapMin", metadata, &GainMapChannel::min);
  add_parameter(attributes, elements, "GainMapMax", metadata, &GainMapChannel::max);
  add_parameter(attributes, elements, "Gamma", metadata, &GainMapChannel::gamma);
  add_parameter(attributes, elements, "OffsetSDR", metadata, &GainMapChannel::offset_sdr);
  add_parameter(attributes, elements, "OffsetHDR", metadata, &GainMapChannel::offset_hdr);
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
  if (!first || !second)
    refuse_gain_map("its headroom is neither in its XMP nor in the maker notes of the picture");
  return apple_headroom(*first, *second);
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
  constexpr std::uint32_t undefined = 7, long_type = type_long, directory = 8, entries = 8 + 2 + 3 * 12 + 4;
  constexpr std::uint32_t baseline_primary = 0x030000, entry_bytes = 16;
  constexpr std::string_view name{"MPF\0", 4};
  const auto index = [&](std::uint32_t picture_bytes, std::uint32_t map_offset) {
    Sink sink;
    sink.text(name);
    const auto field = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) {
      sink.be32(tag << 16 | type);
      sink.be32(count);
      sink.be32(value);
    };
    sink.text({"MM\0*", 4});
    sink.be32(directory);
    sink.u8(0);
    sink.u8(3);
    field(0xB000, undefined, 4, 0x30313030);  // version "0100"
    field(0xB001, long_type, 1, 2);
    field(0xB002, undefined, 2 * entry_bytes, entries);
    sink.be32(0);
    for (const std::uint32_t number : {baseline_primary, picture_bytes, 0U, 0U, 0U,
                                       static_cast<std::uint32_t>(map.size()), map_offset, 0U})
      sink.be32(number);
    return std::move(sink.bytes);
  };
  // The offset of the map counts from the header of the index.
  const FileBytes draft = with_segments(picture, {{{app2, index(0, 0)}}});
  const std::size_t header = text_of(draft).find(name, end_of_metadata(picture)) + name.size();
  FileBytes joined =
      with_segments(picture, {{{app2, index(static_cast<std::uint32_t>(draft.size()),
                                            static_cast<std::uint32_t>(draft.size() - header))}}});
  joined.insert(joined.end(), map.begin(), map.end());
  return joined;
}

}  // namespace satin::io
