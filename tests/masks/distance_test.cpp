// The operation `distance` against the smallest of all distances.

#include "masks/distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/backend.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_mask.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::uint32_t largest_most = 16385U * 16385U;

DistanceJob job_of(const PixelSet& region, MaskSide side, std::uint32_t most, DistanceResult result) {
  DistanceJob job;
  job.width = region.width;
  job.height = region.height;
  job.side = side;
  job.most = most;
  job.result = result;
  return job;
}

/// The result of one run, with poison where nothing was written and between the rows.
Image run_job(const PixelSet& region, const DistanceJob& job, const Device& device = device_under_test()) {
  Backend& backend = device.backend();
  const Image mask = picture_of(region);
  const Type type = job.result == DistanceResult::squared ? Type::u32 : Type::u8;
  const Shape shape{region.width, region.height, 1, type};
  // Rows of masks and outputs lie further apart than they are long, and upside down.
  const std::ptrdiff_t mask_row = region.width + 3;
  const std::ptrdiff_t out_row = (region.width + 5) * static_cast<std::ptrdiff_t>(size_of(type));
  const auto height = static_cast<std::size_t>(region.height);
  std::vector<std::byte> mask_bytes(height * static_cast<std::size_t>(mask_row), std::byte{0xCD});
  std::vector<std::byte> out_bytes(height * static_cast<std::size_t>(out_row), std::byte{0xCD});
  for (std::int64_t y = 0; y < region.height; ++y)
    std::memcpy(mask_bytes.data() + (region.height - 1 - y) * mask_row, mask.data() + y * region.width,
                static_cast<std::size_t>(region.width));
  const Buffer mask_buffer = backend.allocate(mask_bytes.size());
  const Buffer out_buffer = backend.allocate(out_bytes.size());
  backend.upload(mask_buffer.get(), mask_bytes.data(), mask_bytes.size(), {});
  backend.upload(out_buffer.get(), out_bytes.data(), out_bytes.size(), {});
  const Memory memory = backend.host_memory ? Memory::host : Memory::device;
  const auto operation = backend.prepare(job);
  const ImageView mask_view{mask_buffer.get() + (region.height - 1) * mask_row,
                            {region.width, region.height, 1, Type::u8},
                            {1, -mask_row, 1, 0},
                            memory};
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  operation->run(mask_view, {out_buffer.get(), shape, {size, out_row, size, 0}, memory}, {});
  backend.download(out_bytes.data(), out_buffer.get(), out_bytes.size(), {});
  Image result(shape);
  for (std::int64_t y = 0; y < region.height; ++y) {
    std::memcpy(result.data() + y * region.width * size, out_bytes.data() + y * out_row,
                static_cast<std::size_t>(region.width * size));
    for (std::ptrdiff_t i = region.width * size; i < out_row; ++i)
      EXPECT_EQ(out_bytes[static_cast<std::size_t>(y * out_row + i)], std::byte{0xCD}) << "behind row " << y;
  }
  return result;
}

bool on_side(MaskSide side, bool inside) {
  return side == MaskSide::both || (side == MaskSide::inside) == inside;
}

std::uint32_t expected_square(const PixelSet& region, const std::vector<std::int64_t>& nearest, MaskSide side,
                              std::uint32_t most, std::size_t i) {
  if (!on_side(side, region.inside[i] != 0)) return 0;
  return nearest[i] < 0 || nearest[i] > most ? most : static_cast<std::uint32_t>(nearest[i]);
}

void check_squares(const PixelSet& region, const std::vector<std::int64_t>& nearest, MaskSide side,
                   std::uint32_t most) {
  const Image found = run_job(region, job_of(region, side, most, DistanceResult::squared));
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, found.data() + 4 * i, 4);
    ASSERT_EQ(value, expected_square(region, nearest, side, most, i))
        << "x " << static_cast<std::int64_t>(i) % region.width << ", y "
        << static_cast<std::int64_t>(i) / region.width;
  }
}

void check_moved(const PixelSet& region, const std::vector<std::int64_t>& nearest, MaskSide side,
                 std::uint32_t most, bool inverted) {
  DistanceJob job = job_of(region, side, most, DistanceResult::moved);
  job.inverted = inverted;
  const Image found = run_job(region, job);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const bool inside = region.inside[i] != 0;
    const bool moves = on_side(side, inside) && nearest[i] >= 0 && nearest[i] < most;
    ASSERT_EQ(static_cast<int>(found.data()[i]), (inside != moves) != inverted ? 255 : 0)
        << "x " << static_cast<std::int64_t>(i) % region.width << ", y "
        << static_cast<std::int64_t>(i) / region.width;
  }
}

/// Random ascending steps.
DistanceRamp random_ramp(std::uint32_t most, Random& random) {
  DistanceRamp ramp;
  for (std::uint32_t& first : ramp.first) first = static_cast<std::uint32_t>(random.below(most + 1));
  std::sort(std::begin(ramp.first), std::end(ramp.first));
  ramp.first[DistanceRamp::steps - 1] = most;
  return ramp;
}

void check_ramp(const PixelSet& region, const std::vector<std::int64_t>& nearest, std::uint32_t most,
                bool inverted, std::uint64_t seed) {
  Random random(seed);
  DistanceJob job = job_of(region, MaskSide::both, most, DistanceResult::ramp);
  job.inside = random_ramp(most, random);
  job.outside = random_ramp(most, random);
  job.inverted = inverted;
  const Image found = run_job(region, job);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const bool inside = region.inside[i] != 0;
    const std::uint32_t squared = expected_square(region, nearest, MaskSide::both, most, i);
    const auto& first = inside ? job.inside.first : job.outside.first;
    const auto count =
        std::count_if(std::begin(first), std::end(first), [&](std::uint32_t f) { return f <= squared; });
    const auto value = inside != inverted ? count : 255 - count;
    ASSERT_EQ(static_cast<std::int64_t>(found.data()[i]), value) << "pixel " << i << ", squared " << squared;
  }
}

void check_everything(const PixelSet& region, std::uint32_t most, std::uint64_t seed) {
  const std::vector<std::int64_t> nearest = squared_distances(region);
  for (const MaskSide side : {MaskSide::outside, MaskSide::inside, MaskSide::both}) {
    SCOPED_TRACE("side " + std::to_string(static_cast<int>(side)));
    check_squares(region, nearest, side, most);
    if (side == MaskSide::both) continue;
    check_moved(region, nearest, side, most, false);
    check_moved(region, nearest, side, most, true);
  }
  check_ramp(region, nearest, most, seed % 2 == 0, seed);
}

std::string text_of(const std::string& kind, const PixelSet& region, std::uint32_t most, std::uint64_t seed) {
  return kind + ", " + std::to_string(region.width) + " x " + std::to_string(region.height) + ", most " +
         std::to_string(most) + ", seed " + std::to_string(seed);
}

TEST(Distance, IsTheSmallestOfAllDistances) {
  std::uint64_t seed = 1;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 50}, {50, 1}, {2, 3}, {37, 23}, {33, 64}, {200, 9}, {9, 200}, {97, 41}})
    for (const std::string& kind : region_kinds)
      for (const std::uint32_t most : {1U, 2U, 5U, 50U, 1000U, largest_most}) {
        ++seed;
        if (slow_build() && seed % 8 != 0) continue;
        const PixelSet region = region_of_kind(kind, width, height, seed);
        SCOPED_TRACE(text_of(kind, region, most, seed));
        check_everything(region, most, seed);
        if (HasFatalFailure()) return;
      }
}

/// Reaches around the limits of types of steps and of tables of ramps.
TEST(Distance, IsExactAtEveryReach) {
  std::uint64_t seed = 1000;
  for (const std::uint32_t reach :
       {14U, 15U, 16U, 126U, 127U, 128U, 180U, 181U, 253U, 254U, 255U, 256U, 300U})
    for (const auto& [width, height] : {std::pair{700, 1}, {1, 700}, {330, 3}, {3, 330}})
      for (const char* kind : {"point", "hole"})
        for (const std::uint32_t most : {reach * reach, reach * reach + 1, (reach + 1) * (reach + 1)}) {
          ++seed;
          if (slow_build() && seed % 8 != 0) continue;
          const PixelSet region = region_of_kind(kind, width, height, seed);
          SCOPED_TRACE(text_of(kind, region, most, seed));
          check_everything(region, most, seed);
          if (HasFatalFailure()) return;
        }
}

TEST(Distance, DoesNotDependOnHowThePictureIsCut) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "threads are the CPU's";
  const Device one = Device::open("cpu", {.threads = 1});
  const Device many = Device::open("cpu", {.threads = 7});
  for (const std::uint32_t most : {26U, 5000U, 70000U})
    for (const char* kind : {"blobs", "sparse", "hole"})
      for (const DistanceResult result : {DistanceResult::squared, DistanceResult::moved}) {
        const PixelSet region = region_of_kind(kind, 61, 700, most);
        const DistanceJob job = job_of(region, MaskSide::outside, most, result);
        EXPECT_EQ(difference(run_job(region, job, many), run_job(region, job, one)), "") << kind << most;
      }
}

/// One pixel inside at the end of a line: squares up to 16384^2 are told apart.
TEST(Distance, IsExactUpToTheLargestReach) {
  constexpr std::int64_t length = 16400;
  for (const bool down : {false, true}) {
    PixelSet region{down ? 2 : length, down ? length : 2, std::vector<char>(2 * length)};
    region.inside[0] = 1;
    const Image found =
        run_job(region, job_of(region, MaskSide::outside, largest_most, DistanceResult::squared));
    const Image moved =
        run_job(region, job_of(region, MaskSide::outside, 16384U * 16384U + 1, DistanceResult::moved));
    for (std::int64_t along = 0; along < length; ++along)
      for (std::int64_t across = 0; across < 2; ++across) {
        const std::int64_t squared = std::min<std::int64_t>(along * along + across * across, largest_most);
        const std::int64_t x = down ? across : along;
        const std::int64_t y = down ? along : across;
        ASSERT_EQ(found.view().value<std::uint32_t>(x, y), squared) << along << ", " << across;
        ASSERT_EQ(moved.view().value<std::uint8_t>(x, y), squared <= 16384 * 16384 ? 255 : 0) << along;
      }
  }
}

TEST(Distance, RefusesLimitsBeyondItsBound) {
  const PixelSet region{4, 4, std::vector<char>(16)};
  const auto with = [&](std::uint32_t most) {
    return
        [&region, most] { return reach_of(job_of(region, MaskSide::both, most, DistanceResult::squared)); };
  };
  EXPECT_EQ(with(largest_most)(), 16384);
  EXPECT_EQ(with(1)(), 0);
  expect_error(ErrorKind::usage, "268468226", with(largest_most + 1));
  expect_error(ErrorKind::usage, "from 1", with(0));
}

TEST(Distance, WholeRootsAreExact) {
  for (std::uint32_t root = 1; root < 65536; root += root < 300 ? 1 : 311) {
    EXPECT_EQ(whole_root(root * root), root);
    EXPECT_EQ(whole_root(root * root - 1), root - 1);
  }
  EXPECT_EQ(whole_root(0), 0U);
  EXPECT_EQ(whole_root(0xFFFFFFFFU), 65535U);
}

}  // namespace
}  // namespace satin::test
