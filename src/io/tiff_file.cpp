#include "io/tiff_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "io/codec_steps.h"
#include "metadata/exif.h"

namespace satin::io {
namespace {

TiffFile& file_of(thandle_t handle) { return *static_cast<TiffFile*>(handle); }

tmsize_t on_read(thandle_t handle, void* target, tmsize_t size) {
  TiffFile& file = file_of(handle);
  if (size <= 0) return 0;
  const bool moved = file.position >= file.moved.begin && file.position < file.moved.end;
  const std::size_t count = file.read(file.position + (moved ? file.shift : 0),
                                      {static_cast<std::byte*>(target), static_cast<std::size_t>(size)});
  file.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t on_write(thandle_t handle, void* data, tmsize_t size) {
  TiffFile& file = file_of(handle);
  const Bytes bytes(static_cast<const std::byte*>(data),
                    static_cast<std::size_t>(std::max<tmsize_t>(size, 0)));
  file.output.position = file.position;
  if (size < 0 || !file.output.write(bytes.data(), bytes.size())) return -1;
  file.position += bytes.size();
  return size;
}

toff_t on_size(thandle_t handle) { return file_of(handle).size(); }

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  TiffFile& file = file_of(handle);
  // Offsets relative to the position and the end are negative numbers in an unsigned type: wrapping is
  // intended.
  if (whence == SEEK_CUR) offset += file.position;
  if (whence == SEEK_END) offset += file.size();
  file.position = offset;
  return offset;
}

int on_close(thandle_t) { return 0; }

#if defined(TIFFLIB_AT_LEAST)
int on_error(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  std::array<char, 300> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string& error = static_cast<TiffFile*>(user)->error;
  if (error.empty()) error = (module != nullptr ? std::string(module) + ": " : std::string()) + text.data();
  return 1;
}

// libtiff reports damaged fax and JPEG data as warnings only. Its other warnings are about unusual tags.
int on_warning(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments) {
  const std::string_view name = module != nullptr ? module : "";
  if (name.substr(0, 3) == "Fax" || name == "JPEGLib") on_error(tiff, user, module, format, arguments);
  return 1;
}
#endif

/// Whether samples are compressed. Deflate with horizontal differences is lossless and every reader knows it
/// for 8 and 16 bits. Tables and floats hardly shrink and stay uncompressed.
bool compresses(Type type) {
  return (type == Type::u8 || type == Type::u16) && TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE) != 0;
}

bool set_tags(TIFF* tiff, const Shape& shape) {
  const bool real = shape.type == Type::f32 || shape.type == Type::f64;
  const int colours = shape.channels >= 3 ? 3 : 1;
  bool good = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape.width)) != 0;
  const auto set = [&](std::uint32_t tag, int value) { good = good && TIFFSetField(tiff, tag, value) != 0; };
  good = good && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(shape.height)) != 0;
  set(TIFFTAG_SAMPLESPERPIXEL, shape.channels);
  set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(size_of(shape.type) * 8));
  set(TIFFTAG_SAMPLEFORMAT, real ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  set(TIFFTAG_PHOTOMETRIC, colours == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  set(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  if (compresses(shape.type)) {
    set(TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    set(TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    set(TIFFTAG_ZIPQUALITY, 2);
  } else {
    set(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  }
  if (shape.channels == colours) return good;
  const std::uint16_t extra[1] = {shape.alpha == Alpha::straight ? std::uint16_t{EXTRASAMPLE_UNASSALPHA}
                                  : shape.alpha == Alpha::premultiplied
                                      ? std::uint16_t{EXTRASAMPLE_ASSOCALPHA}
                                      : std::uint16_t{EXTRASAMPLE_UNSPECIFIED}};
  return good && TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, extra) != 0;
}

bool set_block(TIFF* tiff, std::uint32_t tag, const FileBytes& block) {
  return block.empty() ||
         TIFFSetField(tiff, tag, static_cast<std::uint32_t>(block.size()), block.data()) != 0;
}

bool set_page(TIFF* tiff, std::size_t index, std::size_t count) {
  constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
  if (TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE) == 0) return false;
  // The page number has 16 bits, and 0 means an unknown total.
  return index > most || TIFFSetField(tiff, TIFFTAG_PAGENUMBER, static_cast<int>(index),
                                      static_cast<int>(count > most ? 0 : count)) != 0;
}

bool set_resolution(TIFF* tiff, const std::optional<Resolution>& resolution) {
  if (!resolution) return true;
  const Resolution r = without_metres(*resolution);
  const int unit = r.unit == Resolution::Unit::inch         ? RESUNIT_INCH
                   : r.unit == Resolution::Unit::centimetre ? RESUNIT_CENTIMETER
                                                            : RESUNIT_NONE;
  return TIFFSetField(tiff, TIFFTAG_XRESOLUTION, r.x) != 0 &&
         TIFFSetField(tiff, TIFFTAG_YRESOLUTION, r.y) != 0 &&
         TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, unit) != 0;
}

bool write_strips(TIFF* tiff, const ImageView& image, std::int64_t rows_per_strip) {
  const auto row_bytes = static_cast<std::size_t>(image.strides.row);
  FileBytes strip(row_bytes * static_cast<std::size_t>(rows_per_strip));  // libtiff may change its input
  std::uint32_t index = 0;
  for (std::int64_t y = 0; y < image.shape.height; y += rows_per_strip, ++index) {
    const std::size_t size =
        row_bytes * static_cast<std::size_t>(std::min(rows_per_strip, image.shape.height - y));
    std::memcpy(strip.data(), image.at(0, y), size);
    if (TIFFWriteEncodedStrip(tiff, index, strip.data(), static_cast<tmsize_t>(size)) < 0) return false;
  }
  return TIFFWriteDirectory(tiff) != 0;
}

bool write_page(TIFF* tiff, const ImageView& image, const Metadata& metadata) {
  constexpr std::size_t strip_bytes = std::size_t{1} << 18;
  const auto row_bytes = static_cast<std::size_t>(image.strides.row);
  const auto rows = static_cast<std::int64_t>(std::max<std::size_t>(1, strip_bytes / row_bytes));
  const std::int64_t rows_per_strip = std::min(rows, image.shape.height);
  return set_tags(tiff, image.shape) &&
         TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows_per_strip)) != 0 &&
         set_block(tiff, TIFFTAG_ICCPROFILE, metadata.icc) &&
         set_block(tiff, TIFFTAG_XMLPACKET, metadata.xmp) && set_resolution(tiff, metadata.resolution) &&
         write_strips(tiff, image, rows_per_strip);
}

}  // namespace

std::size_t TiffFile::read(std::uint64_t at, std::span<std::byte> target) noexcept {
  if (disk_ != nullptr) {
    int code = 0;
    const std::size_t count = disk_->read_some(at, target, code);
    if (code != 0 && error.empty()) error = "reading failed: " + error_text(code);
    return count;
  }
  if (at >= bytes().size()) return 0;
  const std::size_t count = std::min<std::size_t>(target.size(), bytes().size() - at);
  std::memcpy(target.data(), bytes().data() + at, count);
  return count;
}

TiffHandle open_tiff(TiffFile& file, const char* mode) {
  file.position = 0;
  file.error.clear();
#if defined(TIFFLIB_AT_LEAST)
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (options == nullptr) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &file);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &file);
  return TiffHandle(TIFFClientOpenExt("memory", mode, &file, on_read, on_write, on_seek, on_close, on_size,
                                      nullptr, nullptr, options.get()));
#else
  // Before 4.5, handlers belong to the process: they can only be silenced.
  static const bool silenced = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  static_cast<void>(silenced);
  return TiffHandle(
      TIFFClientOpen("memory", mode, &file, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr));
#endif
}

FileBytes encode_tiff(std::span<const ImageView> images, std::span<const WriteOptions> options) {
  constexpr std::size_t classic_limit = std::size_t{4'000'000'000};  // classic TIFF has 32-bit offsets
  const std::size_t size =
      std::accumulate(images.begin(), images.end(), std::size_t{0},
                      [](std::size_t sum, const ImageView& image) { return sum + byte_size(image.shape); });
  const bool classic = size <= classic_limit;
  TiffFile file;
  TiffHandle tiff = open_tiff(file, classic ? "wlm" : "w8lm");
  bool good = tiff != nullptr;
  std::vector<PageTags> tags;
  for (std::size_t i = 0; good && i < images.size(); ++i) {
    good = (images.size() == 1 || set_page(tiff.get(), i, images.size())) &&
           write_page(tiff.get(), images[i], options[i].metadata);
    tags.push_back({options[i].metadata.exif, options[i].metadata.iptc});
  }
  tiff.reset();
  if (!good || !file.error.empty()) not_encoded("TIFF", file.error);
  if (classic) add_to_tiff(file.output.bytes, tags);
  return std::move(file.output.bytes);
}

FileBytes encode_tiff_tile(const Shape& tile, std::span<std::byte> pixels) {
  TiffFile file;
  const TiffHandle tiff = open_tiff(file, "wlm");
  const bool good =
      tiff != nullptr && set_tags(tiff.get(), tile) &&
      TIFFSetField(tiff.get(), TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(tile.width)) != 0 &&
      TIFFSetField(tiff.get(), TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile.height)) != 0 &&
      TIFFWriteEncodedTile(tiff.get(), 0, pixels.data(), static_cast<tmsize_t>(pixels.size())) >= 0;
  if (!good || !file.error.empty()) not_encoded("TIFF", file.error);
  const std::size_t start = TIFFGetStrileOffset(tiff.get(), 0);
  const std::size_t size = TIFFGetStrileByteCount(tiff.get(), 0);
  return copy_of(Bytes(file.output.bytes).subspan(start, size));
}

// Tiles.

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

/// Returns the tags of a page but for sizes of its tiles. The tags are chosen in one place only: a picture of
/// one pixel is encoded by encode_tiff(), and its directory is copied without sizes and strips.
ExifDirectory tags_of(const Shape& page, const Metadata& metadata, bool is_level) {
  Shape pixel = page;
  pixel.width = pixel.height = 1;
  const FileBytes zeros(byte_size(pixel));
  WriteOptions options;
  options.metadata.icc = metadata.icc;
  options.metadata.xmp = metadata.xmp;
  options.metadata.resolution = metadata.resolution;
  const ImageView view = view_of(zeros.data(), pixel);
  std::vector<ExifDirectory> directories = read_directories(encode_tiff({&view, 1}, {&options, 1}));
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

/// Type for sums of products. Four products of u16 stay below 2^35; floats are summed as doubles.
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

/// The 1 to 4 pixels whose mean is one pixel of the next level.
template <class Value>
struct Square {
  const Value* pixels[4];
  int count;

  /// Returns the mean of a channel. Pixels are weighted by the channel `alpha` unless that is 0 everywhere; a
  /// negative `alpha` stands for equal weights.
  [[nodiscard]] Value mean(int channel, int alpha) const {
    Sum<Value> sum = 0, weights = 0;
    for (int i = 0; i < count; ++i) {
      const Sum<Value> weight = alpha < 0 ? 1 : pixels[i][alpha];
      sum += weight * pixels[i][channel];
      weights += weight;
    }
    return weights > 0 ? quotient<Value>(sum, weights) : mean(channel, -1);
  }
};

template <class Value>
void halve_row(const ImageView& rows, Value* target) {
  const Shape& shape = rows.shape;
  const int step = shape.channels;
  const int alpha = shape.alpha == Alpha::straight ? step - 1 : -1;
  const Value* const top = rows.row<Value>(0);
  const Value* const bottom = rows.row<Value>(shape.height - 1);
  for (std::int64_t x = 0; x < shape.width; x += 2, target += step) {
    if (const Value* a = top + x * step, *b = bottom + x * step;
        alpha < 0 && shape.height == 2 && x + 1 < shape.width) {
      // Nearly all pixels take this path: a mean of four without a division.
      for (int c = 0; c < step; ++c)
        target[c] = quotient<Value>(Sum<Value>{a[c]} + a[c + step] + b[c] + b[c + step], 4);
      continue;
    }
    Square<Value> square{};
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t i = x; i < std::min(x + 2, shape.width); ++i)
        square.pixels[square.count++] = rows.row<Value>(y) + i * step;
    for (int c = 0; c < step; ++c) target[c] = square.mean(c, c == alpha ? -1 : alpha);
  }
}

/// Writes a row of the next level for u8, u16 or f32: the mean of 2 x 2 pixels of one or two dense rows,
/// rounded to nearest, ties up. At odd edges it is the mean of the pixels that exist. Straight colours are
/// weighted by alpha. Where all alpha is 0, every pixel has the same weight.
void halve(const ImageView& rows, std::byte* target) {
  if (rows.shape.type == Type::u8) halve_row(rows, reinterpret_cast<std::uint8_t*>(target));
  if (rows.shape.type == Type::u16) halve_row(rows, reinterpret_cast<std::uint16_t*>(target));
  if (rows.shape.type == Type::f32) halve_row(rows, reinterpret_cast<float*>(target));
}

/// Returns the shapes of a picture and its levels. Each level has half the width and height of the one
/// before, rounded up, until both sides are at most `most`.
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

Shape with_height(Shape shape, std::int64_t height) {
  shape.height = height;
  return shape;
}

/// Compresses the tile that begins at column `x`. Pixels outside of the picture are 0.
FileBytes encode_tile(const ImageView& rows, std::int64_t x) {
  const Shape tile = tile_of(rows.shape);
  const Strides strides = interleaved_strides(tile);
  FileBytes pixels(byte_size(tile));
  const auto bytes = static_cast<std::size_t>(std::min(tile_side, rows.shape.width - x) * strides.pixel);
  for (std::int64_t y = 0; y < rows.shape.height; ++y)
    std::memcpy(pixels.data() + y * strides.row, rows.at(x, y), bytes);
  return encode_tiff_tile(tile, pixels);
}

/// Compresses the tiles of a row on several threads, and returns them from left to right.
std::vector<FileBytes> encode_row(const ImageView& rows, int threads) {
  std::vector<FileBytes> tiles(static_cast<std::size_t>((rows.shape.width + tile_side - 1) / tile_side));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tiles.size(); i = next++)
      tiles[i] = encode_tile(rows, static_cast<std::int64_t>(i) * tile_side);
  };
  std::vector<std::future<void>> others;  // their destructors wait
  const std::size_t wanted = std::min(tiles.size(), static_cast<std::size_t>(std::max(1, threads)));
  try {
    while (others.size() + 1 < wanted) others.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error&) {
    // The system starts no more threads: the running ones do all the work.
  }
  work();
  for (std::future<void>& other : others) other.get();
  return tiles;
}

/// A page of the file. It keeps its rows until they fill a row of tiles. The two rows that become one row of
/// the next page are always in the same row of tiles, as the side of a tile is even.
class Page {
 public:
  /// `next` is the page of half the size, or null for the last one.
  Page(TiledTiff& file, std::size_t index, const Shape& shape, int threads, Page* next)
      : file_(file),
        index_(index),
        shape_(shape),
        threads_(threads),
        next_(next),
        row_bytes_(static_cast<std::size_t>(interleaved_strides(shape).row)),
        rows_(row_bytes_ * static_cast<std::size_t>(std::min(tile_side, shape.height))) {}

  [[nodiscard]] bool complete() const { return begun_ == shape_.height; }

  /// Returns the buffer for the next rows, as many as fit.
  [[nodiscard]] MutableImageView next_rows() {
    const std::int64_t count = std::min(tile_side - filled_, shape_.height - begun_ - filled_);
    return mutable_view_of(rows_.data() + static_cast<std::size_t>(filled_) * row_bytes_,
                           with_height(shape_, count));
  }

  /// Adds `count` rows, which the buffer of next_rows() now holds.
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
  /// Passes the halves of all complete pairs of rows before `end` to the next page. The last row of an odd
  /// page goes alone.
  void pass_on(std::int64_t end) {
    for (std::int64_t y = filled_ / 2 * 2; y < end; y += 2) {
      const bool alone = begun_ + y + 1 == shape_.height;
      if (y + 1 == end && !alone) break;
      const ImageView pair = view_of(rows_.data() + static_cast<std::size_t>(y) * row_bytes_,
                                     with_height(shape_, alone ? 1 : 2));
      halve(pair, next_->next_rows().data);
      next_->add(1);
    }
  }

  TiledTiff& file_;
  std::size_t index_;
  Shape shape_;
  int threads_;
  Page* next_;
  std::size_t row_bytes_;
  FileBytes rows_;           ///< one row of tiles
  std::int64_t begun_ = 0;   ///< rows of the page above `rows_`
  std::int64_t filled_ = 0;  ///< rows in `rows_`
};

}  // namespace

// Deflate lengthens a tile that does not shrink by less than 1 in 1000 (RFC 1951: 5 bytes for each stored
// block). The remaining room up to 2^32 is for the tags of the directories.
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
  // Leaves room for the header, which finish() writes.
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
  for (std::size_t i = pages_.size(); i-- > 0;) {  // each directory points to the next one
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
    const MutableImageView next = picture.next_rows();
    MutableImageView asked = next;
    asked.shape.order = rows.shape().order;
    rows.read(asked);
    if (swapped)
      swap_red_and_blue(next.data, static_cast<std::size_t>(next.shape.width * next.shape.height),
                        static_cast<std::size_t>(shape.channels), size_of(shape.type));
    picture.add(next.shape.height);
  }
  tiff.finish();
}

}  // namespace satin::io
