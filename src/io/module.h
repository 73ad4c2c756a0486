#pragma once
// Modules: codec libraries that are loaded when a file first needs them, each behind a C interface.
//
// Linking OpenCV would cost every start of the command 50 to 70 ms, and OpenEXR 2 to 3 ms. Debian's libheif
// links an encoder under the GPL, which Satin's own libraries and command stay apart from.

#include <cstddef>
#include <string>

#include "metadata/bytes.h"

namespace satin::io {

/// Returns the function `entry` of the module `file`. It is searched beside the binary of this code, beside
/// the program, and in the installation folder. Returns null with the reason in `error` on failure. Modules
/// are never unloaded.
[[nodiscard]] void* load_module(const char* file, const char* entry, std::string& error);

/// Table of functions of a module, loaded by the constructor.
template <class Functions>
struct Module {
  const Functions* functions = nullptr;
  std::string error;  ///< reason for null `functions`

  Module(const char* file, const char* entry, int version) {
    void* const function = load_module(file, entry, error);
    if (function == nullptr) return;
    functions = reinterpret_cast<const Functions* (*)()>(function)();
    if (functions->version == version) return;
    functions = nullptr;
    error = "it belongs to another version of Satin";
  }
};

/// Write callback of modules: `sink` is a Sink. Returns 0 if there is no memory.
inline int write_to_sink(void* sink, const void* data, std::size_t size) {
  return static_cast<Sink*>(sink)->write(data, size) ? 1 : 0;
}

}  // namespace satin::io

extern "C" {

// OpenCV: WebP and JPEG 2000.
struct SatinOpenCvMessage {
  char text[300];
};

/// Allocates a dense RGB picture with samples of `sample_bytes`; returns null to stop.
using SatinOpenCvAllocate = void* (*)(void* user, int width, int height, int channels, int sample_bytes);
/// Returns 0 to give up.
using SatinOpenCvWrite = int (*)(void* user, const void* data, std::size_t size);

/// Functions of the OpenCV module. Each returns 1, or 0 with a reason in the message.
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

/// A channel. `type` is the type in the file. In memory uint stays, half and float are 32-bit floats.
struct SatinExrChannel {
  const char* name;
  enum SatinExrType type;
  int subsampled;  ///< stored at a lower resolution
  char* data;      ///< first value in memory; null for a channel that is not read
  std::size_t pixel_stride;
  std::size_t row_stride;
};

/// A rectangle of pixels. All four sides are inside.
struct SatinExrWindow {
  int left, top, right, bottom;
};

/// A part of a file. A plain file has exactly one.
struct SatinExrPart {
  const char* name;  ///< empty if it has none
  const char* view;  ///< name of the stereo view, or empty
  struct SatinExrWindow data;
  struct SatinExrWindow display;
  float pixel_aspect;  ///< width of a pixel over its height
  struct SatinExrChannel* channels;
  int count;
};

/// Receives the name of a part; returns 0 to stop.
using SatinExrName = int (*)(void* user, const char* name);
/// Receives a part and sets where its channels are stored; returns 0 to stop.
using SatinExrPlace = int (*)(void* user, const SatinExrPart* part);
/// Returns 0 to give up.
using SatinExrWrite = int (*)(void* user, const void* data, std::size_t size);

enum SatinExrResult { satin_exr_failed = 0, satin_exr_good = 1, satin_exr_partial = 2 };

struct SatinExr {
  int version;
  /// Passes the names of all parts to `show`, in their order.
  enum SatinExrResult (*list)(const char* data, std::size_t size, SatinExrName show, void* user,
                              SatinExrMessage* message);
  /// `part` counts from 0. With `partial`, rows that cannot be read stay unchanged.
  enum SatinExrResult (*decode)(const char* data, std::size_t size, int part, int partial,
                                SatinExrPlace place, void* user, SatinExrMessage* message);
  /// If there are several parts, their names differ, and all have the display window and pixel aspect of the
  /// first.
  enum SatinExrResult (*encode)(const SatinExrPart* parts, int count, SatinExrWrite write, void* user,
                                SatinExrMessage* message);
};

// libheif: HEIC and AVIF.
struct SatinHeifMessage {
  char text[300];
  int lacks;  ///< 1 if the file may be intact, but libheif does not support its kind
};

struct SatinHeifBytes {
  const unsigned char* data;
  std::size_t size;
};

/// Meaning of depth codes by the bit stream; `known` is 0 if it does not say.
struct SatinHeifDepth {
  int known;
  int is_distance;  ///< 1 if codes are linear in distance, 0 if linear in its inverse
  double first;     ///< value of the smallest code: 1 / distance, or distance
  double last;      ///< value of the largest code
};

/// The picture of an open file, or an auxiliary picture. All pointers are valid as long as the file is open.
struct SatinHeifItem {
  const char* auxiliary_type;  ///< empty for the picture itself
  int width, height;           ///< upright
  int bits;                    ///< bits per sample
  int has_alpha;
  int is_premultiplied;
  int primaries, transfer, matrix;  ///< code points of ITU-T H.273; 2 if unknown
  int is_limited;                   ///< 1 if black and white are 16 and 235 in 8 bits
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
  /// Returns the items, the picture first.
  const SatinHeifItem* (*items)(const SatinHeifFile* file, int* count);
  /// Returns the numbers of the other pictures that are not hidden, thumbnails or auxiliary.
  const unsigned* (*pictures)(const SatinHeifFile* file, int* count);
  /// Decodes an upright picture: 3 or 4 channels are colours, 1 and 2 are luma. Samples are bytes for 8 bits,
  /// otherwise 16-bit words with unscaled codes. Returns 1 on success and 0 with a reason in the message.
  /// Returns 2, without pixels, if the picture is turned other than libheif said: its width and height have
  /// then been swapped. Afterwards the item has the colour description of the bit stream, if the file had
  /// none.
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
