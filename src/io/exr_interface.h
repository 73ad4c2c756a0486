#pragma once
// The C interface of the module that holds OpenEXR. The module is loaded when a file first needs it, because
// linking OpenEXR costs a command 2 to 3 ms of start-up.

#include <cstddef>

extern "C" {

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
}

namespace satin::io {
constexpr int exr_interface_version = 2;
constexpr const char* exr_entry_name = "satin_exr";
}  // namespace satin::io
