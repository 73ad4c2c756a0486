// Memory of the device: pictures there and back, and from one place to another.

#include <gtest/gtest.h>

#include "device_under_test.h"
#include "expect_error.h"
#include "pictures.h"

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

TEST_P(DeviceMemory, CopiesWhateverTheStrides) {
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

TEST(DeviceCopy, RefusesWhatDoesNotFit) {
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
