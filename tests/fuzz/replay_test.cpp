// Runs the inputs that the fuzzers found through the same targets. tests/fuzz/corpus has one folder per
// target.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/io/support.h"

// CMakeLists.txt gives each target's LLVMFuzzerTestOneInput() one of these names.
extern "C" int fuzz_decode(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_heif(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_metadata(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_photo(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_rows(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const char* target, int (*run)(const std::uint8_t*, std::size_t)) {
  const std::filesystem::path folder = std::filesystem::path(SATIN_FUZZ_CORPUS) / target;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 10);
}

TEST(FuzzCorpus, PicturesOfEveryFormat) { replay("decode", fuzz_decode); }
TEST(FuzzCorpus, HeicAndAvif) { replay("heif", fuzz_heif); }
TEST(FuzzCorpus, BlocksOfMetadata) { replay("metadata", fuzz_metadata); }
TEST(FuzzCorpus, FilesRowByRow) { replay("rows", fuzz_rows); }
TEST(FuzzCorpus, WhatPhotographsCarry) {
  if (!satin::test::reads("TIFF")) GTEST_SKIP() << "this build keeps nothing in JPEG";
  replay("photo", fuzz_photo);
}

}  // namespace
