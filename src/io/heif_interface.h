#pragma once
// The C interface of the module that holds libheif. The module is loaded when a file first needs it: Debian's
// libheif links an encoder under the GPL, which Satin's libraries and command stay apart from.

#include <cstddef>

extern "C" {

struct SatinHeifMessage {
  char text[300];
  int lacks;  ///< the file may be whole: libheif does not read its kind
};

struct SatinHeifBytes {
  const unsigned char* data;
  std::size_t size;
};

/// How depth is coded by the bit stream: 0 for what it does not say.
struct SatinHeifDepth {
  int known;
  int is_distance;  ///< codes are even in distance, otherwise in its inverse
  double first;     ///< value of the smallest code: 1 / distance, or distance
  double last;      ///< value of the largest code
};

/// The picture of an open file, or one that is auxiliary to it. Everything lives as long as the file.
struct SatinHeifItem {
  const char* auxiliary_type;  ///< empty: the picture itself
  int width, height;           ///< upright
  int bits;                    ///< of a sample
  int has_alpha;
  int is_premultiplied;
  int primaries, transfer, matrix;  ///< numbers of ITU-T H.273; 2: unknown
  int is_limited;                   ///< black and white are 16 and 235 of 8 bits
  SatinHeifBytes icc, exif, xmp;
  SatinHeifDepth depth;
};

struct SatinHeifFile;  ///< an open file

struct SatinHeif {
  int version;
  /// Opens the picture with this number, or the primary one for 0. The data must outlive the file. Null with
  /// a reason in the message.
  SatinHeifFile* (*open)(const void* data, std::size_t size, unsigned picture, SatinHeifMessage* message);
  void (*close)(SatinHeifFile* file);
  /// The picture first.
  const SatinHeifItem* (*items)(const SatinHeifFile* file, int* count);
  /// The numbers of the pictures beside the primary one that are not hidden, thumbnails or auxiliary.
  const unsigned* (*pictures)(const SatinHeifFile* file, int* count);
  /// Decodes an upright picture: 3 or 4 channels are colours, 1 and 2 are luma. Samples are bytes for 8 bits,
  /// otherwise 16-bit words that hold the codes as they are. Returns 1, or 0 with a reason in the message, or
  /// 2 without pixels if the picture lies otherwise than libheif said: its width and height are exchanged
  /// now. Afterwards what is said of colours is what the bit stream says, if the file did not say it.
  int (*decode)(SatinHeifFile* file, int item, int channels, void* pixels, SatinHeifMessage* message);
};
}

namespace satin::io {
constexpr int heif_interface_version = 2;
constexpr const char* heif_entry_name = "satin_heif";
}  // namespace satin::io
