// A batch whose files arrive in several calls, and manifests in parts.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "satin/batch.h"
#include "satin/error.h"

namespace satin::test {
namespace {

namespace fs = std::filesystem;

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    std::string name = testing::TempDir() + "satin-session-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ / "in" / "sub");
    for (int i = 0; i < 6; ++i) {
      Image image(Shape{8, 5, 1});
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 8; ++x)
          image.data()[y * 8 + x] = static_cast<std::byte>((37 * x + 11 * y + 50 * i) % 256);
      write_image(folder_ / "in" / name_of(i), image.view());
    }
  }
  ~SessionTest() override { fs::remove_all(folder_); }

  static std::string name_of(int index) {
    return (index % 2 == 0 ? "sub/" : "") + std::to_string(index) + ".png";
  }

  std::vector<PictureName> names(int first, int last) const {
    std::vector<PictureName> all;
    for (int i = first; i < last; ++i) all.push_back({folder_ / "in", name_of(i)});
    return all;
  }

  BatchOptions options(const std::string& part) const {
    BatchOptions options;
    options.output = folder_ / "out";
    options.resume = !part.empty();
    options.manifest_part = part;
    return options;
  }

  BatchSession session(const BatchOptions& options) const {
    return BatchSession({Device::open("cpu")}, parse_pipeline("blur radius=2"), options);
  }

  /// Returns the status of every file after the run.
  static std::vector<FileStatus> run(BatchSession& session, const std::vector<PictureName>& files,
                                     std::vector<FileResult>* results = nullptr) {
    std::vector<FileStatus> statuses;
    BatchEvents events;
    events.finished = [&](const FileResult& file, const BatchResult&) {
      statuses.push_back(file.status);
      if (results != nullptr) results->push_back(file);
    };
    static_cast<void>(session.run(files, events));
    return statuses;
  }

  static std::string bytes_in(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_F(SessionTest, SeveralRunsGiveTheOutputsOfOneBatch) {
  BatchSession pieces = session(options(""));
  for (const auto& [first, last] : {std::pair(0, 3), std::pair(3, 4), std::pair(4, 6)})
    EXPECT_EQ(run(pieces, names(first, last)),
              std::vector(static_cast<std::size_t>(last - first), FileStatus::done));
  BatchOptions whole;
  whole.inputs = {folder_ / "in"};
  whole.recursive = true;
  whole.output = folder_ / "whole";
  const Batch batch = prepare_batch(parse_pipeline("blur radius=2"), whole);
  EXPECT_EQ(run_batch(Device::open("cpu"), batch).done, 6U);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(bytes_in(folder_ / "out" / name_of(i)), bytes_in(folder_ / "whole" / name_of(i))) << i;
}

TEST_F(SessionTest, WhatAnotherProcessMadeMeanwhileIsKept) {
  BatchSession one = session(options("one"));
  BatchSession other = session(options("other"));
  EXPECT_EQ(run(one, names(0, 4)), std::vector(4, FileStatus::done));
  std::vector<FileResult> results;
  std::vector<FileStatus> expected(4, FileStatus::unchanged);
  expected.insert(expected.end(), 2, FileStatus::done);
  EXPECT_EQ(run(other, names(0, 6), &results), expected);
  for (const FileResult& file : results) EXPECT_EQ(file.bytes, fs::file_size(file.output));
  EXPECT_TRUE(fs::exists(folder_ / "out" / ".satin-manifest.one"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / ".satin-manifest.other"));
}

TEST_F(SessionTest, PartsAreOneManifest) {
  BatchSession one = session(options("one"));
  run(one, names(0, 3));
  BatchSession other = session(options("other"));
  run(other, names(3, 6));
  BatchOptions whole = options("");
  whole.resume = true;
  whole.inputs = {folder_ / "in"};
  whole.recursive = true;
  const Batch batch = prepare_batch(parse_pipeline("blur radius=2"), whole);
  EXPECT_EQ(run_batch(Device::open("cpu"), batch).skipped, 6U);
}

TEST_F(SessionTest, OneOfTwoPartsThatDifferIsRight) {
  BatchSession old = session(options("old"));
  run(old, names(0, 1));
  fs::remove(folder_ / "out" / name_of(0));
  BatchSession newer({Device::open("cpu")}, parse_pipeline("blur radius=1"), options("newer"));
  EXPECT_EQ(run(newer, names(0, 1)), std::vector(1, FileStatus::done));
  BatchSession again({Device::open("cpu")}, parse_pipeline("blur radius=1"), options("again"));
  EXPECT_EQ(run(again, names(0, 1)), std::vector(1, FileStatus::unchanged));
  BatchSession first = session(options("first"));
  EXPECT_EQ(run(first, names(0, 1)), std::vector(1, FileStatus::done));  // the other radius, made again
}

TEST_F(SessionTest, AnOutputThatNobodyMadeIsRefused) {
  fs::create_directories(folder_ / "out");
  std::ofstream(folder_ / "out" / name_of(1)) << "mine";
  BatchSession pieces = session(options("one"));
  EXPECT_THROW(run(pieces, names(1, 2)), Error);
  EXPECT_EQ(bytes_in(folder_ / "out" / name_of(1)), "mine");
  EXPECT_EQ(run(pieces, names(2, 4)), std::vector(2, FileStatus::done));
}

}  // namespace
}  // namespace satin::test
