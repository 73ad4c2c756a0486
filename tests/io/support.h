#pragma once
// Shared functions of the tests of satin_io.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/error.h"
#include "satin/image.h"
#include "satin/io.h"

namespace satin::test {

namespace fs = std::filesystem;
using FileBytes = std::vector<std::byte>;

Shape shape_of(std::int64_t width, std::int64_t height, int channels, Type type, Alpha alpha = Alpha::none);

/// Returns random bytes, or random floats from 0 to 1.
Image random_image(const Shape& shape, unsigned seed = 1);
/// Returns a smooth picture, which lossy formats preserve well.
Image smooth_image(const Shape& shape);

/// Compares shapes and all bytes.
void expect_same(const ImageView& actual, const ImageView& expected, const std::string& what);
/// Returns the mean of absolute differences of u8 pictures.
double mean_difference(const Image& a, const Image& b);

/// Expects an Error of this kind whose message has this text.
void expect_error(ErrorKind kind, const std::string& text, const std::function<void()>& work);

/// Decodes the file normally and into the memory of an allocator. The pictures must be equal, the second one
/// with all its channels in that memory, and nothing else may remain there.
void expect_placed(std::span<const std::byte> file, const std::string& name);

bool can_write(const std::string& extension);
/// Whether this build has a codec of this name.
bool reads(const std::string& name);

/// A new folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  std::vector<std::string> names() const;

 private:
  fs::path path_;
};

FileBytes load(const fs::path& path);
void store(const fs::path& path, const std::string& content);
std::string text_of(const fs::path& path);
FileBytes bytes_of(const std::string& text);

/// Returns the regular files of a folder of test data, sorted. Empty if the data is missing.
std::vector<fs::path> data_files(const std::string& folder);

/// Returns the peak memory of this process in KiB since it was last reset.
std::optional<long> peak_of_memory();
/// Returns false if this system does not report the peak.
bool reset_peak();

/// Decodes the file and expects that it needs at most 24 MB more memory than ReadOptions::accept was told.
void expect_foreseen_memory(const FileBytes& file, const std::string& name);

/// Returns an EXIF block (without its "Exif" prefix) with an orientation.
std::string exif_block(int orientation, bool little_endian);

/// Turns a picture by an orientation, pixel by pixel.
Image turned(const Image& image, int orientation);

}  // namespace satin::test
