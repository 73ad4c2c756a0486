#include "io/tiled_tiff.h"

#include <array>
#include <numeric>

#include "io/tiff_file.h"
#include "metadata/exif_reader.h"
#include "metadata/tiff_exif.h"

namespace satin::io {
namespace {

std::uint64_t tiles_in(std::int64_t pixels) {
  return static_cast<std::uint64_t>((pixels + tile_side - 1) / tile_side);
}

std::uint64_t count_tiles(const Shape& page) { return tiles_in(page.width) * tiles_in(page.height); }

Shape tile_of(const Shape& page) {
  Shape tile = page;
  tile.width = tile.height = tile_side;
  return tile;
}

template <class Number>
ExifField field(std::uint32_t type, std::span<const Number> numbers) {
  ExifField result{type, static_cast<std::uint32_t>(numbers.size()), {}};
  result.value.reserve(numbers.size_bytes());
  for (const Number number : numbers)
    for (unsigned i = 0; i < sizeof(Number); ++i)
      result.value.push_back(static_cast<std::byte>(std::uint64_t{number} >> 8 * i & 255));
  return result;
}

ExifField field_of_long(std::int64_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  return field(type_long, std::span(&number, 1));
}

/// Those of a file that is whole in memory, so that a tag is chosen in one place: a picture of one pixel is
/// written as such, and its directory taken over but for sizes and strips.
ExifDirectory tags_of(const Shape& page, const Metadata& metadata, bool is_level) {
  Shape pixel = page;
  pixel.width = pixel.height = 1;
  const FileBytes zeros(byte_size(pixel));
  WriteOptions options;
  options.metadata.icc = metadata.icc;
  options.metadata.xmp = metadata.xmp;
  options.metadata.resolution = metadata.resolution;
  std::vector<ExifDirectory> directories =
      read_directories(encode_tiff(view_of(zeros.data(), pixel), options));
  if (directories.size() != 1) not_encoded("TIFF", "its directory cannot be made");
  ExifDirectory tags = std::move(directories.front());
  for (const std::uint32_t strips : {std::uint32_t{TIFFTAG_STRIPOFFSETS}, std::uint32_t{TIFFTAG_ROWSPERSTRIP},
                                     std::uint32_t{TIFFTAG_STRIPBYTECOUNTS}})
    tags.erase(strips);
  tags[TIFFTAG_SUBFILETYPE] = field_of_long(is_level ? FILETYPE_REDUCEDIMAGE : 0);
  tags[TIFFTAG_IMAGEWIDTH] = field_of_long(page.width);
  tags[TIFFTAG_IMAGELENGTH] = field_of_long(page.height);
  tags[TIFFTAG_TILEWIDTH] = tags[TIFFTAG_TILELENGTH] = field_of_long(tile_side);
  return tags;
}

}  // namespace

// Deflate makes a tile that does not shrink longer by less than 1 in 1000 (RFC 1951: 5 bytes a stored block);
// the directories' tags have the rest up to 2^32.
bool needs_big_tiff(std::span<const Shape> pages, const Metadata& metadata) {
  constexpr std::uint64_t classic_limit = 4'000'000'000;
  constexpr std::uint64_t beside_a_tile = 16;
  const std::uint64_t blocks =
      metadata.icc.size() + metadata.exif.size() + metadata.xmp.size() + metadata.iptc.size();
  const std::uint64_t size =
      std::accumulate(pages.begin(), pages.end(), blocks, [](std::uint64_t sum, const Shape& page) {
        return sum + count_tiles(page) * (byte_size(tile_of(page)) + beside_a_tile);
      });
  return size > classic_limit;
}

TiledTiff::TiledTiff(NewFile& file, std::span<const Shape> pages, const Metadata& metadata, bool big)
    : file_(file), big_(big) {
  for (const Shape& shape : pages) {
    const bool is_level = !pages_.empty();
    Page& page = pages_.emplace_back();
    page.tags = tags_of(shape, is_level ? Metadata{} : metadata, is_level);
    if (!is_level) page.description = add_tags(page.tags, {metadata.exif, metadata.iptc});
  }
  // The offset of the first directory follows: finish() knows it.
  append(FileBytes(big_ ? 16 : 8));
}

void TiledTiff::append(Bytes bytes) {
  file_.add(bytes);
  end_ += bytes.size();
}

void TiledTiff::add_tile(std::size_t page, Bytes tile) {
  constexpr std::array<std::byte, 1> padding{};
  pages_[page].offsets.push_back(end_);
  pages_[page].sizes.push_back(static_cast<std::uint32_t>(tile.size()));
  append(tile);
  if (end_ % 2 != 0) append(padding);
}

void TiledTiff::finish() {
  std::uint64_t next = 0;
  for (std::size_t i = pages_.size(); i-- > 0;) {  // a directory points to that of the next page
    Page& page = pages_[i];
    if (big_) {
      page.tags[TIFFTAG_TILEOFFSETS] = field(type_long8, std::span<const std::uint64_t>(page.offsets));
    } else {
      const std::vector<std::uint32_t> offsets(page.offsets.begin(), page.offsets.end());
      page.tags[TIFFTAG_TILEOFFSETS] = field(type_long, std::span(offsets));
    }
    page.tags[TIFFTAG_TILEBYTECOUNTS] = field(type_long, std::span<const std::uint32_t>(page.sizes));
    Sink directories;
    next = append_directories(directories, {end_, big_}, std::move(page.tags), page.description, next);
    append(directories.bytes);
  }
  Sink header;
  header.text("II");
  header.le16(big_ ? TIFF_VERSION_BIG : TIFF_VERSION_CLASSIC);
  if (big_) {
    header.le32(sizeof(std::uint64_t));  // the size of offsets, and 0
    header.le32(static_cast<std::uint32_t>(next));
    header.le32(static_cast<std::uint32_t>(next >> 32));
  } else {
    header.le32(static_cast<std::uint32_t>(next));
  }
  file_.replace(0, header.bytes);
}

}  // namespace satin::io
