// TIFF by libtiff: reading.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/row_reader.h"
#include "io/support.h"
#include "io/tiff_file.h"
#include "io/tiff_pixels.h"
#include "io/tiled_tiff.h"
#include "metadata/exif_directories.h"
#include "metadata/exif_reader.h"
#include "metadata/pixel_tags.h"
#include "satin/error.h"
#include "satin/new_file.h"
#include "satin/row_files.h"
#include "satin/view.h"

namespace satin::io {
namespace {

// The rows of a picture to the tiles of a TIFF file, with the levels of a pyramid while they pass.

// Pictures of half the size: the levels of a pyramid.

/// Sums of products: of u16, four times 65535 squared stay below 2^35; floats as doubles.
template <class Value>
using Sum = std::conditional_t<std::is_floating_point_v<Value>, double, std::uint64_t>;

template <class Value>
Value quotient(Sum<Value> sum, Sum<Value> weights) {
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(sum / weights);
  } else {
    return static_cast<Value>((2 * sum + weights) / (2 * weights));
  }
}

/// The pixels whose mean is one pixel of the next level.
template <class Value>
struct Square {
  const Value* pixels[4];
  int count;
};

template <class Value>
Value plain_mean(const Square<Value>& square, int channel) {
  Sum<Value> sum = 0;
  for (int i = 0; i < square.count; ++i) sum += square.pixels[i][channel];
  return quotient<Value>(sum, static_cast<Sum<Value>>(square.count));
}

template <class Value>
void straight_mean(const Square<Value>& square, int colours, Value* target) {
  Sum<Value> weights = 0;
  for (int i = 0; i < square.count; ++i) weights += square.pixels[i][colours];
  target[colours] = plain_mean(square, colours);
  for (int c = 0; c < colours; ++c) {
    Sum<Value> sum = 0;
    for (int i = 0; i < square.count; ++i)
      sum += Sum<Value>{square.pixels[i][c]} * Sum<Value>{square.pixels[i][colours]};
    target[c] = weights > 0 ? quotient<Value>(sum, weights) : plain_mean(square, c);
  }
}

template <class Value>
void halve_row(const ImageView& rows, Value* target) {
  const Shape& shape = rows.shape;
  const int step = shape.channels;
  const bool straight = shape.alpha == Alpha::straight;
  const Value* const top = rows.row<Value>(0);
  const Value* const bottom = rows.row<Value>(shape.height - 1);
  for (std::int64_t x = 0; x < shape.width; x += 2, target += step) {
    if (const Value* a = top + x * step, *b = bottom + x * step;
        !straight && shape.height == 2 && x + 1 < shape.width) {
      // Nearly all pixels: a mean of four without a division.
      for (int c = 0; c < step; ++c)
        target[c] = quotient<Value>(Sum<Value>{a[c]} + a[c + step] + b[c] + b[c + step], 4);
      continue;
    }
    Square<Value> square{};
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t i = x; i < std::min(x + 2, shape.width); ++i)
        square.pixels[square.count++] = rows.row<Value>(y) + i * step;
    if (straight) {
      straight_mean(square, step - 1, target);
    } else {
      for (int c = 0; c < step; ++c) target[c] = plain_mean(square, c);
    }
  }
}

/// The shapes of a picture and of the levels behind it, each half as wide and high as the one before, rounded
/// up, until `most` holds both sides.
std::vector<Shape> pyramid_of(const Shape& picture, std::int64_t most) {
  std::vector<Shape> shapes{picture};
  while (shapes.back().width > most || shapes.back().height > most) {
    Shape half = shapes.back();
    half.width = (half.width + 1) / 2;
    half.height = (half.height + 1) / 2;
    shapes.push_back(half);
  }
  return shapes;
}

/// Writes a row of the next level, of u8, u16 or f32: the mean of each two by two pixels of one or two dense
/// rows, rounded to nearest, ties up. At odd edges it is the mean of the pixels that exist. Straight colours
/// are weighted by alpha; where all of that is 0, every pixel counts the same.
void halve(const ImageView& rows, std::byte* target) {
  if (rows.shape.type == Type::u8) halve_row(rows, reinterpret_cast<std::uint8_t*>(target));
  if (rows.shape.type == Type::u16) halve_row(rows, reinterpret_cast<std::uint16_t*>(target));
  if (rows.shape.type == Type::f32) halve_row(rows, reinterpret_cast<float*>(target));
}

Shape with_height(Shape shape, std::int64_t height) {
  shape.height = height;
  return shape;
}

/// The tile of a row of tiles that begins at column `x`; what lies outside of the picture is 0.
FileBytes encode_tile(const ImageView& rows, std::int64_t x) {
  Shape tile = rows.shape;
  tile.width = tile.height = tile_side;
  const Strides strides = interleaved_strides(tile);
  FileBytes pixels(byte_size(tile));
  const auto bytes = static_cast<std::size_t>(std::min(tile_side, rows.shape.width - x) * strides.pixel);
  for (std::int64_t y = 0; y < rows.shape.height; ++y)
    std::memcpy(pixels.data() + y * strides.row, rows.at(x, y), bytes);
  return encode_tiff_tile(tile, pixels);
}

/// The tiles of a row from left to right. What a thread throws is thrown when all of them have ended.
std::vector<FileBytes> encode_row(const ImageView& rows, int threads) {
  std::vector<FileBytes> tiles(static_cast<std::size_t>((rows.shape.width + tile_side - 1) / tile_side));
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < tiles.size(); i = next++)
        tiles[i] = encode_tile(rows, static_cast<std::int64_t>(i) * tile_side);
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(tiles.size(), static_cast<std::size_t>(std::max(1, threads)));
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do all of the work.
    }
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
  return tiles;
}

/// A page of the file: its rows are kept until they fill a row of tiles. Two rows that become one of the
/// next page never lie in two rows of tiles, as the side of a tile is even.
class Page {
 public:
  /// `next` is the page of half the size, null behind the last one.
  Page(TiledTiff& file, std::size_t index, const Shape& shape, int threads, Page* next)
      : file_(file),
        index_(index),
        shape_(shape),
        threads_(threads),
        next_(next),
        row_bytes_(static_cast<std::size_t>(interleaved_strides(shape).row)),
        rows_(row_bytes_ * static_cast<std::size_t>(std::min(tile_side, shape.height))) {}

  /// True once all rows are there.
  [[nodiscard]] bool complete() const { return begun_ == shape_.height; }

  /// Where the rows that follow go, as many as fit.
  [[nodiscard]] MutableImageView room() {
    const std::int64_t count = std::min(tile_side - filled_, shape_.height - begun_ - filled_);
    return mutable_view_of(rows_.data() + static_cast<std::size_t>(filled_) * row_bytes_,
                           with_height(shape_, count));
  }

  /// So many rows are there now.
  void add(std::int64_t count) {
    if (next_ != nullptr) pass_on(filled_ + count);
    filled_ += count;
    if (filled_ < tile_side && begun_ + filled_ < shape_.height) return;
    const ImageView rows = view_of(rows_.data(), with_height(shape_, filled_));
    for (const FileBytes& tile : encode_row(rows, threads_)) file_.add_tile(index_, tile);
    begun_ += filled_;
    filled_ = 0;
  }

 private:
  /// Halves the pairs of rows that are complete with those before `end`, and the last row of all alone.
  void pass_on(std::int64_t end) {
    for (std::int64_t y = filled_ / 2 * 2; y < end; y += 2) {
      const bool alone = begun_ + y + 1 == shape_.height;
      if (y + 1 == end && !alone) break;
      const ImageView pair = view_of(rows_.data() + static_cast<std::size_t>(y) * row_bytes_,
                                     with_height(shape_, alone ? 1 : 2));
      halve(pair, next_->room().data);
      next_->add(1);
    }
  }

  TiledTiff& file_;
  std::size_t index_;
  Shape shape_;
  int threads_;
  Page* next_;
  std::size_t row_bytes_;
  FileBytes rows_;           ///< of one row of tiles
  std::int64_t begun_ = 0;   ///< rows of the picture above it
  std::int64_t filled_ = 0;  ///< rows in it
};

/// Writes all rows of the source, which stands at its top, to the file. Each level of a pyramid holds a row
/// of tiles as the picture does: together no more than the picture's own.
void write_tiles(NewFile& file, RowSource& rows, const RowWriteOptions& options) {
  Shape shape = rows.shape();
  const bool swapped = shape.order == Order::bgr && shape.channels >= 3;
  shape.order = Order::rgb;
  const std::vector<Shape> shapes = options.pyramid ? pyramid_of(shape, tile_side) : std::vector{shape};
  TiledTiff tiff(file, shapes, options.metadata, needs_big_tiff(shapes, options.metadata));
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Page>> pages;  // from the smallest to the picture
  for (std::size_t i = shapes.size(); i-- > 0;)
    pages.push_back(
        std::make_unique<Page>(tiff, i, shapes[i], threads, pages.empty() ? nullptr : pages.back().get()));
  Page& picture = *pages.back();
  while (!picture.complete()) {
    const MutableImageView room = picture.room();
    MutableImageView asked = room;
    asked.shape.order = rows.shape().order;
    rows.read(asked);
    if (swapped)
      swap_red_and_blue(room.data, static_cast<std::size_t>(room.shape.width * room.shape.height),
                        static_cast<std::size_t>(shape.channels), size_of(shape.type));
    picture.add(room.shape.height);
  }
  tiff.finish();
}

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
