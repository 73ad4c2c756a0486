// Device memory: uploads, downloads and copies; streams; and the stages of a run.

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "core/backend.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

class DeviceMemory : public testing::TestWithParam<Type> {
 protected:
  const Device& device_ = device_under_test();
  Image picture_ = random_picture({37, 11, 3, GetParam()}, 5);
};

TEST_P(DeviceMemory, UploadAndDownloadAreInverse) {
  EXPECT_EQ(difference(device_.download(device_.upload(picture_)), picture_), "");
}

TEST_P(DeviceMemory, RefusesPicturesInOtherMemory) {
  const Image own = device_.upload(picture_);
  ImageView elsewhere = picture_;
  elsewhere.memory = Memory::device;
  expect_error(ErrorKind::usage, "GPU's memory", [&] { return device_.upload(elsewhere); });
  elsewhere = own;
  elsewhere.memory = device_.is_cuda() ? Memory::host : Memory::device;
  expect_error(ErrorKind::usage, "was expected", [&] { return device_.download(elsewhere); });
}

TEST_P(DeviceMemory, CopiesBetweenAnyStrides) {
  const Image source = device_.upload(picture_);
  Image planes = device_.allocate(picture_.shape());
  Image target = device_.allocate(picture_.shape());
  MutableImageView planar = planes.view();
  planar.strides = planar_strides(planar.shape);
  device_.copy(source, planar);
  device_.copy(planar, target.view());
  device_.synchronize();

  EXPECT_EQ(difference(device_.download(target), picture_), "");
  const Image host_planes = device_.download(planes);
  ImageView found = host_planes.view();
  found.strides = planar.strides;
  EXPECT_EQ(difference(found, picture_), "");
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceMemory, testing::Values(Type::u8, Type::u16, Type::f32),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(PageLockedMemory, UploadAndDownloadAreInverse) {
  const Device& device = device_under_test();
  const Allocator page_locked = device.page_locked_memory();
  EXPECT_EQ(static_cast<bool>(page_locked.allocate), device.is_cuda());
  const Image picture = random_picture({333, 211, 3, Type::u8}, 6);
  Image source(picture.shape(), page_locked);
  EXPECT_EQ(source.memory(), Memory::host);
  std::memcpy(source.data(), picture.data(), byte_size(picture.shape()));
  EXPECT_EQ(difference(device.download(device.upload(source)), picture), "");
}

TEST(DeviceStreams, RunsInTwoStreamsAreIndependent) {
  const Device& device = device_under_test();
  EXPECT_GE(device.runs_at_once(), device.is_cuda() ? 2 : 1);
  const Shape shape{640, 480, 3, Type::u8};
  const Blur wanted{.radius = 7};
  const Image expected = blur(Device::open("cpu"), random_picture(shape, 7), wanted);
  const auto work = [&] {
    const OwnedStream stream = device.new_stream();
    EXPECT_EQ(stream.handle != nullptr, device.is_cuda());
    Plan steps = plan(device, shape, wanted);
    Image source(shape, device.page_locked_memory());
    Image result(shape, device.page_locked_memory());
    for (int turn = 0; turn < 20; ++turn) {
      std::memcpy(source.data(), random_picture(shape, 7).data(), byte_size(shape));
      std::memset(result.data(), turn, byte_size(shape));
      steps.run(source, result.view(), stream.get());
      EXPECT_EQ(difference(result, expected), "");
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(DeviceCopy, RefusesOtherShapes) {
  const Device& device = device_under_test();
  const Image source = device.allocate({8, 4, 3, Type::u8});
  const auto refused = [&](const std::string& piece, const MutableImageView& target) {
    expect_error(ErrorKind::usage, piece, [&] {
      device.copy(source, target);
      return 0;
    });
  };
  Image other = device.allocate({4, 8, 3, Type::u8});
  refused("one shape", other.view());
  Image elsewhere(source.shape());
  MutableImageView view = elsewhere.view();
  view.memory = device.is_cuda() ? Memory::host : Memory::device;
  refused("upload or download", view);
}

}  // namespace
}  // namespace satin::test
