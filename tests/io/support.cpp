#include "tests/io/support.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/ledger.h"

namespace satin::test {

Shape shape_of(std::int64_t width, std::int64_t height, int channels, Type type, Alpha alpha) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  shape.type = type;
  shape.alpha = alpha;
  return shape;
}

Image random_image(const Shape& shape, unsigned seed) {
  Image image(shape);
  std::mt19937 random(seed);
  const std::size_t size = byte_size(shape);
  if (shape.type == Type::f32 || shape.type == Type::f64) {
    std::uniform_real_distribution<double> value(0.0, 1.0);
    for (std::size_t i = 0; i < size / size_of(shape.type); ++i) {
      const double wide = value(random);
      const auto narrow = static_cast<float>(wide);
      if (shape.type == Type::f32) std::memcpy(image.data() + i * sizeof narrow, &narrow, sizeof narrow);
      if (shape.type == Type::f64) std::memcpy(image.data() + i * sizeof wide, &wide, sizeof wide);
    }
    return image;
  }
  for (std::size_t i = 0; i < size; ++i) image.data()[i] = static_cast<std::byte>(random() >> 24);
  return image;
}

Image smooth_image(const Shape& shape) {
  Image image(shape);
  std::byte* target = image.data();
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        const double angle = 0.05 * static_cast<double>(x * (c + 1)) + 0.03 * static_cast<double>(y);
        *target++ = static_cast<std::byte>(std::lround(127.0 + 100.0 * std::sin(angle)));
      }
  return image;
}

void expect_same(const ImageView& actual, const ImageView& expected, const std::string& what) {
  ASSERT_EQ(describe(actual.shape), describe(expected.shape)) << what;
  EXPECT_EQ(actual.shape.alpha, expected.shape.alpha) << what;
  ASSERT_EQ(std::memcmp(actual.data, expected.data, byte_size(actual.shape)), 0) << what << ": pixels differ";
}

double mean_difference(const Image& a, const Image& b) {
  if (!(a.shape() == b.shape())) return 1e9;
  double sum = 0;
  const std::size_t size = byte_size(a.shape());
  for (std::size_t i = 0; i < size; ++i)
    sum += std::abs(std::to_integer<int>(a.data()[i]) - std::to_integer<int>(b.data()[i]));
  return sum / static_cast<double>(size);
}

void expect_error(ErrorKind kind, const std::string& text, const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "no error; expected one with: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << "'" << error.what() << "' lacks '" << text << "'";
  }
}

void expect_placed(std::span<const std::byte> file, const std::string& name) {
  Ledger ledger;
  {
    const Image expected = decode_image(file, name);
    const Picture picture = decode_picture(file, name, {.allocator = ledger.allocator()});
    expect_same(picture.image, expected, name);
    EXPECT_TRUE(ledger.holds(picture.image.data())) << name;
    for (const NamedChannel& channel : picture.channels)
      EXPECT_TRUE(ledger.holds(channel.plane.data())) << name << ", channel " << channel.name;
    EXPECT_EQ(ledger.taken.size(), 1 + picture.channels.size()) << name;
  }
  EXPECT_TRUE(ledger.taken.empty()) << name;
}

bool can_write(const std::string& extension) {
  for (const FormatInfo& info : formats())
    if (info.writes &&
        std::find(info.extensions.begin(), info.extensions.end(), extension) != info.extensions.end())
      return true;
  return false;
}

bool reads(const std::string& name) {
  for (const FormatInfo& info : formats())
    if (info.reads && info.name == name) return true;
  return false;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "satin-io-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::permissions(path_, fs::perms::owner_all, ignored);
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> result;
  for (const auto& entry : fs::directory_iterator(path_)) result.push_back(entry.path().filename().string());
  std::sort(result.begin(), result.end());
  return result;
}

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

FileBytes bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

FileBytes load(const fs::path& path) { return bytes_of(text_of(path)); }

void store(const fs::path& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream << content;
}

std::vector<fs::path> data_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(fs::path(SATIN_TEST_DATA) / folder, missing))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<long> peak_of_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (long kib = 0; word == "VmHWM:" && status >> kib) return kib;
  return {};
}

bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good() && peak_of_memory();
}

void expect_foreseen_memory(const FileBytes& file, const std::string& name) {
  if (slow_build()) GTEST_SKIP() << "a sanitizer keeps memory of its own";
  static_cast<void>(decode_image(file, name));  // libraries are loaded
  if (!reset_peak()) GTEST_SKIP() << "this system does not tell the peak of memory";
  std::uint64_t told = 0;
  ReadOptions options;
  options.accept = [&](const Shape& shape, std::uint64_t beside) {
    told = std::max(told, byte_size(shape) + beside);
  };
  const long before = *peak_of_memory();
  static_cast<void>(decode_picture(file, name, options));
  const auto taken = static_cast<double>(*peak_of_memory() - before) * 1024;
  EXPECT_LT(taken, static_cast<double>(told) + 24e6);
}

std::string exif_block(int orientation, bool little_endian) {
  const char value = static_cast<char>(orientation);
  if (little_endian)
    return std::string("II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0", 18) + value + std::string(7, '\0');
  return std::string("MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0", 19) + value + std::string(6, '\0');
}

Image turned(const Image& image, int orientation) {
  Shape shape = image.shape();
  const std::int64_t w = shape.width, h = shape.height;
  if (orientation >= 5) std::swap(shape.width, shape.height);
  Image result(shape);
  const ImageView source = image.view();
  const MutableImageView target = result.view();
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      std::int64_t to_x = x, to_y = y;  // where the EXIF standard puts the pixel
      switch (orientation) {
        case 2:
          to_x = w - 1 - x;
          break;
        case 3:
          to_x = w - 1 - x, to_y = h - 1 - y;
          break;
        case 4:
          to_y = h - 1 - y;
          break;
        case 5:
          to_x = y, to_y = x;
          break;
        case 6:
          to_x = h - 1 - y, to_y = x;
          break;
        case 7:
          to_x = h - 1 - y, to_y = w - 1 - x;
          break;
        case 8:
          to_x = y, to_y = w - 1 - x;
          break;
        default:
          break;
      }
      std::memcpy(target.at(to_x, to_y), source.at(x, y), static_cast<std::size_t>(source.strides.pixel));
    }
  return result;
}

}  // namespace satin::test
