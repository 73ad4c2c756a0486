// Files that are read, filtered and written side by side, and how many.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "satin/batch.h"
#include "satin/io.h"

namespace satin::test {
namespace {

namespace fs = std::filesystem;

class Overlap : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "in");
    for (int i = 0; i < count; ++i) {
      Image picture(Shape{24, 16, 3});
      for (std::size_t byte = 0; byte < byte_size(picture.shape()); ++byte)
        picture.data()[byte] = static_cast<std::byte>(byte * 7 + static_cast<std::size_t>(i));
      write_image(folder_ / "in" / (std::to_string(100 + i) + ".png"), picture);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  BatchResult run(BatchOptions options, const BatchEvents& events, const std::string& output = "out",
                  std::size_t device_count = 1) {
    options.inputs = {folder_ / "in"};
    options.output = folder_ / output;
    std::vector<Device> devices;
    while (devices.size() < device_count) devices.push_back(Device::open("cpu"));
    return run_batch(devices, prepare_batch(parse_pipeline("blur radius=2"), options), events);
  }

  static constexpr int count = 20;
  const fs::path folder_ =
      fs::temp_directory_path() /
      ("satin-overlap-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// How many files are between the beginning of the first and the end of the last stage.
TEST_F(Overlap, WithoutMemoryOneFileIsInFlight) {
  std::atomic<int> in_flight{0};
  std::atomic<int> most{0};
  BatchEvents events;
  events.stage = [&](const BatchFile&, Stage stage, bool begins) {
    if (stage == Stage::reading && begins) most = std::max(most.load(), ++in_flight);
    if (stage == Stage::writing && !begins) --in_flight;
  };
  BatchOptions options;
  options.memory = 1;
  const BatchResult result = run(options, events);
  EXPECT_EQ(result.done, static_cast<std::size_t>(count));
  EXPECT_EQ(most, 1);
}

TEST_F(Overlap, OneFileIsReadWhileAnotherIsWritten) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t read = 0;
  bool overlapped = false;
  BatchEvents events;
  events.stage = [&](const BatchFile& file, Stage stage, bool begins) {
    std::unique_lock lock(mutex);
    if (stage == Stage::reading && begins) {
      ++read;
      changed.notify_all();
    }
    if (stage == Stage::writing && begins && file.input.filename() == "100.png")
      overlapped = changed.wait_for(lock, std::chrono::seconds(30), [&] { return read > 1; });
  };
  BatchOptions options;
  options.threads = 1;
  EXPECT_EQ(run(options, events).done, static_cast<std::size_t>(count));
  EXPECT_TRUE(overlapped);
}

TEST_F(Overlap, EachDeviceFiltersAPictureOfItsOwn) {
  std::mutex mutex;
  std::condition_variable changed;
  int filtering = 0;
  int most = 0;
  BatchEvents events;
  events.stage = [&](const BatchFile&, Stage stage, bool begins) {
    if (stage != Stage::filtering) return;
    std::unique_lock lock(mutex);
    filtering += begins ? 1 : -1;
    most = std::max(most, filtering);
    changed.notify_all();
    if (begins) changed.wait_for(lock, std::chrono::seconds(10), [&] { return most > 1; });
  };
  BatchOptions options;
  options.threads = 3;
  EXPECT_EQ(run(options, events, "two", 2).done, static_cast<std::size_t>(count));
  EXPECT_EQ(most, 2);
  EXPECT_EQ(run(options, {}, "one").done, static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const std::string name = std::to_string(100 + i) + ".png";
    const Image one = read_image(folder_ / "one" / name);
    const Image two = read_image(folder_ / "two" / name);
    EXPECT_EQ(std::memcmp(one.data(), two.data(), byte_size(one.shape())), 0) << name;
  }
}

TEST_F(Overlap, ResultsComeInOrderWhateverHappens) {
  std::vector<std::string> names;
  BatchEvents events;
  events.stage = [&](const BatchFile& file, Stage stage, bool begins) {
    if (stage == Stage::reading && begins && file.input.filename() == "100.png")
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  events.finished = [&](const FileResult& file, const BatchResult& so_far) {
    names.push_back(file.input.filename().string());
    EXPECT_EQ(so_far.done, names.size());
  };
  EXPECT_EQ(run({}, events).done, static_cast<std::size_t>(count));
  ASSERT_EQ(names.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(names[static_cast<std::size_t>(i)], std::to_string(100 + i) + ".png");
}

TEST_F(Overlap, CancellingLeavesWholeFilesOnly) {
  std::atomic<int> written{0};
  BatchEvents events;
  events.stage = [&](const BatchFile&, Stage stage, bool begins) {
    if (stage == Stage::writing && !begins) ++written;
  };
  events.cancelled = [&] { return written > 3; };
  const BatchResult result = run({}, events);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.failed, 0U);
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "out")) {
    EXPECT_EQ(entry.path().extension(), ".png");
    EXPECT_EQ(read_image(entry.path()).shape().width, 24);
    ++files;
  }
  EXPECT_EQ(files, result.done);
  EXPECT_EQ(result.not_started(), static_cast<std::size_t>(count) - files);
}

TEST_F(Overlap, AnEventThatThrowsEndsTheBatch) {
  BatchEvents events;
  events.finished = [](const FileResult&, const BatchResult&) {
    throw Error(ErrorKind::environment, "The report is full.");
  };
  EXPECT_THROW(static_cast<void>(run({}, events)), Error);
}

}  // namespace
}  // namespace satin::test
