// TIFF by libtiff: reading.

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "io/row_reader.h"
#include "io/support.h"
#include "io/tiff_pixels.h"
#include "io/tiled_tiff.h"
#include "metadata/exif.h"
#include "satin/error.h"

namespace satin::io {
namespace {

FileBytes block_of(TIFF* tiff, std::uint32_t tag) {
  std::uint32_t size = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff, tag, &size, &data) == 0 || data == nullptr) return {};
  return copy_of({static_cast<const std::byte*>(data), size});
}

Metadata read_metadata(TIFF* tiff, Bytes file, std::uint64_t directory) {
  Metadata metadata;
  metadata.icc = block_of(tiff, TIFFTAG_ICCPROFILE);
  metadata.xmp = block_of(tiff, TIFFTAG_XMLPACKET);
  metadata.exif = exif_from_tiff(file, directory);
  metadata.iptc = iptc_from_tiff(file, directory);
  return metadata;
}

/// The pictures that ImageJ's description of a stack counts; 1 without one.
std::uint64_t images_of_stack(TIFF* tiff) {
  const char* text = nullptr;
  std::uint64_t count = 1;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) == 0) return count;
  const std::string_view description(text), key("\nimages=");
  const std::size_t at = description.find(key);
  if (description.starts_with("ImageJ=") && at != std::string_view::npos)
    std::from_chars(text + at + key.size(), text + description.size(), count);
  return count;
}

/// libtiff keeps the values of all tags of a directory, and many tags can name the same bytes. In honest
/// files values and directories lie apart, so that together they are no larger than the file.
void check_tags(Bytes bytes) {
  const ExifReader reader(bytes, true);
  const std::uint64_t most = bytes.size() + (std::uint64_t{1} << 20);  // small files may be odd
  std::uint64_t directories = 0;
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = reader.first_directory(); seen.insert(at).second; at = reader.next_of(at)) {
    std::uint64_t values = 0;
    for (std::size_t i = 0; i < reader.entries(at); ++i) {
      const ExifEntry entry = reader.entry(at, i);
      const std::size_t known = bytes_of_type(entry.type);
      const std::uint64_t size = entry.count * std::uint64_t{known != 0 ? known : sizeof(std::uint64_t)};
      if (size <= bytes.size()) values += size;  // libtiff reads no others
    }
    directories += std::uint64_t{reader.entries(at)} * reader.sizes().entry;
    if (values > most || directories > most) damaged("TIFF", "its tags are together larger than the file");
  }
}

/// Returns the bytes of a page's pixels if they are stored uncompressed in one piece, otherwise an empty
/// range.
PixelRange pixels_in_one_piece(TIFF* tiff) {
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  if (compression != COMPRESSION_NONE || TIFFIsTiled(tiff) != 0) return {};
  PixelRange range{TIFFGetStrileOffset(tiff, 0), TIFFGetStrileOffset(tiff, 0)};
  for (std::uint32_t i = 0; i < TIFFNumberOfStrips(tiff); ++i) {
    if (TIFFGetStrileOffset(tiff, i) != range.end) return {};
    range.end += TIFFGetStrileByteCount(tiff, i);
  }
  return range;
}

/// ImageJ writes a stack above 4 GB with the directory of its first picture alone; the pixels of the others
/// follow those of the first.
void add_stack(TIFF* tiff, std::uint64_t file_size, const ReadOptions& options,
               std::vector<FilePicture>& pages) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  const std::uint64_t images = images_of_stack(tiff);
  const auto [begin, end] = images > 1 ? pixels_in_one_piece(tiff) : PixelRange{};
  if (begin >= end || end > file_size) return;
  const std::uint64_t there = (file_size - begin) / (end - begin);
  if (there == 1) return;  // a page that was taken out of a stack
  if (there < images && !options.allow_partial) truncated("TIFF");
  if (images > most)
    unsupported("TIFF", "a stack of " + std::to_string(images) + " pictures", "Cut it into smaller ones.");
  for (std::uint64_t i = 1; i < std::min(images, there); ++i)
    pages.push_back({{}, pages.front().at, false, 0, i * (end - begin)});
}

/// The pages by the offsets of their directories; thumbnails and steps of a pyramid are none. Transparency
/// masks stand beside a page. Where there is none, as in camera RAW with a preview before the picture, the
/// first directory is taken for one.
std::vector<FilePicture> list_pages(Bytes bytes, const ReadOptions& options) {
  check_tags(bytes);
  TiffInput file(bytes);
  const TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  const FilePicture first{{}, TIFFCurrentDirOffset(tiff.get())};
  if (has_preview_first(tiff.get())) return {first};
  std::vector<FilePicture> pages;
  bool complete = true;
  for (bool more = true; more;) {
    std::uint32_t subfile = 0;
    TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SUBFILETYPE, &subfile);
    if ((subfile & FILETYPE_REDUCEDIMAGE) == 0)
      pages.push_back({{}, TIFFCurrentDirOffset(tiff.get()), (subfile & FILETYPE_MASK) != 0});
    more = TIFFLastDirectory(tiff.get()) == 0;
    if (!more && !pages.empty() && TIFFCurrentDirOffset(tiff.get()) == first.at)
      add_stack(tiff.get(), bytes.size(), options, pages);
    if (more && TIFFReadDirectory(tiff.get()) == 0) more = complete = false;
  }
  if (!complete && !options.allow_partial)
    damaged("TIFF", "its page " + std::to_string(pages.size() + 1) + " cannot be read");
  return pages.empty() ? std::vector{first} : pages;
}

/// The handle at the directory of a page.
TiffHandle open_page(TiffFile& file, const FilePicture& page) {
  TiffHandle tiff = open_tiff(file, "rm");
  if (tiff == nullptr) fail(file);
  if (TIFFCurrentDirOffset(tiff.get()) != page.at && TIFFSetSubDirectory(tiff.get(), page.at) == 0)
    fail(file);
  if (page.shift != 0) {
    file.moved = pixels_in_one_piece(tiff.get());
    file.shift = page.shift;
  }
  return tiff;
}

/// Says whether a page that is there has one behind it that is not.
void check_next_page(Bytes bytes, const FilePicture& page, std::vector<std::string>& warnings) {
  TiffInput file(bytes);
  const TiffHandle tiff = open_page(file, page);
  if (TIFFLastDirectory(tiff.get()) == 0 && TIFFReadDirectory(tiff.get()) == 0)
    warnings.emplace_back("what follows this page cannot be read.");
}

/// Adds the warning of a page's colours, and drops a profile that has been used up.
void take_over(const TiffColours& colours, Metadata& metadata, std::vector<std::string>& warnings) {
  if (std::string warning = colours.warning(); !warning.empty()) warnings.push_back(std::move(warning));
  if (colours.uses_profile()) metadata.icc.clear();
}

Picture decode_page(Bytes bytes, const FilePicture& page, const ReadOptions& options) {
  TiffInput file(bytes);
  const TiffHandle tiff = open_page(file, page);
  const TiffLayout layout = read_layout(tiff.get());
  check_limits(layout.width, layout.height, layout.samples, layout.type, options.limits);
  file.error.clear();  // complaints about tags that were not needed
  TiffBlocks blocks(tiff.get(), file, layout, options, false);
  accept(layout.width, layout.height, layout.samples, layout.type, options, blocks.held());
  Picture picture =
      allocate(layout.width, layout.height, layout.samples, layout.type, layout.pixel_alpha(), options);
  Image& image = picture.image;
  bool complete = true;
  for (std::uint64_t y = 0; y < layout.height; y += blocks.height())
    complete &= blocks.read(static_cast<std::uint32_t>(y), row_of(image, static_cast<std::int64_t>(y)));
  if (!complete) picture.warnings.push_back(partial_warning("TIFF"));
  picture.metadata = read_metadata(tiff.get(), bytes, page.at);

  const TiffColours colours(tiff.get(), layout, picture.metadata.icc);
  take_over(colours, picture.metadata, picture.warnings);
  const auto count = std::size_t{layout.width} * layout.height;
  Image pixels;
  if (Shape shape = image.shape(); shape.channels != colours.channels()) {
    shape.channels = colours.channels();
    pixels = Image(shape, options.allocator);
  }
  colours.convert(image.data(), pixels.empty() ? image.data() : pixels.data(), count);
  if (!pixels.empty()) image = std::move(pixels);
  turn_upright(picture, std::move(image), layout.orientation, options.allocator);
  if (options.allow_partial) check_next_page(bytes, page, picture.warnings);
  return picture;
}

/// Rows of a page. A row of blocks is held.
class PageRows final : public RowReader {
 public:
  PageRows(const InputFile& file, Bytes bytes, const FilePicture& page, const ReadOptions& options)
      : file_(file), page_(page), options_(options) {
    open();
    check_upright();
    held_ = shape_of(layout_.width, blocks_->height(), layout_.samples, layout_.type, Alpha::none);
    accept_rows(layout_.width, layout_.height, layout_.samples, layout_.type,
                byte_size(held_) + std::uint64_t{blocks_->held()}, options);
    rows_.resize(byte_size(held_));
    metadata = read_metadata(tiff_.get(), bytes, page.at);
    colours_.emplace(tiff_.get(), layout_, metadata.icc);
    take_over(*colours_, metadata, warnings);
    shape =
        shape_of(layout_.width, layout_.height, colours_->channels(), layout_.type, layout_.pixel_alpha());
    if (options.allow_partial) check_next_page(bytes, page, warnings);
  }

  void read(std::int64_t y, const MutableImageView& rows) override {
    const auto row_bytes = static_cast<std::size_t>(interleaved_strides(held_).row);
    for (std::int64_t i = 0; i < rows.shape.height; ++i) {
      const auto row = static_cast<std::uint32_t>(y + i);
      const std::uint32_t begin = row / blocks_->height() * blocks_->height();
      if (!there_ || begin != begin_) load(begin);
      colours_->convert(rows_.data() + (row - begin) * row_bytes, rows.at(0, i), layout_.width);
    }
  }

 private:
  void open() {
    tiff_ = open_page(file_, page_);
    layout_ = read_layout(tiff_.get());
    check_limits(layout_.width, layout_.height, layout_.samples, layout_.type,
                 without_bytes(options_.limits));
    file_.error.clear();  // complaints about tags that were not needed
    blocks_.emplace(tiff_.get(), file_, layout_, options_, true);
  }

  void check_upright() const {
    if (layout_.orientation > 1 && layout_.orientation <= 8)
      throw Error(ErrorKind::usage,
                  "its rows are not stored from the top to the bottom (orientation " +
                      std::to_string(layout_.orientation) +
                      "), and are not read one by one. Read the file as a whole (without --stream), or turn "
                      "it first, for example with vips autorot.");
  }

  void load(std::uint32_t begin) {
    there_ = false;  // for as long as they are read
    // The handle is opened anew, because libtiff keeps what it has met further down, such as tables of
    // damaged JPEG data, and would decode the rows above with it.
    if (begin < begin_) open();
    begin_ = begin;
    if (!blocks_->read(begin, rows_.data()) && !damaged_) {
      warnings.push_back(partial_warning("TIFF"));
      damaged_ = true;
    }
    there_ = true;
  }

  TiffOnDisk file_;
  FilePicture page_;
  ReadOptions options_;
  TiffHandle tiff_;
  TiffLayout layout_;
  Shape held_;
  FileBytes rows_;
  std::optional<TiffBlocks> blocks_;
  std::optional<TiffColours> colours_;
  std::uint32_t begin_ = 0;  ///< first row of those that were asked for last
  bool there_ = false;       ///< they are held
  bool damaged_ = false;
};

std::unique_ptr<RowReader> open_page_rows(const InputFile& file, Bytes bytes, const FilePicture& page,
                                          const ReadOptions& options) {
  return std::make_unique<PageRows>(file, bytes, page, options);
}

}  // namespace

Codec tiff_codec() {
  Codec codec{"TIFF", {".tiff", ".tif"}, sniff_tiff, nullptr, encode_tiff};
  codec.several = {"page", list_pages, decode_page, encode_tiff_pages};
  codec.open_rows = open_page_rows;
  codec.write_rows = write_tiles;
  // The header of an EXIF block is that of a classic TIFF file.
  codec.facts = [](Bytes bytes) { return FileFacts{.orientation = exif_orientation(bytes)}; };
  codec.holds.types = set_of(Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64);
  codec.holds.channels = set_of(1, 2, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight, Alpha::premultiplied);
  codec.holds.extra = true;
  codec.holds.metadata =
      set_of(Carried::icc, Carried::exif, Carried::xmp, Carried::iptc, Carried::resolution);
  return codec;
}

}  // namespace satin::io
