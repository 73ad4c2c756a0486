// Any bytes give a picture or an Error.

#include <chrono>
#include <random>

#include "tests/io/support.h"

namespace satin::test {
namespace {

ReadLimits small_limits() {
  ReadLimits limits;
  limits.pixels = std::uint64_t{1} << 24;
  limits.bytes = std::uint64_t{1} << 27;
  return limits;
}

/// Returns whether the bytes are a picture. Any exception other than Error fails the test.
bool survives(const FileBytes& file, const std::string& name) {
  try {
    const Picture picture = decode_picture(file, name, {.limits = small_limits()});
    EXPECT_GT(byte_size(picture.image.shape()), 0U);
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind(name + ": ", 0), 0U) << error.what();
    return false;
  }
}

TEST(Hostile, EveryFileIsReadOrRefused) {
  const std::vector<fs::path> files = data_files("hostile");
  if (files.empty()) GTEST_SKIP() << "no hostile files in " << SATIN_TEST_DATA;
  constexpr double most_seconds = 10;  // under sanitizers; without them the slowest takes 0.1 s
  int read = 0;
  for (const fs::path& file : files) {
    const auto start = std::chrono::steady_clock::now();
    read += survives(load(file), file.filename().string()) ? 1 : 0;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    EXPECT_LT(time.count(), most_seconds) << file;
  }
  RecordProperty("read", read);
  RecordProperty("refused", static_cast<int>(files.size()) - read);
  EXPECT_GT(read, 0);
}

struct Sample {
  std::string extension;
  FileBytes file;
};

/// Returns one file of every format that this build writes, with pixels that hardly compress.
std::vector<Sample> samples() {
  std::vector<Sample> result;
  for (const FormatInfo& info : formats()) {
    if (!info.writes) continue;
    const std::string extension = info.extensions.front();
    const Type type = info.types.substr(0, 2) == "u8" ? Type::u8 : Type::f32;
    const int channels = info.channels.find('3') != std::string::npos ? 3 : 1;
    Image image = random_image(shape_of(24, 24, channels, type));
    if (info.name == "PBM")
      for (std::size_t i = 0; i < byte_size(image.shape()); ++i) image.data()[i] = std::byte{255};
    result.push_back({extension, encode_image(image, extension)});
  }
  return result;
}

// A partially read picture has the size that the file claims, and only Errors are thrown.
TEST(Hostile, EveryFileIsReadInPartOrRefused) {
  const std::vector<fs::path> files = data_files("hostile");
  if (files.empty()) GTEST_SKIP() << "no hostile files in " << SATIN_TEST_DATA;
  const ReadOptions options{.limits = small_limits(), .allow_partial = true};
  int whole = 0, partial = 0;
  for (const fs::path& file : files) try {
      const Picture picture = decode_picture(load(file), file.filename().string(), options);
      EXPECT_GT(byte_size(picture.image.shape()), 0U);
      ++(picture.warnings.empty() ? whole : partial);
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::usage) << error.what();
    }
  EXPECT_GT(whole, 0);
  if (reads("TIFF")) {  // stb_image takes nothing in part
    EXPECT_GT(partial, 0);
  }
}

TEST(Hostile, TruncatedFilesOfEveryFormatAreRefused) {
  for (const Sample& sample : samples()) {
    // Everything after the pixels of these files is optional.
    const std::size_t tail = sample.extension == ".tga" ? 26 : 0;
    const std::size_t step = sample.file.size() > 2000 ? 13 : 1;
    for (std::size_t size = 0; size < sample.file.size() - tail; size += step) {
      const FileBytes part(sample.file.begin(), sample.file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(survives(part, "x" + sample.extension))
          << sample.extension << ", " << size << " of " << sample.file.size() << " bytes";
    }
  }
}

TEST(Hostile, RandomChangesNeverCrash) {
  std::mt19937 random(7);
  for (const Sample& sample : samples())
    for (int round = 0; round < 300; ++round) {
      FileBytes file = sample.file;
      const int changes = 1 + static_cast<int>(random() % 8);
      for (int i = 0; i < changes; ++i) {
        // Half of the changes affect the header, where they matter most.
        const std::size_t range = random() % 2 == 0 ? std::min<std::size_t>(file.size(), 128) : file.size();
        file[random() % range] = static_cast<std::byte>(random() >> 24);
      }
      static_cast<void>(survives(file, "x" + sample.extension));
    }
}

TEST(Hostile, RandomBytesBehindEverySignature) {
  std::mt19937 random(11);
  for (const Sample& sample : samples())
    for (int round = 0; round < 100; ++round) {
      FileBytes file(sample.file.begin(), sample.file.begin() + 12);
      while (file.size() < 300) file.push_back(static_cast<std::byte>(random() >> 24));
      static_cast<void>(survives(file, "x" + sample.extension));
    }
}

}  // namespace
}  // namespace satin::test
