// Which JPEG files are whole by their markers.

#include "io/jpeg_scans.h"

#include <algorithm>
#include <random>

#include "tests/io/cmyk_jpeg.h"
#include "tests/io/coded_jpeg.h"

namespace satin::test {
namespace {

using io::whole_jpeg;

std::vector<JpegSettings> many_settings() {
  std::vector<JpegSettings> list;
  for (const bool progressive : {false, true})
    for (const unsigned restart : {0U, 1U, 7U, 1000U})
      for (const int horizontal : {1, 2, 4})
        for (const int vertical : {1, 2}) list.push_back({80, horizontal, vertical, progressive, restart});
  return list;
}

Image picture(int channels) { return smooth_image(shape_of(203, 97, channels, Type::u8)); }

/// Where the marker stands for the first time behind `from`; the size of the file if nowhere.
std::size_t find_marker(const FileBytes& file, unsigned marker, std::size_t from = 2) {
  const FileBytes wanted{std::byte{0xFF}, static_cast<std::byte>(marker)};
  const auto found =
      std::search(file.begin() + static_cast<std::ptrdiff_t>(from), file.end(), wanted.begin(), wanted.end());
  return static_cast<std::size_t>(found - file.begin());
}

FileBytes with(FileBytes file, std::size_t at, const std::string& inserted) {
  const FileBytes bytes = bytes_of(inserted);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  return file;
}

constexpr unsigned start_of_scan = 0xDA;
constexpr unsigned first_restart = 0xD0;

TEST(JpegScans, FilesOfEveryCodingAreWhole) {
  for (const int channels : {1, 3})
    for (JpegSettings settings : many_settings()) {
      if (channels == 1) settings.horizontal = settings.vertical = 1;
      const FileBytes file = coded_jpeg(picture(channels), settings);
      const auto whole = whole_jpeg(file);
      ASSERT_TRUE(whole.has_value()) << channels << " " << settings.progressive << " " << settings.restart;
      EXPECT_EQ(whole->size(), file.size());
    }
}

TEST(JpegScans, DataBehindTheEndIsCutOff) {
  const FileBytes file = coded_jpeg(picture(3));
  FileBytes longer = file;
  longer.insert(longer.end(), file.begin(), file.end());
  ASSERT_TRUE(whole_jpeg(longer).has_value());
  EXPECT_EQ(whole_jpeg(longer)->size(), file.size());
}

TEST(JpegScans, NoPartOfAFileIsWhole) {
  for (const bool progressive : {false, true}) {
    const FileBytes file = coded_jpeg(picture(3), {.progressive = progressive, .restart = 3});
    for (std::size_t size = 0; size < file.size(); ++size) {
      const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_FALSE(whole_jpeg(part).has_value()) << size << " of " << file.size();
    }
  }
}

TEST(JpegScans, RestartMarkersMustAllBeThereInOrder) {
  const FileBytes file = coded_jpeg(picture(3), {.restart = 5});
  const std::size_t first = find_marker(file, first_restart);
  const std::size_t second = find_marker(file, first_restart + 1);
  const std::size_t third = find_marker(file, first_restart + 2);
  ASSERT_LT(third, file.size());
  FileBytes shorter = file;
  shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(first),
                shorter.begin() + static_cast<std::ptrdiff_t>(second));
  EXPECT_FALSE(whole_jpeg(shorter).has_value());
  FileBytes swapped = file;
  std::swap(swapped[first + 1], swapped[second + 1]);
  EXPECT_FALSE(whole_jpeg(swapped).has_value());
  // Eight of them are missing, so that the others still count from 0 to 7.
  const std::size_t ninth = find_marker(file, first_restart, first + 2);
  ASSERT_LT(ninth, file.size());
  FileBytes fewer = file;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(first),
              fewer.begin() + static_cast<std::ptrdiff_t>(ninth));
  EXPECT_FALSE(whole_jpeg(fewer).has_value());
  EXPECT_FALSE(whole_jpeg(with(coded_jpeg(picture(3)), find_marker(file, start_of_scan) + 200, "\xff\xd0")));
}

TEST(JpegScans, OddFilesAreLeftToLibjpeg) {
  const FileBytes file = coded_jpeg(picture(3));
  const std::size_t scan = find_marker(file, start_of_scan);
  const std::size_t quantiser = find_marker(file, 0xDB);
  const std::string table = std::string("\xff\xdb\0\x43\0", 5) + std::string(64, '\1');
  ASSERT_TRUE(whole_jpeg(with(file, scan, table)).has_value());
  EXPECT_FALSE(whole_jpeg(with(file, file.size() - 2, table)).has_value()) << "a quantiser behind the scan";
  EXPECT_FALSE(whole_jpeg(with(file, quantiser, "x")).has_value()) << "a byte between segments";
  EXPECT_FALSE(whole_jpeg(with(file, quantiser, "\xff")).has_value()) << "a fill byte";
  EXPECT_TRUE(whole_jpeg(with(file, quantiser, std::string("\xff\xfe\0\4hi", 6))).has_value()) << "a comment";

  const std::size_t frame = find_marker(file, 0xC0);
  for (const unsigned other : {0xC3U, 0xC5U, 0xC9U, 0xCAU}) {
    FileBytes changed = file;
    changed[frame + 1] = static_cast<std::byte>(other);
    EXPECT_FALSE(whole_jpeg(changed).has_value()) << other;
  }
  FileBytes deep = file;
  deep[frame + 4] = std::byte{12};
  EXPECT_FALSE(whole_jpeg(deep).has_value()) << "12 bits";
  const FileBytes header(file.begin() + static_cast<std::ptrdiff_t>(frame),
                         file.begin() + static_cast<std::ptrdiff_t>(frame) + 19);
  FileBytes twice = file;
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(scan), header.begin(), header.end());
  EXPECT_FALSE(whole_jpeg(twice).has_value()) << "two frames";
  EXPECT_FALSE(whole_jpeg(cmyk_jpeg({200, 100, 50, 128}, true, JCS_CMYK)).has_value());
}

/// The file with some bytes changed, or left out, somewhere.
FileBytes damaged(FileBytes file, std::mt19937& random) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(2 + random() % (file.size() - 2)); };
  for (int i = 0; i < 3; ++i) file[static_cast<std::size_t>(place())] = static_cast<std::byte>(random());
  if (random() % 2 != 0) {
    const auto first = std::min(place(), static_cast<std::ptrdiff_t>(file.size()) - 60);
    file.erase(file.begin() + first, file.begin() + first + static_cast<std::ptrdiff_t>(random() % 50));
  }
  return file;
}

bool libjpeg_takes(const FileBytes& file) {
  try {
    static_cast<void>(decode_image(file, "x.jpg", {.pixels = 1 << 20}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(JpegScans, WhatLibjpegRefusesIsNotWhole) {
  std::mt19937 random(11);
  int whole = 0, refused = 0;
  for (const unsigned restart : {0U, 3U})
    for (const int sampling : {1, 2}) {
      const FileBytes file = coded_jpeg(random_image(shape_of(50, 40, 3, Type::u8)),
                                        {.horizontal = sampling, .vertical = sampling, .restart = restart});
      for (int i = 0; i < 1000; ++i) {
        const FileBytes bad = damaged(file, random);
        const bool taken = libjpeg_takes(bad);
        const bool is_whole = whole_jpeg(bad).has_value();
        EXPECT_TRUE(taken || !is_whole) << i;
        whole += is_whole ? 1 : 0;
        refused += taken ? 0 : 1;
      }
    }
  EXPECT_GT(whole, 30) << "damage that nobody can see";
  EXPECT_GT(refused, 100);
}

TEST(JpegScans, TheEndOfTheCodesIsMissed) {
  for (const unsigned restart : {0U, 16U}) {
    const FileBytes file = coded_jpeg(random_image(shape_of(200, 120, 3, Type::u8)), {.restart = restart});
    for (const std::ptrdiff_t missing : {2, 10, 1000}) {
      FileBytes shorter = file;
      shorter.erase(shorter.end() - 2 - missing, shorter.end() - 2);
      EXPECT_FALSE(whole_jpeg(shorter).has_value()) << missing;
    }
    EXPECT_FALSE(whole_jpeg(with(file, file.size() - 2, "abc")).has_value()) << "more than there should be";
  }
}

TEST(JpegScans, HostileFilesAreHarmless) {
  std::mt19937 random(3);
  for (const bool progressive : {false, true}) {
    const FileBytes file =
        coded_jpeg(smooth_image(shape_of(40, 30, 3, Type::u8)), {.progressive = progressive, .restart = 2});
    for (std::size_t at = 2; at < file.size(); ++at)
      for (const unsigned value : {0U, 1U, 0xD9U, 0xDAU, 0xFFU, static_cast<unsigned>(random() & 255U)}) {
        FileBytes bad = file;
        bad[at] = static_cast<std::byte>(value);
        const auto whole = whole_jpeg(bad);
        EXPECT_TRUE(!whole || whole->size() <= bad.size());
      }
  }
}

}  // namespace
}  // namespace satin::test
