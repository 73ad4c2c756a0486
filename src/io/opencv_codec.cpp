#include "opencv_codec.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>

#include "opencv_interface.h"
#include "satin/error.h"
#include "support.h"

namespace satin::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "satin_io_opencv.so";

/// Where the module can be: beside the binary that this code is part of, beside the program, where `install`
/// puts it.
std::vector<fs::path> candidates() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&require_opencv), &self) != 0 && self.dli_fname != nullptr)
    folders.push_back(fs::canonical(self.dli_fname, ignored).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    if (folder.empty()) continue;
    files.push_back(folder / module_name);
    files.push_back(folder / "satin" / module_name);
    files.push_back(folder / ".." / SATIN_IO_MODULE_SUBDIR / module_name);
  }
  files.emplace_back(fs::path(SATIN_IO_MODULE_DIR) / module_name);
  return files;
}

struct Loaded {
  const SatinOpenCv* module = nullptr;
  std::string error;
};

Loaded load() {
  Loaded result;
  for (const fs::path& file : candidates()) {
    std::error_code ignored;
    if (!file.is_absolute() || !fs::exists(file, ignored)) continue;
    // Never unloaded: OpenCV keeps threads and thread-local data.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = dlerror();
      result.error = reason != nullptr ? reason : file.string() + " cannot be loaded";
      continue;
    }
    const auto entry = reinterpret_cast<SatinOpenCvEntry>(dlsym(handle, opencv_entry_name));
    const SatinOpenCv* module = entry != nullptr ? entry() : nullptr;
    if (module != nullptr && module->version == opencv_interface_version) return {module, {}};
    result.error = file.string() + " belongs to another version of Satin";
  }
  if (result.error.empty()) result.error = std::string(module_name) + " was not found";
  return result;
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
  const ReadLimits& limits;
  Image image;
  std::exception_ptr error;
};

void* on_allocate(void* user, int width, int height, int channels, int sample_bytes) {
  auto& receiver = *static_cast<Receiver*>(user);
  try {
    receiver.image = allocate(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height), channels,
                              sample_bytes == 1 ? Type::u8 : Type::u16, alpha_of(channels), receiver.limits);
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

Image decode_with_opencv(const char* format, Bytes bytes, const ReadLimits& limits) {
  Receiver receiver{limits, {}, {}};
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
