// libFuzzer: any bytes give a picture or an Error, and a picture can be written again.
//
//   cmake -S . -B build-fuzz -DCMAKE_CXX_COMPILER=clang++ -DSATIN_FUZZ=ON
//   cmake --build build-fuzz --target decode_fuzz satin_fuzz_corpus
//   build-fuzz/satin_fuzz_corpus corpus && build-fuzz/decode_fuzz -dict=tests/fuzz/decode.dict corpus

#include <cstdint>
#include <cstdlib>

#include "satin/error.h"
#include "satin/io.h"
#include "satin/tone_curves.h"
#include "tests/fuzz/read_options.h"

namespace {

/// Foreign metadata must pass every writer of metadata blocks.
void write_again(const satin::Picture& picture) {
  satin::WriteOptions options;
  options.metadata = picture.metadata;
  options.channels = picture.channels;
  options.convert = true;
  static_cast<void>(satin::ToneCurves::of(picture.metadata, picture.image.shape()));
  for (const char* extension : {".jpg", ".png", ".tif", ".exr"}) {
    try {
      static_cast<void>(satin::encode_image(picture.image, extension, options));
    } catch (const satin::Error&) {
      continue;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const bool partial : {false, true}) {
    try {
      write_again(satin::decode_picture(bytes, "x", satin::test::small_pictures(partial)));
      break;
    } catch (const satin::Error& error) {
      if (error.kind() == satin::ErrorKind::usage) std::abort();
    }
  }
  return 0;
}
