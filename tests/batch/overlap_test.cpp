// Files of a batch overlap: how many are read, filtered and written at a time.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/backend.h"
#include "satin/batch.h"
#include "satin/io.h"
#include "satin/plan.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/ledger.h"

namespace satin::test {
namespace {

namespace fs = std::filesystem;

class Overlap : public ::testing::Test {
 protected:
  void SetUp() override { write_pictures({24, 16, 3}); }

  void write_pictures(const Shape& shape) {
    fs::create_directories(folder_ / "in");
    for (int i = 0; i < count; ++i) {
      Image picture(shape);
      for (std::size_t byte = 0; byte < byte_size(shape); ++byte)
        picture.data()[byte] = static_cast<std::byte>(byte * 7 + static_cast<std::size_t>(i));
      write_image(folder_ / "in" / (std::to_string(100 + i) + ".png"), picture, {.overwrite = true});
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  BatchResult run(BatchOptions options, const BatchEvents& events, const std::string& output = "out",
                  std::size_t device_count = 1) {
    std::vector<Device> devices;
    while (devices.size() < device_count) devices.push_back(Device::open("cpu"));
    return run_on(devices, std::move(options), events, output);
  }

  BatchResult run_on(const std::vector<Device>& devices, BatchOptions options, const BatchEvents& events,
                     const std::string& output, const std::string& pipeline = "blur radius=2") {
    options.inputs = {folder_ / "in"};
    options.output = folder_ / output;
    return run_batch(devices, prepare_batch(parse_pipeline(pipeline), options), events);
  }

  void expect_same_files(const std::string& one, const std::string& other) {
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(100 + i) + ".png";
      const Image a = read_image(folder_ / one / name);
      const Image b = read_image(folder_ / other / name);
      ASSERT_EQ(a.shape(), b.shape());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), byte_size(a.shape())), 0) << name;
    }
  }

  static constexpr int count = 20;
  const fs::path folder_ =
      fs::temp_directory_path() /
      ("satin-overlap-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// Counts the files between the beginning of the first and the end of the last stage.
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
  expect_same_files("one", "two");
}

/// Counts the pictures that are filtered at a time, and makes them wait until there have been two, with a
/// limit for busy machines.
class FilteringTogether {
 public:
  BatchEvents events() {
    BatchEvents events;
    events.stage = [this](const BatchFile&, Stage stage, bool begins) {
      if (stage != Stage::filtering) return;
      std::unique_lock lock(mutex_);
      now_ += begins ? 1 : -1;
      begun_ += begins ? 1 : 0;
      most_ = std::max(most_, now_);
      changed_.notify_all();
      // The first one is alone: it shows how much memory a run holds.
      if (begins && begun_ > 1) changed_.wait_for(lock, std::chrono::seconds(10), [&] { return most_ > 1; });
    };
    events.finished = [this](const FileResult& file, const BatchResult&) {
      names_.push_back(file.input.filename().string());
    };
    return events;
  }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] bool in_order() const { return std::is_sorted(names_.begin(), names_.end()); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int now_ = 0;
  int most_ = 0;
  int begun_ = 0;
  std::vector<std::string> names_;
};

TEST_F(Overlap, ADeviceThatSaysSoFiltersTwoPicturesAtATime) {
  Device device = Device::open("cpu");
  device.backend().runs_at_once = 2;
  FilteringTogether together;
  BatchOptions options;
  options.threads = 3;
  EXPECT_EQ(run_on({device}, options, together.events(), "two").done, static_cast<std::size_t>(count));
  EXPECT_EQ(together.most(), 2);
  EXPECT_TRUE(together.in_order());
  EXPECT_EQ(run(options, {}, "one").done, static_cast<std::size_t>(count));
  expect_same_files("one", "two");
}

/// The CPU with its own memory, to which pictures are copied, like a GPU.
TEST_F(Overlap, ADeviceWithMemoryOfItsOwnWritesTheSameBytes) {
  write_pictures({300, 200, 3});
  const std::string pipeline = "blur radius=6 | unsharp amount=0.5 | smooth sigma=3";
  EXPECT_EQ(run_on({Device::open("cpu")}, {}, {}, "cpu", pipeline).done, static_cast<std::size_t>(count));
  std::size_t plenty = 0;
  for (const double share : {1.0, 0.9, 0.6}) {
    Ledger memory;
    Ledger locked;
    if (plenty != 0) memory.limit = static_cast<std::size_t>(share * static_cast<double>(plenty));
    Device device = Device::open("cpu", {.allocator = memory.allocator()});
    device.backend().host_memory = false;
    device.backend().runs_at_once = 2;
    device.backend().page_locked = locked.allocator();
    FilteringTogether together;
    const std::string output = "apart" + std::to_string(share);
    const BatchResult result = run_on({device}, {}, together.events(), output, pipeline);
    EXPECT_EQ(result.done, static_cast<std::size_t>(count)) << share;
    EXPECT_TRUE(together.in_order());
    EXPECT_EQ(together.most(), 2);
    if (plenty == 0) plenty = memory.most;
    EXPECT_GT(locked.calls, 0U);
    EXPECT_TRUE(locked.taken.empty());
    expect_same_files("cpu", output);
  }
}

/// With SATIN_TEST_DEVICE=cuda:0: copies and kernels of two pictures, in page-locked memory.
TEST_F(Overlap, TheDeviceUnderTestWritesTheBytesOfTheCpu) {
  write_pictures({500, 300, 3});
  const std::string pipeline = "blur radius=6 | unsharp amount=0.5 | smooth sigma=3";
  const Device& device = device_under_test();
  EXPECT_EQ(run_on({Device::open("cpu")}, {}, {}, "cpu", pipeline).done, static_cast<std::size_t>(count));
  FilteringTogether together;
  EXPECT_EQ(run_on({device}, {}, device.is_cuda() ? together.events() : BatchEvents(), "one", pipeline).done,
            static_cast<std::size_t>(count));
  EXPECT_EQ(together.most(), device.is_cuda() ? 2 : 0);
  expect_same_files("cpu", "one");
  const Device again = Device::open(device.info().id);
  EXPECT_EQ(run_on({device, again}, {}, {}, "two", pipeline).done, static_cast<std::size_t>(count));
  expect_same_files("cpu", "two");
}

/// A filter that can run in windows, and one that needs the whole picture.
TEST_F(Overlap, GoesOnWithOnePictureWhereThereIsNoMemoryForTwo) {
  const Shape shape{300, 300, 3};  // more than is tried before the batch begins
  write_pictures(shape);
  for (const std::string pipeline : {"blur radius=2", "smooth sigma=3"}) {
    const std::size_t needed = [&] {
      const Parameters parameters = parse_pipeline(pipeline).front().parameters;
      return plan(Device::open("cpu", {.threads = 2}), parameters, std::vector<Shape>{shape})
          .workspace_bytes();
    }();
    ASSERT_GT(needed, 0U);
    Ledger ledger;
    ledger.limit = needed + needed / 2;
    Device device = Device::open("cpu", {.threads = 2, .allocator = ledger.allocator()});
    device.backend().runs_at_once = 2;
    FilteringTogether together;
    BatchOptions options;
    options.threads = 3;
    options.overwrite = true;
    EXPECT_EQ(run_on({device}, options, together.events(), "poor", pipeline).done,
              static_cast<std::size_t>(count))
        << pipeline;
    EXPECT_EQ(together.most(), 2);
    EXPECT_EQ(together.begun(), pipeline.starts_with("smooth") ? count + 1 : count);
    EXPECT_TRUE(together.in_order());
    EXPECT_EQ(run_on({Device::open("cpu")}, options, {}, "rich", pipeline).done,
              static_cast<std::size_t>(count));
    expect_same_files("poor", "rich");
  }
}

TEST_F(Overlap, PicturesLieInThePageLockedMemoryThatADeviceGives) {
  Ledger locked;
  Device device = Device::open("cpu");
  device.backend().page_locked = locked.allocator();
  EXPECT_EQ(run_on({Device::open("cpu"), device}, {}, {}, "locked").done, static_cast<std::size_t>(count));
  EXPECT_GT(locked.calls, 0U);
  EXPECT_LT(locked.calls, 2U * count) << "blocks are used again";
  EXPECT_TRUE(locked.taken.empty());
  EXPECT_EQ(run({}, {}, "plain").done, static_cast<std::size_t>(count));
  expect_same_files("locked", "plain");

  Ledger own;
  BatchOptions options;
  options.read.allocator = own.allocator();
  const std::size_t calls = locked.calls;
  EXPECT_EQ(run_on({device}, options, {}, "own").done, static_cast<std::size_t>(count));
  EXPECT_EQ(own.calls, 2U * count) << "each picture and its result";
  EXPECT_EQ(locked.calls, calls);
  EXPECT_TRUE(own.taken.empty());
  expect_same_files("own", "plain");
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
  BatchOptions options;
  options.threads = 1;  // fewer files in flight than there are
  const BatchResult result = run(options, events);
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
