// The list of formats, in the order in which an input is compared with them. Weak signatures come last.
//
// The file also holds what is known of a codec before its module is loaded, and the formats that are only
// recognised, so that they can be refused with advice.

#include <array>
#include <map>
#include <mutex>

#include "io/codec_steps.h"
#include "io/module.h"
#include "metadata/heif_boxes.h"
#include "satin/error.h"
#include "satin/version.h"

namespace satin::io {
namespace {

bool brand_is(Bytes bytes, std::initializer_list<std::string_view> brands) {
  if (!starts_with(bytes, "ftyp", 4)) return false;
  for (const std::string_view brand : brands)
    if (starts_with(bytes, brand, 8)) return true;
  return false;
}

bool sniff_gif(Bytes bytes, std::string_view) {
  return starts_with(bytes, "GIF87a") || starts_with(bytes, "GIF89a");
}
bool sniff_video(Bytes bytes, std::string_view) {
  const bool other = brand_is(bytes, {"crx ", "jp2 "}) || is_heic(bytes) || is_avif(bytes);
  return (starts_with(bytes, "ftyp", 4) && !other) || starts_with(bytes, "\x1a\x45\xdf\xa3");
}

bool sniff_raw(Bytes bytes, std::string_view extension) {
  if (brand_is(bytes, {"crx "}) || starts_with(bytes, "FUJIFILMCCD-RAW") ||
      starts_with(bytes, {"IIU\0", 4}) || starts_with(bytes, "IIRO") || starts_with(bytes, "IIRS") ||
      starts_with(bytes, "MMOR") || starts_with(bytes, "FOVb"))
    return true;
  if (!sniff_tiff(bytes, extension)) return false;
  if (starts_with(bytes, "CR", 8)) return true;
  // The other RAW formats are TIFF files whose first picture is a small preview: only the name tells them
  // apart.
  constexpr std::array names{".nef", ".nrw", ".arw", ".srf", ".sr2", ".dng", ".pef", ".srw", ".cr2",
                             ".orf", ".rw2", ".3fr", ".iiq", ".mef", ".mos", ".erf", ".dcr", ".kdc"};
  for (const std::string_view name : names)
    if (extension == name) return true;
  return false;
}

bool sniff_jxl(Bytes bytes, std::string_view) {
  return starts_with(bytes, "\xff\x0a") || starts_with(bytes, {"\0\0\0\x0cJXL ", 8});
}
bool sniff_psd(Bytes bytes, std::string_view) { return starts_with(bytes, "8BPS"); }
bool sniff_pdf(Bytes bytes, std::string_view) {
  return starts_with(bytes, "%PDF") || starts_with(bytes, "%!PS");
}

bool sniff_exr(Bytes bytes, std::string_view) { return starts_with(bytes, "\x76\x2f\x31\x01"); }

bool sniff_webp(Bytes bytes, std::string_view) {
  return starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8);
}

bool sniff_jpeg2000(Bytes bytes, std::string_view) {
  return starts_with(bytes, {"\0\0\0\x0cjP  \r\n\x87\n", 12}) || starts_with(bytes, "\xff\x4f\xff\x51");
}

bool sniff_heic(Bytes bytes, std::string_view) { return is_heic(bytes); }
bool sniff_avif(Bytes bytes, std::string_view) { return is_avif(bytes); }

/// Returns the record of a format that is only recognised, to be refused with advice.
Codec refused(const char* name, std::vector<std::string_view> extensions,
              bool (*sniff)(Bytes, std::string_view), const char* advice) {
  return {name, std::move(extensions), sniff, nullptr, nullptr, {}, advice};
}

/// Returns the record of a format whose functions are in a module. `lacking` is the advice where this build
/// has no such module.
Codec in_module(const ModuleOfCodecs& module, const char* name, std::vector<std::string_view> extensions,
                bool (*sniff)(Bytes, std::string_view), const char* lacking) {
  Codec codec = refused(name, std::move(extensions), sniff, lacking);
  if (module.is_built) codec.module = &module;
  return codec;
}

Codec exr_codec() {
  static constexpr ModuleOfCodecs module{SATIN_IO_EXR, "satin_io_exr.so",
                                         "OpenEXR needs Satin's OpenEXR module",
                                         "Install it with OpenEXR, or use .tiff or .pfm."};
  Codec codec = in_module(
      module, "OpenEXR", {".exr"}, sniff_exr,
      "This build of Satin has no OpenEXR. Build it with OpenEXR and SATIN_CODECS=FULL, or convert the file "
      "to a float .tiff or to .pfm first, for example with oiiotool.");
  codec.several.word = "part";
  codec.holds = {set_of(Type::f32), set_of(1, 2, 3, 4), set_of(Alpha::none, Alpha::premultiplied)};
  codec.holds.metadata = set_of(Carried::channels, Carried::windows);
  return codec;
}

constexpr ModuleOfCodecs opencv{SATIN_IO_OPENCV, "satin_io_opencv.so",
                                "WebP and JPEG 2000 need Satin's OpenCV module",
                                "Install it with OpenCV, or use .png or .jpg."};

Codec webp_codec() {
  Codec codec =
      in_module(opencv, "WebP", {".webp"}, sniff_webp,
                "This build of Satin has no WebP. Build it with OpenCV and SATIN_CODECS=FULL, or use "
                ".png or .jpg.");
  codec.holds = {set_of(Type::u8), set_of(1, 3, 4), set_of(Alpha::none, Alpha::straight)};
  codec.holds.max_side = 16383;
  codec.holds.metadata = set_of(Carried::icc, Carried::exif, Carried::xmp);
  return codec;
}

/// Reads the size segment, which begins the codestream.
std::optional<bool> jpeg2000_fits_jpeg(Bytes bytes) {
  const std::size_t at = text_of(bytes).find("\xff\x4f\xff\x51");
  constexpr std::size_t components = 40, bits = 42;
  if (at == std::string_view::npos || bytes.size() - at <= bits) return std::nullopt;
  return be16(bytes, at + components) % 2 == 1 && byte_at(bytes, at + bits) == 7;  // bits - 1, unsigned
}

Codec jpeg2000_codec() {
  Codec codec = in_module(opencv, "JPEG 2000", {".jp2", ".j2k", ".j2c", ".jpf"}, sniff_jpeg2000,
                          "This build of Satin has no JPEG 2000. Build it with OpenCV and SATIN_CODECS=FULL, "
                          "or use .png or .jpg.");
  if (codec.module != nullptr)
    codec.advice = "Satin does not write JPEG 2000. Write .png, .tiff or .webp instead.";
  codec.fits_jpeg = jpeg2000_fits_jpeg;
  return codec;
}

std::optional<bool> heif_fits_jpeg(Bytes bytes) {
  const std::optional<HeifPicture> picture = read_heif_boxes(bytes);
  return picture ? std::optional(picture->bits == 8 && !picture->alpha) : std::nullopt;
}

Codec heif_codec(const char* name, std::vector<std::string_view> extensions,
                 bool (*sniff)(Bytes, std::string_view)) {
  static constexpr ModuleOfCodecs module{
      SATIN_IO_HEIF, "satin_io_heif.so", "HEIC and AVIF need Satin's module for libheif",
      "Install it (Debian: satin-heif, with libheif1), or convert the file to .jpg or .png."};
  Codec codec =
      in_module(module, name, std::move(extensions), sniff,
                "This build of Satin has no HEIC and AVIF. Build it with libheif (Debian: libheif-dev) and "
                "SATIN_CODECS=FULL, or convert the file to .png first, for example with heif-convert.");
  if (codec.module != nullptr) codec.advice = "Satin only reads them. Write .jpg, .png or .tiff instead.";
  codec.fits_jpeg = heif_fits_jpeg;
  return codec;
}

std::vector<Codec> refused_codecs() {
  return {
      refused("GIF", {".gif"}, sniff_gif,
              "Satin works on still pictures. Save the frames as .png first, for example with ffmpeg."),
      refused("camera RAW", {".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2"}, sniff_raw,
              "Satin does not develop RAW files. Develop it to a 16-bit .tiff first, for example with "
              "darktable or "
              "RawTherapee."),
      refused("JPEG XL", {".jxl"}, sniff_jxl,
              "Satin has no JPEG XL decoder. Convert it to .png first, for example with djxl."),
      refused("Photoshop", {".psd"}, sniff_psd, "Export the picture as .png or .tiff first."),
      refused("PDF or PostScript", {".pdf", ".ps"}, sniff_pdf,
              "Satin works on pixels. Render the pages to .png first, for example with pdftoppm."),
      refused("video", {".mp4", ".mov", ".mkv", ".webm"}, sniff_video,
              "Satin works on still pictures. Save the frames as .png first, for example with ffmpeg."),
  };
}

std::vector<Codec> make_list() {
  std::vector<Codec> list;
  for (Codec& codec : refused_codecs()) list.push_back(std::move(codec));
  list.push_back(png_codec());
  list.push_back(jpeg_codec());
#ifdef SATIN_IO_TIFF
  list.push_back(tiff_codec());
#else
  list.push_back(
      refused("TIFF", {".tiff", ".tif"}, sniff_tiff,
              "This build of Satin has no TIFF. Build it with libtiff and SATIN_CODECS=FULL, or use .png, "
              ".pfm or .npy."));
#endif
  list.push_back(exr_codec());
  list.push_back(webp_codec());
  list.push_back(jpeg2000_codec());
  list.push_back(heif_codec("HEIC", {".heic", ".heif", ".hif"}, sniff_heic));
  list.push_back(heif_codec("AVIF", {".avif"}, sniff_avif));
  list.push_back(bmp_codec());
  list.push_back(hdr_codec());
  for (Codec& codec : pnm_codecs()) list.push_back(std::move(codec));
  list.push_back(pfm_codec());
  list.push_back(npy_codec());
  list.push_back(tga_codec());
  return list;
}

bool has(unsigned set, unsigned value) { return (set >> value & 1U) != 0; }

bool holds(const Holds& holds, const Shape& shape) {
  return has(holds.types, static_cast<unsigned>(shape.type)) &&
         has(holds.channels, static_cast<unsigned>(shape.channels)) &&
         has(holds.alpha, static_cast<unsigned>(shape.alpha)) && shape.width <= holds.max_side &&
         shape.height <= holds.max_side &&
         (holds.extra || shape.channels % 2 != 0 || shape.alpha != Alpha::none);
}

std::string describe_alpha(const Shape& shape) {
  if (shape.alpha == Alpha::straight) return " with alpha";
  if (shape.alpha == Alpha::premultiplied) return " with premultiplied alpha";
  return shape.channels % 2 == 0 ? " without alpha" : "";
}

}  // namespace

bool sniff_tiff(Bytes bytes, std::string_view) {
  return starts_with(bytes, {"II*\0", 4}) || starts_with(bytes, {"MM\0*", 4}) ||
         starts_with(bytes, {"II+\0", 4}) || starts_with(bytes, {"MM\0+", 4});
}

const std::vector<Codec>& codecs() {
  static const std::vector<Codec> list = make_list();
  return list;
}

const Codec& loaded(const Codec& codec) {
  if (codec.module == nullptr) return codec;
  static std::mutex mutex;
  static std::map<const Codec*, Codec> complete;
  const std::lock_guard lock(mutex);
  if (const auto known = complete.find(&codec); known != complete.end()) return known->second;
  const auto& [is_built, file, needed, remedy] = *codec.module;
  const Module<CodecModule> module(file, "satin_codecs", std::string_view(version()));
  if (module.functions == nullptr)
    throw Error(ErrorKind::environment,
                std::string(needed) + ", and it could not be loaded (" + module.error + "). " + remedy);
  Codec result = codec;
  module.functions->complete(result);
  result.module = nullptr;
  return complete.emplace(&codec, std::move(result)).first->second;
}

std::vector<std::string> types_in(const Holds& holds) {
  std::vector<std::string> names;
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
    if (has(holds.types, static_cast<unsigned>(type))) names.emplace_back(name_of(type));
  return names;
}

std::vector<std::string> channels_in(const Holds& holds) {
  std::vector<std::string> counts;
  for (unsigned n = 1; n <= 4; ++n)
    if (has(holds.channels, n)) counts.push_back(std::to_string(n));
  return counts;
}

std::string why_not(const Codec& codec, const Shape& shape) {
  if (holds(codec.holds, shape)) return {};
  std::string text = std::string(codec.name) + " holds " + one_of(types_in(codec.holds)) + " in " +
                     one_of(channels_in(codec.holds)) +
                     (codec.holds.channels == set_of(1) ? " channel" : " channels");
  if (!codec.holds.extra && has(codec.holds.alpha, static_cast<unsigned>(Alpha::straight)))
    text += ", the last of an even number being alpha,";
  if (shape.width > codec.holds.max_side || shape.height > codec.holds.max_side)
    text += " up to " + std::to_string(codec.holds.max_side) + " pixels a side";
  text += ", not " + describe(shape) + describe_alpha(shape) + ".";
  if (text.find(",,") != std::string::npos) text.replace(text.find(",,"), 2, ",");

  std::vector<std::string> others;
  for (const Codec& other : codecs())
    if (other.writes() && holds(other.holds, shape)) others.emplace_back(other.extensions.front());
  if (!others.empty()) text += " Write " + one_of(others) + " instead.";
  return text;
}

}  // namespace satin::io
