#pragma once
// Modules: codec libraries that are loaded when a file first needs them, each behind a C interface.
//
// Linking OpenCV would cost every start of the command 50 to 70 ms, and OpenEXR 2 to 3 ms. Debian's libheif
// links an encoder under the GPL, which Satin's own libraries and command stay apart from.

#include <cstddef>
#include <string>

#include "metadata/bytes.h"

namespace satin::io {

/// The function `entry` of the module `file`, looked for beside the binary that this code is part of, beside
/// the program, and where `install` puts it; null with the reason in `error`. A module is never unloaded.
[[nodiscard]] void* load_module(const char* file, const char* entry, std::string& error);

/// The functions of a module, which its entry gives.
template <class Functions>
struct Module {
  const Functions* functions = nullptr;
  std::string error;  ///< why there are none

  Module(const char* file, const char* entry, int version) {
    void* const function = load_module(file, entry, error);
    if (function == nullptr) return;
    functions = reinterpret_cast<const Functions* (*)()>(function)();
    if (functions->version == version) return;
    functions = nullptr;
    error = "it belongs to another version of Satin";
  }
};

/// What a module writes the file to that it makes: `sink` is a Sink. Returns 0 if there is no memory.
inline int write_to_sink(void* sink, const void* data, std::size_t size) {
  return static_cast<Sink*>(sink)->write(data, size) ? 1 : 0;
}

}  // namespace satin::io

extern "C" {

// OpenCV: WebP and JPEG 2000.
struct SatinOpenCvMessage {
  char text[300];
};

/// Memory for a densely packed RGB picture of samples of `sample_bytes`; null to give up.
using SatinOpenCvAllocate = void* (*)(void* user, int width, int height, int channels, int sample_bytes);
/// Returns 0 to give up.
using SatinOpenCvWrite = int (*)(void* user, const void* data, std::size_t size);

/// Each function returns 1, or 0 with a reason in the message.
struct SatinOpenCv {
  int version;
  int (*decode)(const unsigned char* data, std::size_t size, SatinOpenCvAllocate allocate, void* user,
                SatinOpenCvMessage* message);
  int (*encode)(const unsigned char* pixels, int width, int height, int channels, const char* extension,
                int quality, SatinOpenCvWrite write, void* user, SatinOpenCvMessage* message);
};

// OpenEXR.
enum SatinExrType { satin_exr_uint = 0, satin_exr_half = 1, satin_exr_float = 2 };

struct SatinExrMessage {
  char text[300];
};

/// One channel. `type` is that of the file; in memory uint stays, half and float are 32-bit floats.
struct SatinExrChannel {
  const char* name;
  enum SatinExrType type;
  int subsampled;  ///< stored at a lower resolution
  char* data;      ///< first value in memory; null for a channel that is not read
  std::size_t pixel_stride;
  std::size_t row_stride;
};

/// Pixels from the left and top to the right and bottom ones, these included.
struct SatinExrWindow {
  int left, top, right, bottom;
};

/// One part of a file; a file of one part is that part.
struct SatinExrPart {
  const char* name;  ///< empty if it has none
  const char* view;  ///< likewise; of stereo pictures
  struct SatinExrWindow data;
  struct SatinExrWindow display;
  float pixel_aspect;  ///< width of a pixel over its height
  struct SatinExrChannel* channels;
  int count;
};

/// Shows the name of a part; returns 0 to give up.
using SatinExrName = int (*)(void* user, const char* name);
/// Shows a part, and takes where its channels go; returns 0 to give up.
using SatinExrPlace = int (*)(void* user, const SatinExrPart* part);
/// Returns 0 to give up.
using SatinExrWrite = int (*)(void* user, const void* data, std::size_t size);

enum SatinExrResult { satin_exr_failed = 0, satin_exr_good = 1, satin_exr_partial = 2 };

struct SatinExr {
  int version;
  /// Shows the names of all parts in their order.
  enum SatinExrResult (*list)(const char* data, std::size_t size, SatinExrName show, void* user,
                              SatinExrMessage* message);
  /// `part` counts from 0. `partial`: rows that cannot be read are left as they are.
  enum SatinExrResult (*decode)(const char* data, std::size_t size, int part, int partial,
                                SatinExrPlace place, void* user, SatinExrMessage* message);
  /// Several parts have different names, and the display window and the shape of pixels of the first one.
  enum SatinExrResult (*encode)(const SatinExrPart* parts, int count, SatinExrWrite write, void* user,
                                SatinExrMessage* message);
};

// libheif: HEIC and AVIF.
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
constexpr int opencv_interface_version = 1;
constexpr const char* opencv_entry_name = "satin_opencv";
constexpr int exr_interface_version = 2;
constexpr const char* exr_entry_name = "satin_exr";
constexpr int heif_interface_version = 2;
constexpr const char* heif_entry_name = "satin_heif";
}  // namespace satin::io
