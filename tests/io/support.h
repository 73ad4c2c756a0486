#pragma once
// What the tests of satin_io share.

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

/// Random bytes; floats are random numbers from 0 to 1.
Image random_image(const Shape& shape, unsigned seed = 1);
/// A smooth picture, which lossy formats keep well.
Image smooth_image(const Shape& shape);

/// Compares shapes and all bytes.
void expect_same(const ImageView& actual, const ImageView& expected, const std::string& what);
/// Mean of absolute differences of u8 pictures.
double mean_difference(const Image& a, const Image& b);

/// Expects an Error of this kind whose message has this text.
void expect_error(ErrorKind kind, const std::string& text, const std::function<void()>& work);

/// Decodes the file as it is and into an allocator's memory: the pictures are equal, the second one lies in
/// that memory with all its channels, and nothing else is left there.
void expect_placed(std::span<const std::byte> file, const std::string& name);

bool can_write(const std::string& extension);
/// A pixel written to satin::io's public view of a format: true if this build has a codec of this name.
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

/// Regular files of a folder of test data, sorted; empty if the data is not there.
std::vector<fs::path> data_files(const std::string& folder);

/// The largest amount of memory that this process has had, in KiB, since it was last reset.
std::optional<long> peak_of_memory();
/// False if this system does not tell the peak.
bool reset_peak();

/// Decodes the file and expects that it takes no more memory than ReadOptions::accept was told, but for 24
/// megabytes.
void expect_foreseen_memory(const FileBytes& file, const std::string& name);

/// EXIF block (without its "Exif" prefix) that holds one orientation.
std::string exif_block(int orientation, bool little_endian);

/// All the ways to turn a picture, written pixel by pixel.
Image turned(const Image& image, int orientation);

}  // namespace satin::test
