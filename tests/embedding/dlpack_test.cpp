#include "satin/dlpack.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "satin/filters.h"

namespace satin::test {
namespace {

DLTensor tensor(void* data, std::vector<std::int64_t>& shape, std::vector<std::int64_t>* strides,
                DLDataType type, DLDevice device = {kDLCPU, 0}) {
  DLTensor result{};
  result.data = data;
  result.device = device;
  result.ndim = static_cast<int>(shape.size());
  result.dtype = type;
  result.shape = shape.data();
  result.strides = strides == nullptr ? nullptr : strides->data();
  return result;
}

constexpr DLDataType u8{kDLUInt, 8, 1};
constexpr DLDataType f32{kDLFloat, 32, 1};
constexpr TensorMeaning planes{.layout = TensorLayout::channels_first};

TEST(DlPack, DimensionsAreFoundInEveryLayout) {
  std::vector<float> values(2 * 3 * 4 * 5);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto element = [](const ImageView& view, std::int64_t frame, std::int64_t y, std::int64_t x, int c) {
    return view.value<float>(x, y, c, frame);
  };
  std::vector<std::int64_t> nchw{2, 3, 4, 5};
  const ImageView first = view_of(tensor(values.data(), nchw, nullptr, f32), planes);
  EXPECT_EQ(first.shape, (Shape{5, 4, 3, Type::f32, Alpha::none, Order::rgb, 2}));
  EXPECT_EQ(element(first, 1, 2, 3, 2), 1 * 60 + 2 * 20 + 2 * 5 + 3);

  std::vector<std::int64_t> nhwc{2, 5, 4, 3};
  const ImageView last = view_of(tensor(values.data(), nhwc, nullptr, f32));
  EXPECT_EQ(last.shape, (Shape{4, 5, 3, Type::f32, Alpha::none, Order::rgb, 2}));
  EXPECT_TRUE(last.interleaved());
  EXPECT_EQ(element(last, 1, 2, 3, 2), 1 * 60 + 2 * 12 + 3 * 3 + 2);

  std::vector<std::int64_t> chw{3, 8, 5};
  EXPECT_EQ(element(view_of(tensor(values.data(), chw, nullptr, f32), planes), 0, 2, 3, 2),
            2 * 40 + 2 * 5 + 3);
  std::vector<std::int64_t> hw{12, 10};
  EXPECT_EQ(element(view_of(tensor(values.data(), hw, nullptr, f32), planes), 0, 2, 3, 0), 23);
}

TEST(DlPack, StridesAndOffsetsAreElementsAndBytes) {
  std::vector<std::uint8_t> values(100);
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  std::vector<std::int64_t> shape{3, 4};
  std::vector<std::int64_t> strides{-20, 2};  // every second column, rows upwards
  DLTensor given = tensor(values.data(), shape, &strides, u8);
  given.byte_offset = 50;
  const ImageView view = view_of(given);
  EXPECT_EQ(view.value<std::uint8_t>(0, 0), 50);
  EXPECT_EQ(view.value<std::uint8_t>(3, 2), 50 - 40 + 6);
}

TEST(DlPack, FiltersPlanesWhereTheyAre) {
  std::vector<std::uint8_t> values(3 * 10 * 10, 0);
  values[100 + 5 * 10 + 5] = 90;  // green
  std::vector<std::int64_t> shape{3, 10, 10};
  const MutableImageView view = mutable_view_of(tensor(values.data(), shape, nullptr, u8), planes);
  const Device device = Device::open("cpu");
  std::vector<std::uint8_t> room(values.size());
  plan(device, view.shape, Blur{.radius = 1, .space = Space::encoded})
      .run(view, mutable_view_of(tensor(room.data(), shape, nullptr, u8), planes));
  EXPECT_EQ(room[100 + 44], 10);
  EXPECT_EQ(room[44], 0);
}

TEST(DlPack, KnowsWhereTheMemoryIs) {
  std::vector<std::int64_t> shape{4, 4};
  std::uint8_t bytes[16]{};
  EXPECT_EQ(view_of(tensor(bytes, shape, nullptr, u8, {kDLCUDA, 1})).memory, Memory::device);
  EXPECT_EQ(view_of(tensor(bytes, shape, nullptr, u8, {kDLCUDAHost, 0})).memory, Memory::host);
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, shape, nullptr, u8, {kDLMetal, 0}))), Error);
}

TEST(DlPack, RefusesTensorsThatAreNotPictures) {
  std::uint8_t bytes[64]{};
  std::vector<std::int64_t> line{16};
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, line, nullptr, u8))), Error);
  std::vector<std::int64_t> many{2, 2, 5};
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, many, nullptr, u8))), Error);
  std::vector<std::int64_t> nothing{0, 4};
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, nothing, nullptr, u8))), Error);
  std::vector<std::int64_t> plane{2, 2};
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, plane, nullptr, {kDLFloat, 16, 1}))), Error);
  EXPECT_THROW(static_cast<void>(view_of(tensor(bytes, plane, nullptr, {kDLUInt, 8, 4}))), Error);
}

TEST(DlPack, MovesAnImageIntoATensor) {
  Image image(Shape{5, 4, 3, Type::u8});
  image.view().value<std::uint8_t>(4, 3, 2) = 17;
  const std::byte* pixels = image.data();
  DLManagedTensor* owned = tensor_of(std::move(image));
  EXPECT_EQ(owned->dl_tensor.data, pixels);
  ASSERT_EQ(owned->dl_tensor.ndim, 3);
  const ImageView view = view_of(owned->dl_tensor);
  EXPECT_EQ(view.shape, (Shape{5, 4, 3, Type::u8}));
  EXPECT_EQ(view.value<std::uint8_t>(4, 3, 2), 17);
  owned->deleter(owned);
}

}  // namespace
}  // namespace satin::test
