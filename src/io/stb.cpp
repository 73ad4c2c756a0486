#include "io/stb.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "io/support.h"
#include "satin/error.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#ifdef SATIN_IO_STB_PNG
#define STBI_ONLY_PNG
#endif
#ifdef SATIN_IO_STB_JPEG
#define STBI_ONLY_JPEG
#endif
// Zeroed, so that whatever a damaged file leaves out is the same in every run.
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(old, size) std::realloc(old, size)
#define STBI_FREE(old) std::free(old)
#define STBI_ASSERT(condition) static_cast<void>(condition)
#include <stb/stb_image.h>

namespace {
// stb_image_write does not look at the result.
void* allocate_or_throw(void* old, std::size_t size) {
  void* memory = std::realloc(old, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(size) allocate_or_throw(nullptr, size)
#define STBIW_REALLOC(old, size) allocate_or_throw(old, size)
#define STBIW_FREE(old) std::free(old)
#define STBIW_ASSERT(condition) static_cast<void>(condition)
#include <stb/stb_image_write.h>

namespace satin::io {
namespace {

/// The data as stb reads it. stb refills its own buffer, always at the same address, and reads ahead there;
/// it also reads straight into its result, and then needs all that it asks for.
struct Source {
  Bytes bytes;
  std::size_t position = 0;
  const void* refill = nullptr;
  bool overrun = false;

  void restart() {
    position = 0;
    refill = nullptr;
    overrun = false;
  }
};

int on_read(void* user, char* target, int size) {
  auto& source = *static_cast<Source*>(user);
  if (source.refill == nullptr) source.refill = target;
  const std::size_t left = source.bytes.size() - source.position;
  const std::size_t wanted = size > 0 ? static_cast<std::size_t>(size) : 0;
  const std::size_t count = std::min(left, wanted);
  if (count < wanted && (count == 0 || target != source.refill)) source.overrun = true;
  if (count != 0) std::memcpy(target, source.bytes.data() + source.position, count);
  source.position += count;
  return static_cast<int>(count);
}

void on_skip(void* user, int distance) {
  auto& source = *static_cast<Source*>(user);
  if (distance < 0) {  // back into what was read already
    source.position -=
        std::min(source.position, static_cast<std::size_t>(-static_cast<std::int64_t>(distance)));
    return;
  }
  // Missing padding behind the last row does no harm; a read after a skip that goes too far is noticed there.
  source.position += std::min(source.bytes.size() - source.position, static_cast<std::size_t>(distance));
}

int on_end(void* user) {
  const auto& source = *static_cast<const Source*>(user);
  return source.position >= source.bytes.size() ? 1 : 0;
}

struct StbFree {
  void operator()(void* pixels) const noexcept { stbi_image_free(pixels); }
};

[[noreturn]] void fail(const char* format, const Source& source) {
  if (source.overrun) truncated(format);
  const char* reason = stbi_failure_reason();
  if (reason != nullptr && std::string_view(reason) == "outofmem") throw std::bad_alloc();
  damaged(format, reason != nullptr ? reason : "unknown reason");
}

}  // namespace

Image decode_with_stb(const char* format, Bytes bytes, const ReadOptions& options) {
  const stbi_io_callbacks callbacks{on_read, on_skip, on_end};
  Source source{bytes};
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_callbacks(&callbacks, &source, &width, &height, &channels) == 0) fail(format, source);
  source.restart();
  const bool wide = stbi_is_16_bit_from_callbacks(&callbacks, &source) != 0;
  source.restart();
  const Type type = wide ? Type::u16 : Type::u8;
  accept(static_cast<std::uint64_t>(std::max(width, 0)), static_cast<std::uint64_t>(std::max(height, 0)),
         std::clamp(channels, 1, 4), type, options);

  std::unique_ptr<void, StbFree> pixels;
  if (wide) {
    pixels.reset(stbi_load_16_from_callbacks(&callbacks, &source, &width, &height, &channels, 0));
  } else {
    pixels.reset(stbi_load_from_callbacks(&callbacks, &source, &width, &height, &channels, 0));
  }
  if (pixels == nullptr || source.overrun) fail(format, source);
  const auto columns = static_cast<std::uint64_t>(width), rows = static_cast<std::uint64_t>(height);
  if (channels == 4 && std::string_view(format) == "JPEG") channels = 3;  // the inks have become RGB
  check_limits(columns, rows, channels, type, options.limits);

  Shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  shape.type = type;
  shape.alpha = alpha_of(channels);
  Buffer buffer{{static_cast<std::byte*>(pixels.release()), [](std::byte* p) { stbi_image_free(p); }},
                byte_size(shape)};
  Image image(shape, std::move(buffer), Memory::host);
  if (!options.allocator.allocate) return image;
  Image result(shape, options.allocator);
  std::memcpy(result.data(), image.data(), byte_size(shape));
  return result;
}

namespace {

constexpr std::size_t most_bytes = std::numeric_limits<int>::max() / 2;  // stb counts in int

void on_write(void* user, void* data, int size) {
  if (!static_cast<Sink*>(user)->write(data, static_cast<std::size_t>(size))) throw std::bad_alloc();
}

void check_size(std::size_t size, const char* format) {
  if (size > most_bytes)
    throw Error(ErrorKind::usage, std::string("A picture of ") + std::to_string(size) +
                                      " bytes is too large for the " + format +
                                      " writer of this build. Write .pam, .pfm or .npy instead.");
}

}  // namespace

FileBytes encode_jpeg_with_stb(const ImageView& image, int quality) {
  check_size(byte_size(image.shape), "JPEG");
  Sink sink;
  if (stbi_write_jpg_to_func(on_write, &sink, static_cast<int>(image.shape.width),
                             static_cast<int>(image.shape.height), image.shape.channels, image.data,
                             quality) == 0)
    throw Error(ErrorKind::environment, "JPEG could not be encoded.");
  return std::move(sink.bytes);
}

FileBytes deflate_with_stb(Bytes bytes) {
  check_size(bytes.size(), "PNG");
  int size = 0;
  constexpr int effort = 8;
  // stb does not write to its input; its interface just lacks const.
  auto* input = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  const std::unique_ptr<unsigned char, void (*)(void*)> stream(
      stbi_zlib_compress(input, static_cast<int>(bytes.size()), &size, effort), std::free);
  const auto* first = reinterpret_cast<const std::byte*>(stream.get());
  return {first, first + size};
}

}  // namespace satin::io
