// nvJPEG beside libjpeg. Needs a GPU: SATIN_TEST_DEVICE=cuda:N, and a build with SATIN_NVJPEG.

#include "satin/nvjpeg_decoder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "tests/io/cmyk_jpeg.h"
#include "tests/io/coded_jpeg.h"
#include "tests/oracles/ledger.h"

namespace satin::test {
namespace {

constexpr const char* has_module =
#ifdef SATIN_TEST_NVJPEG
    "";
#else
    "this build has no nvJPEG";
#endif

/// The number of the GPU under test, or -1.
int gpu_under_test() {
  const char* name = std::getenv("SATIN_TEST_DEVICE");  // NOLINT(concurrency-mt-unsafe): before any thread
  const std::string text = name == nullptr ? "" : name;
  if (text.rfind("cuda", 0) != 0) return -1;
  return text.size() > 5 ? std::atoi(text.c_str() + 5) : 0;
}

class Nvjpeg : public testing::TestWithParam<NvjpegEngine> {
 protected:
  void SetUp() override {
    if (*has_module != '\0') GTEST_SKIP() << has_module;
    if (gpu_under_test() < 0) GTEST_SKIP() << "SATIN_TEST_DEVICE names no GPU";
    try {
      decoder_ = NvjpegDecoder::open(gpu_under_test(), GetParam());
    } catch (const Error& error) {
      if (GetParam() != NvjpegEngine::hardware) throw;
      GTEST_SKIP() << error.what();
    }
  }

  [[nodiscard]] Picture decode(const FileBytes& file) const {
    return decode_picture(file, "x.jpg", {.nvjpeg = decoder_});
  }

  /// Decodes, and expects that nvJPEG did it.
  [[nodiscard]] Picture decode_there(const FileBytes& file) const {
    const std::uint64_t before = decoder_->decoded();
    Picture picture = decode(file);
    EXPECT_EQ(decoder_->decoded(), before + 1) << "libjpeg decoded it";
    EXPECT_TRUE(picture.warnings.empty()) << picture.warnings.front();
    return picture;
  }

  void expect_left_to_libjpeg(const FileBytes& file) const {
    const std::uint64_t before = decoder_->decoded();
    const Picture picture = decode(file);
    EXPECT_EQ(decoder_->decoded(), before);
    const Picture expected = decode_picture(file, "x.jpg");
    expect_same(picture.image, expected.image, "left to libjpeg");
    EXPECT_EQ(picture.warnings, expected.warnings);
    EXPECT_EQ(picture.metadata.jpeg, expected.metadata.jpeg);
  }

  std::shared_ptr<const NvjpegDecoder> decoder_;
};

std::string name_of_engine(const testing::TestParamInfo<NvjpegEngine>& engine) {
  constexpr std::array<const char*, 4> names = {"automatic", "gpu", "cpu", "hardware"};
  return names.at(static_cast<std::size_t>(engine.param));
}

INSTANTIATE_TEST_SUITE_P(Engines, Nvjpeg,
                         testing::Values(NvjpegEngine::automatic, NvjpegEngine::gpu, NvjpegEngine::cpu,
                                         NvjpegEngine::hardware),
                         name_of_engine);

/// Largest difference of two u8 pictures.
int largest_difference(const Image& a, const Image& b) {
  if (!(a.shape() == b.shape())) return 1000;
  int largest = 0;
  for (std::size_t i = 0; i < byte_size(a.shape()); ++i)
    largest =
        std::max(largest, std::abs(std::to_integer<int>(a.data()[i]) - std::to_integer<int>(b.data()[i])));
  return largest;
}

/// What the two may differ by: codes at most, and on average.
struct Bounds {
  int largest;
  double mean;
};

void expect_near(const Image& actual, const Image& expected, const Bounds& bounds, const std::string& what) {
  ASSERT_EQ(describe(actual.shape()), describe(expected.shape())) << what;
  const int largest = largest_difference(actual, expected);
  const double mean = mean_difference(actual, expected);
  std::printf("%s: differs by %d at most, by %.4f on average\n", what.c_str(), largest, mean);
  EXPECT_LE(largest, bounds.largest) << what;
  EXPECT_LE(mean, bounds.mean) << what;
}

// A transform that rounds differently moves Y, Cb and Cr by a code each, and red by 1.4 of Cr more.
constexpr Bounds full_resolution{4, 0.5};
// Colours that are enlarged differ where they change.
constexpr Bounds half_resolution{24, 1.0};

// More pixels than what is called small.
constexpr std::int64_t wide = 1403, high = 1001;

TEST_P(Nvjpeg, DiffersLittleFromLibjpeg) {
  for (const auto& [horizontal, vertical] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}}) {
    for (const std::int64_t scale : {1, 20}) {
      const Image source = smooth_image(shape_of(wide / scale, high / scale, 3, Type::u8));
      const FileBytes file = coded_jpeg(source, {.horizontal = horizontal, .vertical = vertical});
      expect_near(decode_there(file).image, decode_image(file, "x.jpg"),
                  horizontal == 1 ? full_resolution : half_resolution,
                  std::to_string(horizontal) + " x " + std::to_string(vertical));
    }
  }
  const FileBytes grey = coded_jpeg(random_image(shape_of(wide, high, 1, Type::u8)));
  expect_near(decode_there(grey).image, decode_image(grey, "x.jpg"), {2, 0.3}, "grey");
}

TEST_P(Nvjpeg, TakesProgressiveFilesAndRestartMarkers) {
  const Image source = smooth_image(shape_of(wide, high, 3, Type::u8));
  const FileBytes restarts = coded_jpeg(source, {.horizontal = 2, .vertical = 2, .restart = 16});
  if (GetParam() != NvjpegEngine::hardware)
    expect_near(decode_there(restarts).image, decode_image(restarts, "x.jpg"), half_resolution, "restarts");
  const FileBytes progressive = coded_jpeg(source, {.progressive = true});
  switch (GetParam()) {
    case NvjpegEngine::hardware:
      return expect_left_to_libjpeg(progressive);
    case NvjpegEngine::gpu:  // that of nvJPEG 13.3 takes them, against its documentation
      return expect_near(decode(progressive).image, decode_image(progressive, "x.jpg"), full_resolution,
                         "progressive");
    default:
      expect_near(decode_there(progressive).image, decode_image(progressive, "x.jpg"), full_resolution,
                  "progressive");
  }
}

TEST_P(Nvjpeg, DiffersLittleFromLibjpegOnPhotographs) {
  int seen = 0;
  for (const fs::path& path : data_files("photos")) {
    const Image photo = read_image(path);
    if (photo.shape().type != Type::u8 || photo.shape().channels != 3) continue;
    ++seen;
    const FileBytes file = coded_jpeg(photo, {.horizontal = 2, .vertical = 2});
    expect_near(decode_there(file).image, decode_image(file, "x.jpg"), {64, 1.0}, path.filename().string());
  }
  if (seen == 0) GTEST_SKIP() << "there are no photographs";
}

TEST_P(Nvjpeg, KeepsMetadataCodingAndOrientation) {
  const Image source = smooth_image(shape_of(120, 90, 3, Type::u8));
  for (int orientation = 1; orientation <= 8; ++orientation) {
    WriteOptions options;
    options.metadata.icc = bytes_of(std::string(16, 'p') + "RGB " + std::string(2000, 'p'));
    options.metadata.xmp = bytes_of("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>");
    FileBytes file = encode_image(source, ".jpg", options);
    const std::string block = exif_block(orientation, true);
    const std::string segment = std::string("\xff\xe1\0", 3) + static_cast<char>(block.size() + 8) +
                                std::string("Exif\0\0", 6) + block;
    const FileBytes inserted = bytes_of(segment);
    file.insert(file.begin() + 2, inserted.begin(), inserted.end());
    const Picture expected = decode_picture(file, "x.jpg");
    const Picture picture = decode_there(file);
    expect_near(picture.image, expected.image, full_resolution, "orientation " + std::to_string(orientation));
    EXPECT_EQ(picture.metadata.icc, expected.metadata.icc);
    EXPECT_EQ(picture.metadata.exif, expected.metadata.exif);
    EXPECT_EQ(picture.metadata.xmp, expected.metadata.xmp);
    EXPECT_EQ(picture.metadata.jpeg, expected.metadata.jpeg);
    EXPECT_TRUE(picture.metadata.jpeg.has_value());
  }
}

TEST_P(Nvjpeg, LeavesInksToLibjpeg) {
  const unsigned char reflectance[4] = {200, 100, 50, 128};
  expect_left_to_libjpeg(cmyk_jpeg(reflectance, true, JCS_CMYK));
  expect_left_to_libjpeg(cmyk_jpeg(reflectance, true, JCS_YCCK));
}

std::string error_of(const FileBytes& file, const ReadOptions& options) {
  try {
    static_cast<void>(decode_picture(file, "x.jpg", options));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_P(Nvjpeg, RefusesTruncatedFilesAsLibjpegDoes) {
  const FileBytes file = coded_jpeg(random_image(shape_of(200, 150, 3, Type::u8)));
  for (std::size_t size = 3; size < file.size(); size += size < 700 ? 13 : 997) {
    const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string expected = error_of(part, {});
    EXPECT_NE(expected, "");
    EXPECT_EQ(error_of(part, {.nvjpeg = decoder_}), expected) << size;
  }
  const ReadOptions partial{.allow_partial = true, .nvjpeg = decoder_};
  const FileBytes half(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2));
  const Picture picture = decode_picture(half, "x.jpg", partial);
  expect_same(picture.image, decode_picture(half, "x.jpg", {.allow_partial = true}).image, "half a file");
  EXPECT_EQ(picture.warnings.size(), 1U);
}

/// Bytes of the codes changed or left out, the markers as they were.
std::vector<FileBytes> damaged_files() {
  const FileBytes file = coded_jpeg(random_image(shape_of(wide, high, 3, Type::u8)));
  std::mt19937 random(5);
  std::uniform_int_distribution<std::size_t> place(2000, file.size() - 2000);
  std::vector<FileBytes> files;
  for (int i = 0; i < 20; ++i) {
    FileBytes bad = file;
    for (std::byte& byte : std::span(bad).subspan(place(random), 40))
      if (byte != std::byte{0} && byte != std::byte{0xFF}) byte = static_cast<std::byte>(1 + random() % 254);
    files.push_back(std::move(bad));
  }
  for (const std::ptrdiff_t missing : {50, 1500, 50000}) {
    FileBytes& shorter = files.emplace_back(file);
    shorter.erase(shorter.end() - 2 - missing, shorter.end() - 2);
    if (shorter[shorter.size() - 3] == std::byte{0xFF}) shorter[shorter.size() - 3] = std::byte{0};
  }
  return files;
}

TEST_P(Nvjpeg, NoticesDamageAmongTheCodesAsLibjpegDoes) {
  const FileBytes good = coded_jpeg(smooth_image(shape_of(wide, high, 3, Type::u8)));
  const Image before = decode_there(good).image;
  int noticed = 0;
  for (const FileBytes& file : damaged_files()) {
    const std::string expected = error_of(file, {});
    noticed += expected.empty() ? 0 : 1;
    EXPECT_EQ(error_of(file, {.nvjpeg = decoder_}), expected);
    expect_same(decode_there(good).image, before, "the next file");
  }
  EXPECT_GE(noticed, 3);
}

TEST_P(Nvjpeg, KeepsToTheLimitsAndToTheAllocator) {
  const FileBytes file = coded_jpeg(smooth_image(shape_of(wide, high, 3, Type::u8)));
  expect_error(ErrorKind::input, "over the limit", [&] {
    static_cast<void>(decode_picture(file, "x.jpg", {.limits = {.pixels = 1000}, .nvjpeg = decoder_}));
  });
  Ledger ledger;
  {
    const Picture picture =
        decode_picture(file, "x.jpg", {.allocator = ledger.allocator(), .nvjpeg = decoder_});
    EXPECT_TRUE(ledger.holds(picture.image.data()));
    EXPECT_EQ(ledger.taken.size(), 1U);
  }
  EXPECT_TRUE(ledger.taken.empty());
}

TEST_P(Nvjpeg, ServesManyThreads) {
  std::vector<FileBytes> files;
  std::vector<Image> expected;
  for (int i = 0; i < 6; ++i) {
    files.push_back(coded_jpeg(smooth_image(shape_of(1200 + 100 * i, 1000 - 100 * i, 3, Type::u8))));
    expected.push_back(decode_there(files.back()).image);
  }
  const std::uint64_t before = decoder_->decoded();
  constexpr int threads = 8, times = 12;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int i = 0; i < times; ++i) {
        const auto at = static_cast<std::size_t>(t + i) % files.size();
        expect_same(decode(files[at]).image, expected[at], "thread " + std::to_string(t));
      }
    });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(decoder_->decoded(), before + threads * times);
}

TEST(NvjpegAbsent, IsRefusedWithTheRemedy) {
  if (*has_module == '\0') GTEST_SKIP() << "this build has nvJPEG";
  expect_error(ErrorKind::environment, "SATIN_NVJPEG=ON", [] { NvjpegDecoder::require(); });
  expect_error(ErrorKind::environment, "SATIN_NVJPEG=ON", [] { static_cast<void>(NvjpegDecoder::open(0)); });
}

}  // namespace
}  // namespace satin::test
