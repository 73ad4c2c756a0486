#include "io/tiff_file.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "metadata/exif.h"
#include "metadata/resolution.h"
#include "satin/error.h"

namespace satin::io {
namespace {

TiffFile& file_of(thandle_t handle) { return *static_cast<TiffFile*>(handle); }

/// A file in memory that is written.
class TiffOutput final : public TiffFile {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept override { return sink_.bytes.size(); }
  [[nodiscard]] std::size_t read(std::uint64_t at, std::span<std::byte> target) noexcept override {
    return TiffInput(sink_.bytes).read(at, target);
  }
  [[nodiscard]] bool write(std::uint64_t at, Bytes bytes) noexcept override {
    sink_.position = at;
    return sink_.write(bytes.data(), bytes.size());
  }
  [[nodiscard]] FileBytes& bytes() noexcept { return sink_.bytes; }

 private:
  Sink sink_;
};

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
  if (size < 0 || !file.write(file.position, bytes)) return -1;
  file.position += bytes.size();
  return size;
}

toff_t on_size(thandle_t handle) { return file_of(handle).size(); }

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  TiffFile& file = file_of(handle);
  // Offsets from the middle and the end come as negative numbers in an unsigned type: wrapping is wanted.
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

// Damage to fax and JPEG data is only a warning to libtiff; other warnings are about odd tags.
int on_warning(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments) {
  const std::string_view name = module != nullptr ? module : "";
  if (name.substr(0, 3) == "Fax" || name == "JPEGLib") on_error(tiff, user, module, format, arguments);
  return 1;
}
#endif

/// Deflate of bytes and 16-bit samples, with differences of neighbours, is lossless and read everywhere.
/// Tables and floats hardly shrink and stay plain, so that every reader takes them.
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
  // Pages are counted in 16 bits, and 0 stands for an unknown number of all.
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
  FileBytes strip(row_bytes *
                  static_cast<std::size_t>(rows_per_strip));  // libtiff may change what it is given
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

std::size_t TiffInput::read(std::uint64_t at, std::span<std::byte> target) noexcept {
  if (at >= bytes_.size()) return 0;
  const std::size_t count = std::min<std::size_t>(target.size(), bytes_.size() - at);
  std::memcpy(target.data(), bytes_.data() + at, count);
  return count;
}

std::size_t TiffOnDisk::read(std::uint64_t at, std::span<std::byte> target) noexcept {
  int code = 0;
  const std::size_t count = file_.read_some(at, target, code);
  if (code != 0 && error.empty()) error = "reading failed: " + error_text(code);
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

FileBytes encode_tiff(const ImageView& image, const WriteOptions& options) {
  return encode_tiff_pages({&image, 1}, {&options, 1});
}

FileBytes encode_tiff_pages(std::span<const ImageView> images, std::span<const WriteOptions> options) {
  constexpr std::size_t classic_limit = std::size_t{4'000'000'000};  // offsets of classic TIFF have 32 bits
  const std::size_t size =
      std::accumulate(images.begin(), images.end(), std::size_t{0},
                      [](std::size_t sum, const ImageView& image) { return sum + byte_size(image.shape); });
  const bool classic = size <= classic_limit;
  TiffOutput file;
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
  if (classic) add_to_tiff(file.bytes(), tags);
  return std::move(file.bytes());
}

FileBytes encode_tiff_tile(const Shape& tile, std::span<std::byte> pixels) {
  TiffOutput file;
  const TiffHandle tiff = open_tiff(file, "wlm");
  const bool good =
      tiff != nullptr && set_tags(tiff.get(), tile) &&
      TIFFSetField(tiff.get(), TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(tile.width)) != 0 &&
      TIFFSetField(tiff.get(), TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile.height)) != 0 &&
      TIFFWriteEncodedTile(tiff.get(), 0, pixels.data(), static_cast<tmsize_t>(pixels.size())) >= 0;
  if (!good || !file.error.empty()) not_encoded("TIFF", file.error);
  const std::size_t start = TIFFGetStrileOffset(tiff.get(), 0);
  const std::size_t size = TIFFGetStrileByteCount(tiff.get(), 0);
  return copy_of(Bytes(file.bytes()).subspan(start, size));
}

}  // namespace satin::io
