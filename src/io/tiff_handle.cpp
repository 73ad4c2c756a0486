#include "io/tiff_handle.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace satin::io {
namespace {

TiffFile& file_of(thandle_t handle) { return *static_cast<TiffFile*>(handle); }

tmsize_t on_read(thandle_t handle, void* target, tmsize_t size) {
  TiffFile& file = file_of(handle);
  const Bytes bytes = file.writing ? Bytes(file.output.bytes) : file.input;
  std::size_t& position = file.writing ? file.output.position : file.position;
  if (size <= 0 || position >= bytes.size()) return 0;
  const std::size_t count = std::min(static_cast<std::size_t>(size), bytes.size() - position);
  std::memcpy(target, bytes.data() + position, count);
  position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t on_write(thandle_t handle, void* data, tmsize_t size) {
  TiffFile& file = file_of(handle);
  if (!file.writing || size < 0 || !file.output.write(data, static_cast<std::size_t>(size))) return -1;
  return size;
}

toff_t on_size(thandle_t handle) {
  const TiffFile& file = file_of(handle);
  return file.writing ? file.output.bytes.size() : file.input.size();
}

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  TiffFile& file = file_of(handle);
  std::size_t& position = file.writing ? file.output.position : file.position;
  // Offsets from the middle and the end come as negative numbers in an unsigned type: wrapping is wanted.
  if (whence == SEEK_CUR) offset += position;
  if (whence == SEEK_END) offset += on_size(handle);
  position = offset;
  return offset;
}

int on_close(thandle_t) { return 0; }

#if defined(TIFFLIB_AT_LEAST)
int on_error(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  std::array<char, 300> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string& error = static_cast<TiffFile*>(user)->error;
  if (error.empty()) error = (module != nullptr ? std::string(module) + ": " : std::string()) + text.data();
  return 1;
}

// Damage to fax and JPEG data is only a warning to libtiff; other warnings are about odd tags.
int on_warning(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments) {
  const std::string_view name = module != nullptr ? module : "";
  if (name.substr(0, 3) == "Fax" || name == "JPEGLib") on_error(tiff, user, module, format, arguments);
  return 1;
}
#endif

}  // namespace

TiffHandle open_tiff(TiffFile& file, const char* mode) {
#if defined(TIFFLIB_AT_LEAST)
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (options == nullptr) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &file);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &file);
  return TiffHandle(TIFFClientOpenExt("memory", mode, &file, on_read, on_write, on_seek, on_close, on_size,
                                      nullptr, nullptr, options.get()));
#else
  // Before 4.5, handlers belong to the process: they can only be silenced.
  static const bool silenced = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  static_cast<void>(silenced);
  return TiffHandle(
      TIFFClientOpen("memory", mode, &file, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr));
#endif
}

}  // namespace satin::io
