#pragma once
// The C interface of the module that holds OpenCV. The module is loaded when a file first needs it, because
// linking OpenCV costs a command 50 to 70 ms of start-up.

#include <cstddef>

extern "C" {

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
}

namespace satin::io {
constexpr int opencv_interface_version = 1;
constexpr const char* opencv_entry_name = "satin_opencv";
}  // namespace satin::io
