#include "metadata/heif_boxes.h"

#include <algorithm>
#include <array>

namespace satin::io {
namespace {

/// Returns the content of the first box of this type; empty if there is none.
Bytes find_box(Bytes bytes, std::string_view type) {
  for (BoxReader reader(bytes); !reader.at_end();)
    if (const Box box = reader.box(); box.type == type) return box.content;
  return {};
}

constexpr std::size_t full_box_header = 4;  // version and flags

Bytes without_header(Bytes full_box) { return full_box.subspan(std::min(full_box_header, full_box.size())); }

unsigned version_of(Bytes full_box) { return full_box.empty() ? 0 : byte_at(full_box, 0); }

/// Whether the `ftyp` box has one of these brands. Its second word is a version.
bool has_brand(Bytes bytes, std::initializer_list<std::string_view> brands) {
  if (!starts_with(bytes, "ftyp", 4)) return false;
  const std::size_t end = std::min<std::size_t>(be32(bytes, 0), bytes.size());
  for (std::size_t at = 8; at + 4 <= end || at == 8; at += at == 8 ? 8 : 4)
    if (std::ranges::any_of(brands, [&](std::string_view brand) { return starts_with(bytes, brand, at); }))
      return true;
  return false;
}

/// The `meta` box with its items, which have properties and references to each other.
class Items {
 public:
  explicit Items(Bytes meta)
      : primary_box_(find_box(meta, "pitm")),
        references_(find_box(meta, "iref")),
        information_(find_box(meta, "iinf")) {
    const Bytes properties = find_box(meta, "iprp");
    for (BoxReader reader(find_box(properties, "ipco")); !reader.at_end();)
      properties_.push_back(reader.box());
    associations_ = find_box(properties, "ipma");
  }

  [[nodiscard]] std::uint32_t primary() const {
    return BoxReader(without_header(primary_box_)).number(version_of(primary_box_) == 0 ? 2 : 4);
  }

  [[nodiscard]] std::string_view type_of(std::uint32_t item) const {
    BoxReader entries(without_header(information_));
    entries.take(version_of(information_) == 0 ? 2 : 4);
    while (!entries.at_end()) {
      const Bytes entry = entries.box().content;
      BoxReader reader(without_header(entry));
      if (reader.number(version_of(entry) < 3 ? 2 : 4) != item) continue;
      reader.take(2);  // protection
      return text_of(reader.take(4));
    }
    return {};
  }

  /// Returns the properties of an item in the order of its transformations.
  [[nodiscard]] std::vector<Box> properties_of(std::uint32_t item) const {
    std::vector<Box> result;
    const bool wide_index = full_box_header <= associations_.size() && (byte_at(associations_, 3) & 1U) != 0;
    BoxReader reader(without_header(associations_));
    for (std::uint32_t items = reader.number(4); items != 0 && !reader.at_end(); --items) {
      const bool wanted = reader.number(version_of(associations_) == 0 ? 2 : 4) == item;
      for (std::uint32_t count = reader.number(1); count != 0 && !reader.cut(); --count) {
        // The highest bit marks an essential property.
        const std::uint32_t index = reader.number(wide_index ? 2 : 1) & (wide_index ? 0x7FFFU : 0x7FU);
        if (wanted && index != 0 && index <= properties_.size()) result.push_back(properties_[index - 1]);
      }
    }
    return result;
  }

  /// Calls visit(from, to) for every reference of this type.
  template <class Visit>
  void for_references(std::string_view type, const Visit& visit) const {
    const std::size_t id = version_of(references_) == 0 ? 2 : 4;
    for (BoxReader boxes(without_header(references_)); !boxes.at_end();) {
      const Box box = boxes.box();
      BoxReader reader(box.content);
      const std::uint32_t from = reader.number(id);
      for (std::uint32_t count = reader.number(2); count != 0 && !reader.at_end(); --count)
        if (const std::uint32_t to = reader.number(id); box.type == type) visit(from, to);
    }
  }

 private:
  Bytes primary_box_, references_, information_, associations_;
  std::vector<Box> properties_;
};

constexpr int most_searches = 100;

/// Reads the coding of samples from the property, if that has it.
bool read_coding(const Box& property, HeifPicture& picture) {
  const Bytes record = property.content;
  if (property.type == "hvcC" && record.size() > 17) {  // ISO/IEC 14496-15, 8.3.3.1
    picture.grey = (byte_at(record, 16) & 3U) == 0;
    picture.quarter_chroma = (byte_at(record, 16) & 3U) == 1;
    picture.bits = static_cast<int>(byte_at(record, 17) & 7U) + 8;
    return true;
  }
  if (property.type == "av1C" && record.size() > 2) {  // AV1 in ISOBMFF, 2.3.3
    const unsigned flags = byte_at(record, 2);
    picture.grey = (flags & 0x10U) != 0;
    picture.quarter_chroma = !picture.grey && (flags & 0x0CU) == 0x0CU;
    picture.bits = (flags & 0x40U) == 0 ? 8 : (flags & 0x20U) == 0 ? 10 : 12;
    return true;
  }
  return false;
}

/// Returns the orientation after a property that turns the picture (ISO/IEC 23008-12, 6.5.10 and 6.5.12).
int turned(int orientation, const Box& property) {
  constexpr std::array<int, 9> left{0, 8, 5, 6, 7, 4, 1, 2, 3};      // by 90 degrees
  constexpr std::array<int, 9> mirrored{0, 2, 1, 4, 3, 6, 5, 8, 7};  // left and right exchanged
  if (property.content.empty()) return orientation;
  const unsigned value = byte_at(property.content, 0);
  const auto turn_left = [&](unsigned times) {
    for (; times != 0; --times) orientation = left[static_cast<std::size_t>(orientation)];
  };
  if (property.type == "irot") turn_left(value & 3U);
  if (property.type == "imir") {
    orientation = mirrored[static_cast<std::size_t>(orientation)];
    if ((value & 1U) == 0) turn_left(2);
  }
  return orientation;
}

std::string_view auxiliary_type(const Items& items, std::uint32_t item) {
  for (const Box& property : items.properties_of(item)) {
    if (property.type != "auxC") continue;
    const std::string_view text = text_of(without_header(property.content));
    return text.substr(0, text.find('\0'));
  }
  return {};
}

}  // namespace

bool is_avif(Bytes bytes) { return has_brand(bytes, {"avif", "avis"}); }

bool is_heic(Bytes bytes) {
  return !is_avif(bytes) &&
         has_brand(bytes, {"heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"});
}

std::optional<HeifPicture> read_heif_boxes(Bytes bytes, std::uint32_t item) {
  const Items items(without_header(find_box(bytes, "meta")));
  const std::uint32_t primary = item != 0 ? item : items.primary();
  HeifPicture picture;
  bool is_coded = false;
  for (const Box& property : items.properties_of(primary)) {
    is_coded = read_coding(property, picture) || is_coded;
    picture.orientation = turned(picture.orientation, property);
  }
  int searches = 0;  // each costs the length of a table, and there may be as many references as entries
  items.for_references("dimg", [&](std::uint32_t from, std::uint32_t tile) {
    if (from != primary || is_coded || ++searches > most_searches) return;
    for (const Box& property : items.properties_of(tile))
      is_coded = read_coding(property, picture) || is_coded;
  });
  items.for_references("auxl", [&](std::uint32_t from, std::uint32_t to) {
    if (to != primary || picture.alpha || ++searches > most_searches) return;
    const std::string_view type = auxiliary_type(items, from);
    picture.alpha = type == "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha" ||
                    type == "urn:mpeg:hevc:2015:auxid:1" || type == "urn:mpeg:avc:2015:auxid:1";
  });
  return is_coded ? std::optional(picture) : std::nullopt;
}

std::string_view heif_coding(Bytes bytes) {
  const Items items(without_header(find_box(bytes, "meta")));
  return items.type_of(items.primary());
}

std::vector<std::uint32_t> heif_tiles(Bytes bytes) {
  std::vector<std::uint32_t> tiles;
  Items(without_header(find_box(bytes, "meta"))).for_references("dimg", [&](std::uint32_t, std::uint32_t to) {
    tiles.push_back(to);
  });
  std::ranges::sort(tiles);
  return tiles;
}

bool has_tone_map(Bytes bytes) {
  const Items items(without_header(find_box(bytes, "meta")));
  bool found = false;
  int searches = 0;
  items.for_references("dimg", [&](std::uint32_t from, std::uint32_t to) {
    if (found || to != items.primary() || ++searches > most_searches) return;
    found = items.type_of(from) == "tmap";
  });
  return found;
}

std::uint32_t heif_sequence_length(Bytes bytes) {
  std::uint32_t longest = 0;
  for (BoxReader tracks(find_box(bytes, "moov")); !tracks.at_end();) {
    const Bytes media = find_box(tracks.box().content, "mdia");
    if (!starts_with(find_box(media, "hdlr"), "pict", 8)) continue;
    Bytes sizes = find_box(find_box(find_box(media, "minf"), "stbl"), "stsz");
    constexpr std::size_t count = 8;  // after version, flags and the common size (ISO/IEC 14496-12, 8.7.3)
    longest = std::max(longest, BoxReader(sizes.subspan(std::min(count, sizes.size()))).number(4));
  }
  return longest;
}

bool is_whole_heif(Bytes bytes) {
  Box box;
  BoxReader reader(bytes);
  while (!reader.at_end()) box = reader.box();
  return !reader.cut() || (box.type != "meta" && box.type != "mdat");
}

}  // namespace satin::io
