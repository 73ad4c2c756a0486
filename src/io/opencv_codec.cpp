#include "io/opencv_codec.h"

#include <exception>

#include "io/module.h"
#include "io/opencv_interface.h"
#include "io/support.h"
#include "satin/error.h"

namespace satin::io {
namespace {

struct Loaded {
  const SatinOpenCv* module = nullptr;
  std::string error;
};

Loaded load() {
  const ModuleEntry entry = load_module("satin_io_opencv.so", opencv_entry_name);
  if (entry.function == nullptr) return {nullptr, entry.error};
  const SatinOpenCv* module = reinterpret_cast<SatinOpenCvEntry>(entry.function)();
  if (module->version == opencv_interface_version) return {module, {}};
  return {nullptr, "it belongs to another version of Satin"};
}

const SatinOpenCv& opencv() {
  static const Loaded loaded = load();
  if (loaded.module == nullptr)
    throw Error(ErrorKind::environment,
                "WebP and JPEG 2000 need Satin's OpenCV module, and it could not be loaded (" + loaded.error +
                    "). Install it with OpenCV, or use .png or .jpg.");
  return *loaded.module;
}

struct Receiver {
  const ReadOptions& options;
  Image image;
  std::exception_ptr error;
};

void* on_allocate(void* user, int width, int height, int channels, int sample_bytes) {
  auto& receiver = *static_cast<Receiver*>(user);
  try {
    receiver.image = allocate(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height), channels,
                              sample_bytes == 1 ? Type::u8 : Type::u16, alpha_of(channels), receiver.options);
    return receiver.image.data();
  } catch (...) {
    receiver.error = std::current_exception();
    return nullptr;
  }
}

int on_write(void* user, const void* data, std::size_t size) {
  return static_cast<Sink*>(user)->write(data, size) ? 1 : 0;
}

}  // namespace

void require_opencv() { static_cast<void>(opencv()); }

Image decode_with_opencv(const char* format, Bytes bytes, const ReadOptions& options) {
  Receiver receiver{options, {}, {}};
  SatinOpenCvMessage message{};
  const int good = opencv().decode(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                                   on_allocate, &receiver, &message);
  if (receiver.error != nullptr) std::rethrow_exception(receiver.error);
  if (good == 0) damaged(format, message.text);
  return std::move(receiver.image);
}

FileBytes encode_with_opencv(const char* format, const ImageView& image, const char* extension, int quality) {
  Sink sink;
  SatinOpenCvMessage message{};
  const int good = opencv().encode(reinterpret_cast<const unsigned char*>(image.data),
                                   static_cast<int>(image.shape.width), static_cast<int>(image.shape.height),
                                   image.shape.channels, extension, quality, on_write, &sink, &message);
  if (good == 0)
    throw Error(ErrorKind::environment, std::string(format) + " could not be encoded: " + message.text + ".");
  return std::move(sink.bytes);
}

}  // namespace satin::io
