#pragma once
// The C interface of the module that holds nvJPEG. The module is loaded when nvJPEG is asked for, so that
// neither a build nor a start of the command needs libnvjpeg.so.

#include <cstddef>

extern "C" {

struct SatinNvjpegMessage {
  char text[300];
};

enum SatinNvjpegEngine {
  satin_nvjpeg_automatic = 0,
  satin_nvjpeg_gpu = 1,
  satin_nvjpeg_cpu = 2,
  satin_nvjpeg_hardware = 3
};

enum SatinNvjpegResult {
  satin_nvjpeg_lost = 0,  ///< the GPU does not answer any more; the message says why
  satin_nvjpeg_good = 1,
  satin_nvjpeg_refused = 2,   ///< nvJPEG does not take this file
  satin_nvjpeg_passed_on = 3  ///< it takes it, but could not decode it; the message says why
};

/// nvJPEG on one GPU.
struct SatinNvjpegDecoder;

/// A file and densely packed memory of the host for its pixels; 1 channel is grey, 3 are RGB.
struct SatinNvjpegJob {
  const unsigned char* data;
  std::size_t size;
  int width;
  int height;
  int channels;
  unsigned char* pixels;
};

struct SatinNvjpeg {
  int version;
  /// Null with a reason in the message.
  struct SatinNvjpegDecoder* (*open)(int device, enum SatinNvjpegEngine engine,
                                     struct SatinNvjpegMessage* message);
  void (*close)(struct SatinNvjpegDecoder* decoder);
  /// From any number of threads at once.
  enum SatinNvjpegResult (*decode)(struct SatinNvjpegDecoder* decoder, const struct SatinNvjpegJob* job,
                                   struct SatinNvjpegMessage* message);
};
}

namespace satin::io {
constexpr int nvjpeg_interface_version = 1;
constexpr const char* nvjpeg_entry_name = "satin_nvjpeg";
}  // namespace satin::io
