// Decoded pixels are placed in the memory of the caller.

#include <sstream>

#include "tests/io/support.h"
#include "tests/oracles/ledger.h"

namespace satin::test {
namespace {

Type type_called(const std::string& name) {
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
    if (name == name_of(type)) return type;
  ADD_FAILURE() << name;
  return Type::u8;
}

/// Returns random pixels that the format holds: PBM has only black and white.
Image picture_for(const FormatInfo& format, const Shape& shape) {
  Image image = random_image(shape);
  if (format.name == "PBM")
    for (std::size_t i = 0; i < byte_size(shape); ++i)
      image.data()[i] = (image.data()[i] & std::byte{1}) == std::byte{0} ? std::byte{0} : std::byte{255};
  return image;
}

TEST(Placement, EveryFormatDecodesIntoTheCallersMemory) {
  for (const FormatInfo& format : formats()) {
    if (!format.reads || !format.writes) continue;  // JPEG 2000 has a test of its own
    std::istringstream types(format.types);
    for (std::string type; types >> type;) {
      std::istringstream counts(format.channels);
      for (int channels = 0; counts >> channels;) {
        if (format.name == "OpenEXR" && channels % 2 == 0) continue;  // premultiplied; below
        const Alpha alpha = channels % 2 == 0 && format.name != "NPY" ? Alpha::straight : Alpha::none;
        const Image image = picture_for(format, shape_of(33, 20, channels, type_called(type), alpha));
        for (const std::string& extension : format.extensions)
          expect_placed(encode_image(image, extension), "x" + extension);
      }
    }
  }
  if (!can_write(".exr")) return;
  for (const int channels : {2, 4}) {
    const Shape shape = shape_of(33, 20, channels, Type::f32, Alpha::premultiplied);
    expect_placed(encode_image(random_image(shape), ".exr"), "x.exr");
  }
}

TEST(Placement, MemoryThatRunsOutIsAnErrorOfTheEnvironment) {
  const FileBytes file = encode_image(random_image(shape_of(33, 20, 3, Type::u8)), ".ppm");
  Ledger ledger;
  ledger.limit = 100;
  expect_error(ErrorKind::environment, "x.ppm",
               [&] { static_cast<void>(decode_picture(file, "x.ppm", {.allocator = ledger.allocator()})); });
  EXPECT_TRUE(ledger.taken.empty());
}

}  // namespace
}  // namespace satin::test
