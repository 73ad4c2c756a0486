// Formats that are recognised so that they can be refused with advice.

#include <array>

#include "io/support.h"
#include "metadata/heif_boxes.h"

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
  // The others are TIFF files whose first picture is a small preview, so that their name has to decide.
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

}  // namespace

Codec refused(const char* name, std::vector<std::string_view> extensions,
              bool (*sniff)(Bytes, std::string_view), const char* advice) {
  return {name, std::move(extensions), sniff, nullptr, nullptr, {}, advice};
}

// Here, because a build without libtiff has to know the signature too.
bool sniff_tiff(Bytes bytes, std::string_view) {
  return starts_with(bytes, {"II*\0", 4}) || starts_with(bytes, {"MM\0*", 4}) ||
         starts_with(bytes, {"II+\0", 4}) || starts_with(bytes, {"MM\0+", 4});
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

}  // namespace satin::io
