#include "io/tiff_layout.h"

#include <utility>

#include "metadata/xmp.h"
#include "satin/error.h"

namespace satin::io {
namespace {

Type type_of(const TiffLayout& layout) {
  const bool integer = layout.format == SAMPLEFORMAT_UINT || layout.format == SAMPLEFORMAT_VOID;
  const bool real = layout.format == SAMPLEFORMAT_IEEEFP;
  const int bits = layout.bits;
  if (integer && (bits == 8 || ((bits == 1 || bits == 2 || bits == 4) && layout.samples == 1)))
    return Type::u8;
  if (integer && bits == 16) return Type::u16;
  if (integer && bits == 32) return Type::u32;
  if (integer && bits == 64) return Type::u64;
  if (real && bits == 32) return Type::f32;
  if (real && bits == 64) return Type::f64;
  const char* kind = integer ? "unsigned" : real ? "floating-point" : "signed or complex";
  unsupported("TIFF", std::to_string(bits) + "-bit " + kind + " samples",
              "Convert it to 8 or 16 bits unsigned or to 32-bit floats first.");
}

Alpha read_alpha(TIFF* tiff, const TiffLayout& layout) {
  if (layout.samples % 2 != 0 || layout.photometric == PHOTOMETRIC_SEPARATED) return Alpha::none;
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  // A last channel that nobody describes is opacity: so mean the writers that leave the tag out.
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return Alpha::straight;
  switch (kinds[count - 1]) {
    case EXTRASAMPLE_ASSOCALPHA:
      return Alpha::premultiplied;
    case EXTRASAMPLE_UNASSALPHA:
      return Alpha::straight;
    default:
      return Alpha::none;
  }
}

bool has_cmyk(TIFF* tiff) {
  std::uint16_t inks = INKSET_CMYK;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
  return inks == INKSET_CMYK;
}

/// Photometric meaning of samples in a file without that tag. Follows libtiff: white is 0 in fax codings.
std::uint16_t usual_photometric(const TiffLayout& layout) {
  if (layout.samples >= 3) return PHOTOMETRIC_RGB;
  const bool fax = layout.compression == COMPRESSION_CCITTRLE ||
                   layout.compression == COMPRESSION_CCITTFAX3 ||
                   layout.compression == COMPRESSION_CCITTFAX4 || layout.compression == COMPRESSION_CCITTRLEW;
  return fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
}

void check_photometric(TIFF* tiff, const TiffLayout& layout) {
  switch (layout.photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_MASK:
      return;
    case PHOTOMETRIC_MINISWHITE:
      if (layout.type == Type::u8 || layout.type == Type::u16) return;
      unsupported("TIFF", "white as zero in samples other than 8 or 16 bits",
                  "Convert it to black as zero first.");
    case PHOTOMETRIC_PALETTE:
      if (layout.type == Type::u8 && layout.samples == 1) return;
      unsupported("TIFF", "a palette of this depth", "Convert it to RGB first.");
    case PHOTOMETRIC_SEPARATED:
      if (layout.samples == 4 && has_cmyk(tiff) && (layout.type == Type::u8 || layout.type == Type::u16))
        return;
      unsupported("TIFF", "these inks", "Convert it to RGB first.");
    case PHOTOMETRIC_YCBCR:
      if (layout.compression == COMPRESSION_JPEG && !layout.separate && layout.samples == 3) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return;
      }
      unsupported("TIFF", "YCbCr colour outside of JPEG compression", "Convert it to RGB first.");
    case PHOTOMETRIC_CFA:
    case 34892:  // linear raw
      unsupported("TIFF", "camera RAW data",
                  "Develop it to a 16-bit .tiff first, for example with darktable.");
    default:
      unsupported("TIFF", "photometric interpretation " + std::to_string(layout.photometric),
                  "Convert it to RGB or gray first.");
  }
}

/// XMP says it where the tag is missing, as other programs that turn pictures write it.
void read_orientation(TIFF* tiff, TiffLayout& layout) {
  std::uint32_t size = 0;
  const std::byte* packet = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_ORIENTATION, &layout.orientation) == 0 &&
      TIFFGetField(tiff, TIFFTAG_XMLPACKET, &size, &packet) != 0)
    layout.orientation = static_cast<std::uint16_t>(stored_orientation({}, {packet, size}).value_or(1));
}

}  // namespace

void fail(TiffFile& file) {
  if (file.error.empty()) truncated("TIFF");
  const std::string reason = std::exchange(file.error, {});
  if (reason.starts_with("Fax")) damaged("TIFF", reason);  // damaged codes are unsupported to it
  not_decoded("TIFF", "libtiff", reason, "Save it with LZW or Deflate.");
}

bool has_preview_first(TIFF* tiff) {
  std::uint32_t subfile = 0;
  std::uint16_t children = 0;
  toff_t* offsets = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &subfile);
  return (subfile & FILETYPE_REDUCEDIMAGE) != 0 &&
         TIFFGetField(tiff, TIFFTAG_SUBIFD, &children, &offsets) != 0;
}

TiffLayout read_layout(TIFF* tiff) {
  TiffLayout layout;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
  read_orientation(tiff, layout);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric) == 0)
    layout.photometric = usual_photometric(layout);
  layout.separate = layout.planar == PLANARCONFIG_SEPARATE && layout.samples > 1;

  if (has_preview_first(tiff))
    unsupported("TIFF", "a preview before the picture (camera RAW)",
                "Develop it to a 16-bit .tiff first, for example with darktable.");
  layout.type = type_of(layout);
  check_photometric(tiff, layout);
  layout.alpha = read_alpha(tiff, layout);
  if (TIFFIsCODECConfigured(layout.compression) == 0)
    unsupported("TIFF", "compression " + std::to_string(layout.compression), "Save it with LZW or Deflate.");
  return layout;
}

}  // namespace satin::io
