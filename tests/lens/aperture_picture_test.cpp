// A picture as an aperture: its rows have the edges between the means of its cells, around their centroid,
// and cells are open from half of the light on.

#include "lens/lamps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/backend.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr int cells = aperture_picture_side;

struct Edges {
  std::vector<ApertureRow> rows = std::vector<ApertureRow>(aperture_picture_rows);
  std::vector<ApertureEdge> edges = std::vector<ApertureEdge>(std::size_t{cells} * most_aperture_edges);
  std::vector<ApertureCells> cell_rows = std::vector<ApertureCells>(cells);
};

Edges edges_of(const Image& picture) {
  Backend& backend = device_under_test().backend();
  const auto operation = backend.prepare(AperturePictureJob{picture.shape()});
  const std::size_t size = byte_size(picture.shape());
  const Buffer pixels = backend.allocate(size);
  backend.upload(pixels.get(), picture.view().data, size, {});
  ImageView view = picture.view();
  view.data = pixels.get();
  view.memory = backend.memory();
  Edges found;
  const std::size_t row_bytes = found.rows.size() * sizeof(ApertureRow);
  const std::size_t edge_bytes = found.edges.size() * sizeof(ApertureEdge);
  const Buffer sums = backend.allocate(cells * sizeof(ApertureCells));
  const Buffer rows = backend.allocate(row_bytes);
  const Buffer edges = backend.allocate(edge_bytes);
  operation->run({view, reinterpret_cast<ApertureCells*>(sums.get()),
                  reinterpret_cast<ApertureRow*>(rows.get()), reinterpret_cast<ApertureEdge*>(edges.get())},
                 {});
  backend.download(found.rows.data(), rows.get(), row_bytes, {});
  backend.download(found.edges.data(), edges.get(), edge_bytes, {});
  backend.download(found.cell_rows.data(), sums.get(), cells * sizeof(ApertureCells), {});
  backend.synchronize({});
  return found;
}

template <class T>
double part_of_white(T value) {
  const double white = sizeof(T) == 1 ? 255.0 : sizeof(T) == 2 ? 65535.0 : 1.0;
  return static_cast<double>(value) / white;
}

/// Mean of a cell, from 0 to 255. The longer side is 32 pixels (two cells per pixel) or a multiple of 64.
template <class T>
std::int32_t expected_mean(const ImageView& picture, int cell, int row) {
  const std::int64_t side = std::max(picture.shape.width, picture.shape.height);
  const std::int64_t left = (side - picture.shape.width) / 2;
  const std::int64_t top = (side - picture.shape.height) / 2;
  const std::int64_t each = std::max<std::int64_t>(side / cells, 1);
  double sum = 0;
  for (std::int64_t j = 0; j < each; ++j)
    for (std::int64_t i = 0; i < each; ++i) {
      const std::int64_t x = cell * side / cells + i - left;
      const std::int64_t y = row * side / cells + j - top;
      if (x >= 0 && y >= 0 && x < picture.shape.width && y < picture.shape.height)
        sum += part_of_white(picture.value<T>(x, y));
    }
  return static_cast<std::int32_t>(255 * sum / static_cast<double>(each * each) + 0.5);
}

template <class T>
void expect_edges(const Image& picture) {
  const Edges found = edges_of(picture);
  double light = 0, middle_x = 0, middle_y = 0;  // the centroid in cells
  for (int row = 0; row < cells; ++row)
    for (int cell = 0; cell < cells; ++cell) {
      const double mean = expected_mean<T>(picture.view(), cell, row);
      light += mean;
      middle_x += mean * (cell + 0.5);
      middle_y += mean * (row + 0.5);
    }
  middle_x /= light;
  middle_y /= light;
  constexpr int rows_of_radius = aperture_picture_rows / 4;
  for (int row = 0; row < cells; ++row) {
    std::vector<ApertureEdge> expected;
    std::int32_t before = 0;
    std::uint64_t open = 0;
    for (int cell = 0; cell <= cells; ++cell) {
      const std::int32_t own = cell < cells ? expected_mean<T>(picture.view(), cell, row) : 0;
      if (own >= 128) open |= std::uint64_t{1} << cell;
      if (own != before) expected.push_back({static_cast<float>((cell - middle_x) / 32), own - before});
      before = own;
    }
    const int middle = 2 * rows_of_radius + static_cast<int>(rows_of_radius * (row + 0.5 - middle_y) / 32);
    const ApertureRow& at = found.rows[static_cast<std::size_t>(middle)];
    ASSERT_EQ(at.count, expected.size()) << row;
    EXPECT_EQ(found.cell_rows[static_cast<std::size_t>(row)].open, open) << row;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.edges[at.first + i].at, expected[i].at, 1e-6) << row << ", " << i;
      EXPECT_EQ(found.edges[at.first + i].step, expected[i].step) << row << ", " << i;
    }
  }
}

TEST(AperturePicture, HasTheEdgesOfItsMeans) {
  struct Size {
    int width;
    int height;
  };
  // Cells of 9 pixels and of one pixel: no mean is half way between two codes.
  for (const Size size : {Size{64, 64}, {192, 192}, {192, 70}, {30, 64}, {32, 32}, {20, 32}}) {
    SCOPED_TRACE(testing::Message() << size.width << " x " << size.height);
    expect_edges<std::uint8_t>(random_map(size.width, size.height, Type::u8, 1));
    expect_edges<std::uint16_t>(random_map(size.width, size.height, Type::u16, 2));
    expect_edges<float>(random_map(size.width, size.height, Type::f32, 3));
  }
}

TEST(AperturePicture, HasRoomForAnEdgeAtEveryCell) {
  Image picture({cells, cells, 1, Type::u8});
  for (int y = 0; y < cells; ++y)
    for (int x = 0; x < cells; ++x) picture.view().value<std::uint8_t>(x, y) = x % 2 == 0 ? 200 : 100;
  const std::vector<ApertureRow> rows = edges_of(picture).rows;
  for (std::size_t row = aperture_picture_rows / 4; row < 3 * aperture_picture_rows / 4; ++row)
    EXPECT_EQ(rows[row].count, std::uint32_t{most_aperture_edges});
  expect_edges<std::uint8_t>(picture);
}

}  // namespace
}  // namespace satin::test
