#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "metadata/heif_boxes.h"
#include "satin/file_info.h"
#include "satin/tone_curves.h"
#include "tests/io/heif_writer.h"

namespace satin::test {
namespace {

class Heif : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads("HEIC")) GTEST_SKIP() << "this build has no HEIC";
  }
};

constexpr std::int64_t width = 70, height = 66;

/// Random values, equal in red, green and blue, so that they survive YCbCr.
template <class Sample>
Image grey_as_colour(int channels, int bits) {
  const Type type = sizeof(Sample) == 1 ? Type::u8 : Type::u16;
  Image image =
      random_image(shape_of(width, height, channels, type, channels == 4 ? Alpha::straight : Alpha::none));
  auto* const samples = reinterpret_cast<Sample*>(image.data());
  for (std::size_t i = 0; i < byte_size(image.shape()) / sizeof(Sample); ++i) {
    const std::size_t channel = i % static_cast<std::size_t>(channels);
    samples[i] = channel == 1 || channel == 2
                     ? samples[i - channel]
                     : static_cast<Sample>(samples[i] >> (8 * static_cast<int>(sizeof(Sample)) - bits));
  }
  return image;
}

Image picture(int channels = 3) { return grey_as_colour<std::uint8_t>(channels, 8); }
/// Returns random codes with this many bits in u16.
Image codes_of(int bits, int channels = 3) { return grey_as_colour<std::uint16_t>(channels, bits); }

/// Returns the codes spread over the whole range of u16, rounded to nearest.
Image widened(const Image& codes, int bits) {
  Image image = copy_of(codes.view());
  auto* const samples = reinterpret_cast<std::uint16_t*>(image.data());
  for (std::size_t i = 0; i < byte_size(image.shape()) / 2; ++i)
    samples[i] = static_cast<std::uint16_t>(samples[i] * 65535.0 / ((1 << bits) - 1) + 0.5);
  return image;
}

TEST_F(Heif, PixelsOfBothFormats) {
  for (const bool avif : {false, true}) {
    const Image image = picture();
    const FileBytes file = made_heif(image, {.avif = avif});
    expect_same(decode_image(file, "x"), image, avif ? "AVIF" : "HEIC");
    EXPECT_EQ(io::is_avif(file), avif);
    EXPECT_EQ(io::is_heic(file), !avif);
  }
}

TEST_F(Heif, EightOrientations) {
  const Image image = picture();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const FileBytes file = made_heif(image, {.orientation = orientation});
    // EXIF has the orientation too, and must not turn the picture again.
    const FileBytes both =
        made_heif(image, {.orientation = orientation, .exif = bytes_of(exif_block(orientation, true))});
    expect_same(decode_image(file, "x"), turned(image, orientation), std::to_string(orientation));
    expect_same(decode_image(both, "x"), turned(image, orientation), std::to_string(orientation) + " twice");
    EXPECT_EQ(io::read_heif_boxes(file)->orientation, orientation);
    EXPECT_EQ(decode_picture(both, "x").metadata.exif, bytes_of(exif_block(1, true)));
  }
}

TEST_F(Heif, TenAndTwelveBitsFillSixteen) {
  for (const int bits : {10, 12}) {
    const Image codes = codes_of(bits);
    expect_same(decode_image(made_heif(codes, {.bits = bits}), "x"), widened(codes, bits),
                std::to_string(bits));
  }
  EXPECT_EQ(io::read_heif_boxes(made_heif(codes_of(10), {.bits = 10}))->bits, 10);
}

TEST_F(Heif, Alpha) {
  const Image image = picture(4);
  const FileBytes file = made_heif(image);
  expect_same(decode_image(file, "x"), image, "8 bits");
  EXPECT_TRUE(io::read_heif_boxes(file)->alpha);
  EXPECT_FALSE(io::read_heif_boxes(made_heif(picture()))->alpha);
  const Image codes = codes_of(10, 4);
  expect_same(decode_image(made_heif(codes, {.bits = 10}), "x"), widened(codes, 10), "10 bits");
  expect_placed(file, "x");
}

TEST_F(Heif, PremultipliedColoursAreDivided) {
  const Image straight = picture(4);
  Image stored = copy_of(straight.view());
  const auto each = [](Image& image, const auto& change) {
    for (std::size_t i = 0; i < byte_size(image.shape()); i += 4)
      for (std::size_t c = 0; c < 3; ++c)
        change(image.data()[i + c], std::to_integer<int>(image.data()[i + 3]));
  };
  each(stored, [](std::byte& colour, int alpha) {
    colour = static_cast<std::byte>((std::to_integer<int>(colour) * alpha + 127) / 255);
  });
  const FileBytes file = made_heif(stored, {.premultiplied = true});
  each(stored, [](std::byte& colour, int alpha) {
    if (alpha != 0)
      colour =
          static_cast<std::byte>(std::min(255, (std::to_integer<int>(colour) * 255 + alpha / 2) / alpha));
  });
  expect_same(decode_image(file, "x"), stored, "divided");
}

TEST_F(Heif, BlocksTravel) {
  const FileBytes xmp = bytes_of("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><a/></x:xmpmeta>");
  const HeifRecipe recipe{.exif = bytes_of(exif_block(1, false)), .xmp = xmp};
  const Picture read = decode_picture(made_heif(picture(), recipe), "x");
  EXPECT_EQ(read.metadata.exif, recipe.exif);
  EXPECT_EQ(read.metadata.xmp, xmp);
  EXPECT_TRUE(read.metadata.icc.empty()) << "sRGB by its numbers needs no profile";
}

TEST_F(Heif, ColoursByNumbers) {
  const Image image = picture();
  const auto icc = [&](int primaries, int transfer) {
    return decode_picture(made_heif(image, {.primaries = primaries, .transfer = transfer}), "x").metadata.icc;
  };
  EXPECT_TRUE(icc(1, 1).empty()) << "BT.709 is shown as sRGB";
  const FileBytes display_p3 = icc(12, 13), linear = icc(1, 8);
  ASSERT_FALSE(display_p3.empty());
  ASSERT_FALSE(linear.empty());
  const auto tone = [&](const FileBytes& profile) {
    Metadata metadata;
    metadata.icc = profile;
    return tone_of(metadata, image.shape());
  };
  EXPECT_EQ(tone(display_p3), Tone::srgb);
  EXPECT_EQ(tone(linear), Tone::curves);
  const FileBytes kept =
      decode_picture(made_heif(image, {.transfer = 16, .icc = display_p3}), "x").metadata.icc;
  EXPECT_EQ(kept, display_p3) << "a profile says more than numbers";
  for (const int transfer : {16, 18})
    expect_error(ErrorKind::input, "PQ or HLG", [&] { static_cast<void>(icc(9, transfer)); });
}

TEST_F(Heif, LimitsAreCheckedBeforeMemory) {
  const FileBytes file = made_heif(picture());
  expect_error(ErrorKind::input, "--max-pixels",
               [&] { static_cast<void>(decode_image(file, "x", {.pixels = width * height - 1})); });
  expect_error(ErrorKind::input, "--max-bytes",
               [&] { static_cast<void>(decode_image(file, "x", {.bytes = 3 * width * height - 1})); });
}

TEST_F(Heif, MemoryOfTheDecoderIsForeseen) {
  Image image(shape_of(1600, 1600, 3, Type::u16));
  auto* codes = reinterpret_cast<std::uint16_t*>(image.data());
  std::fill(codes, codes + byte_size(image.shape()) / sizeof *codes, std::uint16_t{500});
  expect_foreseen_memory(made_heif(image, {.bits = 10}), "x.heic");
}

TEST_F(Heif, EveryTruncationIsAnError) {
  const HeifRecipe recipe{.exif = bytes_of(exif_block(6, false)), .xmp = bytes_of("<a/>")};
  for (const bool avif : {false, true}) {
    HeifRecipe own = recipe;
    own.avif = avif;
    const FileBytes file = made_heif(picture(4), own);
    for (std::size_t size = 0; size < file.size(); size += size < 1200 ? 1 : 37)
      EXPECT_THROW(static_cast<void>(decode_image(std::span(file).first(size), "x")), Error) << size;
  }
}

TEST_F(Heif, WhatLiesBehindTheBoxesIsNoDamage) {
  const Image image = picture();
  FileBytes file = made_heif(image);
  const FileBytes trailer = bytes_of("\x7f\x7f\x7f\x7fSEFT of a phone");
  file.insert(file.end(), trailer.begin(), trailer.end());
  expect_same(decode_image(file, "x"), image, "with a trailer");
}

/// Returns codes of limited range spread over 8 or 16 bits, by H.273: black is 16, white 235 in 8 bits.
Image spread(const Image& codes, int bits) {
  Image image = copy_of(codes.view());
  const double black = 16 << (bits - 8), span = 219 << (bits - 8), largest = bits == 8 ? 255 : 65535;
  const auto all = [&](auto* samples) {
    for (std::size_t i = 0; i < byte_size(image.shape()) / sizeof *samples; ++i)
      samples[i] = static_cast<std::remove_reference_t<decltype(*samples)>>(
          std::floor(std::clamp((samples[i] - black) / span, 0.0, 1.0) * largest + 0.5));
  };
  bits == 8 ? all(reinterpret_cast<std::uint8_t*>(image.data()))
            : all(reinterpret_cast<std::uint16_t*>(image.data()));
  return image;
}

/// Returns one channel of a picture.
Image grey_of(const Image& image) {
  Shape shape = image.shape();
  shape.channels = 1;
  Image result(shape);
  const std::size_t size = size_of(shape.type),
                    step = size * static_cast<std::size_t>(image.shape().channels);
  for (std::size_t i = 0; i < byte_size(shape) / size; ++i)
    std::memcpy(result.data() + i * size, image.data() + i * step, size);
  return result;
}

TEST_F(Heif, LimitedRangeOfGreyIsSpread) {
  for (const auto& [avif, bits] : {std::pair(false, 8), std::pair(false, 10), std::pair(true, 8)}) {
    const Image grey = grey_of(bits == 8 ? picture() : codes_of(bits));
    const FileBytes file = made_heif(grey, {.avif = avif, .bits = bits, .full_range = false});
    expect_same(decode_image(file, "x"), spread(grey, bits),
                (avif ? "AVIF " : "HEIC ") + std::to_string(bits));
  }
}

TEST_F(Heif, ColoursThatLibheifConvertsWronglyAreNotRead) {
  const Image image = picture();
  const auto refuse = [](const Image& codes, const HeifRecipe& recipe) {
    expect_error(ErrorKind::input, "matrix " + std::to_string(recipe.matrix) + " of ITU-T H.273",
                 [&] { static_cast<void>(decode_image(made_heif(codes, recipe), "x")); });
  };
  for (const int matrix : {0, 8})  // GBR, YCgCo
    refuse(image, {.matrix = matrix, .full_range = false});
  refuse(codes_of(10), {.bits = 10, .matrix = 8});
  for (const int matrix : {10, 11, 14})  // constant luminance, YDzDx, ICtCp
    refuse(image, {.matrix = matrix});
  expect_same(decode_image(made_heif(image, {.matrix = 0}), "x"), image, "GBR");
}

/// Returns the position after the name of the first box of this type.
std::size_t behind(const FileBytes& file, std::string_view type) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::size_t at = text.find(type);
  if (at == std::string_view::npos) throw std::runtime_error("no box " + std::string(type));
  return at + type.size();
}

TEST_F(Heif, ARotationMayPrecedeTheSize) {
  const Image image = picture();
  FileBytes file = made_heif(image, {.orientation = 6});
  // Version, flags, number of items, item, number of its properties, and the properties.
  const std::size_t count = behind(file, "ipma") + 10, first = count + 1;
  const std::size_t turn = first + std::to_integer<std::size_t>(file[count]) - 1;
  std::rotate(file.begin() + static_cast<std::ptrdiff_t>(first),
              file.begin() + static_cast<std::ptrdiff_t>(turn),
              file.begin() + static_cast<std::ptrdiff_t>(turn + 1));
  ASSERT_EQ(io::read_heif_boxes(file)->orientation, 6);
  expect_same(decode_image(file, "x"), turned(image, 6), "turn first");
}

TEST_F(Heif, FurtherPicturesArePages) {
  const Image first = picture(), second = turned(first, 3), third = turned(first, 6);
  HeifRecipe recipe;
  recipe.further = {&second, &third};
  const TemporaryFolder folder;
  const fs::path path = folder / "x.heic";
  const FileBytes file = made_heif(first, recipe);
  write_file(path, file, false);
  const Picture chief = read_picture(path);
  expect_same(chief.image, first, "chief");
  ASSERT_EQ(chief.warnings.size(), 1U);
  EXPECT_NE(chief.warnings.front().find("2 further pictures"), std::string::npos) << chief.warnings.front();
  EXPECT_EQ(read_file_info(path).pages, 3U);
  ReadOptions options;
  for (const Image* page : {&first, &second, &third}) {
    options.page = options.page.value_or(0) + 1;
    expect_same(decode_picture(file, "x", options).image, *page, "page " + std::to_string(*options.page));
  }
  options.page = 4;
  expect_error(ErrorKind::usage, "3 pages", [&] { static_cast<void>(decode_picture(file, "x", options)); });
  options = {};
  options.all_pages = true;
  EXPECT_EQ(count_pictures(path, options), 3U);
  const std::vector<Picture> all = read_pictures(path, options);
  ASSERT_EQ(all.size(), 3U);
  expect_same(all[2].image, third, "all");
  EXPECT_TRUE(all[0].warnings.empty());
}

std::string box(const std::string& type, const std::string& content) {
  io::Sink sink;
  sink.be32(static_cast<std::uint32_t>(content.size() + 8));
  return std::string(io::text_of(sink.bytes)) + type + content;
}

TEST_F(Heif, ASequenceIsCountedInAWarning) {
  const Image image = picture();
  FileBytes file = made_heif(image, {.avif = true});
  const std::string sizes = box("stsz", std::string("\0\0\0\0\0\0\0\7\0\0\0\3", 12));
  const std::string media = box("hdlr", std::string(8, '\0') + "pict") + box("minf", box("stbl", sizes));
  const FileBytes movie = bytes_of(box("moov", box("trak", box("mdia", media))));
  file.insert(file.end(), movie.begin(), movie.end());
  EXPECT_EQ(io::heif_sequence_length(file), 3U);
  const Picture read = decode_picture(file, "x");
  expect_same(read.image, image, "still picture");
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_NE(read.warnings.front().find("sequence of 3 pictures"), std::string::npos);
  std::memcpy(&file[behind(file, "meta") - 4], "free", 4);
  expect_error(ErrorKind::input, "sequence of pictures and no still one is not read",
               [&] { static_cast<void>(decode_image(file, "x")); });
}

TEST_F(Heif, OtherCodingsAreNotCalledDamaged) {
  FileBytes file = made_heif(picture());
  std::memcpy(&file[behind(file, "infe") + 8], "unci", 4);  // ISO/IEC 23001-17
  expect_error(ErrorKind::input, "coded as 'unci' is not read",
               [&] { static_cast<void>(decode_image(file, "x")); });
}

TEST_F(Heif, GreyTilesWithAlpha) {
  const fs::path path = fs::path(SATIN_TEST_DATA) / "faults" / "grey_alpha_grid.heif";
  if (!fs::exists(path)) GTEST_SKIP() << "no file " << path;
  const Image image = read_image(path);
  ASSERT_EQ(image.shape(), shape_of(29, 100, 2, Type::u8, Alpha::straight));
  const int alphas[] = {4, 13, 22};  // as libheif's own RGBA has them
  for (int x = 0; x < 3; ++x) {
    EXPECT_EQ(image.view().value<std::uint8_t>(x, 0, 0), 0);
    EXPECT_EQ(image.view().value<std::uint8_t>(x, 0, 1), alphas[x]);
  }
}

class HeifDepth : public Heif {
 protected:
  void SetUp() override {
    Heif::SetUp();
    const fs::path path = fs::path(SATIN_TEST_DATA) / "portrait" / "pug.heic";
    if (IsSkipped() || fs::exists(path)) return load_file(path);
    GTEST_SKIP() << "no file " << path;
  }

  /// Replaces a text of the file by another one, padded with blanks.
  void replace(const std::string& text, std::string by) {
    by.resize(text.size(), ' ');
    std::memcpy(file_.data() + find(text), by.data(), by.size());
  }
  /// Replaces the bytes after a text.
  void replace_behind(const std::string& text, const std::string& by) {
    std::memcpy(file_.data() + find(text) + text.size(), by.data(), by.size());
  }

  [[nodiscard]] Picture picture() const {
    ReadOptions options;
    options.photo_depth = true;
    return decode_picture(file_, "pug.heic", options);
  }
  [[nodiscard]] Photo photo() const { return std::move(picture().photo.value()); }

 private:
  [[nodiscard]] std::size_t find(const std::string& text) const {
    const auto* const first = reinterpret_cast<const char*>(file_.data());
    const std::size_t at = std::string_view(first, file_.size()).find(text);
    if (at == std::string_view::npos) throw std::runtime_error("the file has no " + text);
    return at;
  }
  void load_file(const fs::path& path) {
    if (!IsSkipped()) file_ = load(path);
  }

  FileBytes file_;
};

TEST_F(HeifDepth, DisparityIsThatOfAnotherReader) {
  const Photo photo = this->photo();
  const PhotoDepth& depth = photo.depth.value();
  EXPECT_EQ(depth.kind, DepthKind::disparity);
  EXPECT_TRUE(depth.metric);
  EXPECT_FLOAT_EQ(depth.lowest, 1.498047F);
  EXPECT_FLOAT_EQ(depth.highest, 4.382812F);
  const Image codes = read_image(fs::path(SATIN_TEST_DATA) / "portrait" / "pug_depth.png");
  ASSERT_EQ(depth.values.shape().width, codes.shape().width);
  ASSERT_EQ(depth.values.shape().height, codes.shape().height);
  const auto* const values = reinterpret_cast<const float*>(depth.values.data());
  const auto* const stored = reinterpret_cast<const std::uint8_t*>(depth.stored.codes.data());
  for (std::int64_t i = 0; i < codes.shape().width * codes.shape().height; ++i) {
    const int code = std::to_integer<int>(codes.data()[i * codes.shape().channels]);
    ASSERT_NEAR(values[i], 1.498047 + code / 255.0 * (4.382812 - 1.498047), 1e-6) << i;
    ASSERT_EQ(stored[i], 255 - code) << i;
  }
  EXPECT_EQ(photo.orientation, 1);
  EXPECT_TRUE(photo.original.file.empty());
  EXPECT_EQ(photo.focus.value().source, "EXIF SubjectArea");
}

TEST_F(HeifDepth, LiesOnThePictureHoweverBothAreTurned) {
  const Picture upright = picture();
  for (const auto& [angle, orientation] : {std::pair("\1", 8), std::pair("\2", 3), std::pair("\3", 6)}) {
    replace_behind("irot", angle);
    const Picture turned_by_file = picture();
    expect_same(turned_by_file.image, turned(upright.image, orientation), "picture");
    expect_same(turned_by_file.photo->depth->values, turned(upright.photo->depth->values, orientation),
                "depth");
  }
}

TEST_F(HeifDepth, DistancesByTheWordOfTheFile) {
  replace("disparity</apdi", "depth    </apdi");
  const Photo photo = this->photo();
  EXPECT_EQ(photo.depth.value().kind, DepthKind::depth);
  EXPECT_FLOAT_EQ(photo.depth.value().highest, 4.382812F);
}

TEST_F(HeifDepth, WithoutXmpTheBitStreamSaysTheRange) {
  replace("http://ns.apple.com/pixeldatainfo/1.0/", "http://example.org/");
  const PhotoDepth depth = photo().depth.value();
  EXPECT_EQ(depth.kind, DepthKind::disparity);
  EXPECT_FALSE(depth.metric);
  EXPECT_NEAR(depth.lowest, 1.498047F, 1e-3);
  EXPECT_NEAR(depth.highest, 4.382812F, 1e-3);
}

TEST_F(HeifDepth, TermsThatMeanNothingAreAProblemOfTheDepthAlone) {
  replace("apdi:FloatMaxValue>4.382812", "apdi:FloatMaxValue>nothing");
  const Photo photo = this->photo();
  EXPECT_FALSE(photo.depth);
  EXPECT_NE(photo.problem.find("FloatMaxValue"), std::string::npos) << photo.problem;
}

TEST_F(HeifDepth, MattesByTheirType) {
  EXPECT_TRUE(photo().mattes.empty());
  replace("urn:com:apple:photo:2020:aux:hdrgainmap", "urn:com:apple:photoaux:semanticskymatte");
  const std::vector<PhotoMatte> mattes = photo().mattes;
  ASSERT_EQ(mattes.size(), 1U);
  EXPECT_EQ(mattes.front().name, "sky");
  EXPECT_EQ(describe(mattes.front().weights.shape()), describe(shape_of(2016, 1512, 1, Type::u8)));
}

TEST(HeifBoxes, DamagedBoxesSayNothing) {
  EXPECT_FALSE(io::read_heif_boxes({}));
  EXPECT_FALSE(io::read_heif_boxes(bytes_of("ftypheic")));
  const FileBytes meta = bytes_of(std::string("\0\0\0\x14meta\0\0\0\0\0\0\0\1pitm", 20));
  EXPECT_FALSE(io::read_heif_boxes(meta));
}

}  // namespace
}  // namespace satin::test
