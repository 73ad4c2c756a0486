// The single-pass table of the GPU where blocks give up waiting for each other: the sums that they compute
// alone are the same.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/cuda/backend.h"
#include "kernels/tables/launch.h"
#include "tests/tables/table_case.h"

namespace satin::test {
namespace {

std::optional<kernels::TableTiles> tiles_for(const Layout& layout, const TableFormat& format) {
  return kernels::single_pass_tiles(
      {layout.width, layout.height, format.read(), format.squared, format.accumulator});
}

/// The tiles of a job, and the workspace of its runs.
class SinglePassRun {
 public:
  explicit SinglePassRun(const Layout& layout, const TableFormat& format = {})
      : case_(layout, format),
        tiles_(tiles_for(layout, format).value()),
        workspace_(backend_.allocate(kernels::single_pass_workspace_bytes(tiles_))) {
    const std::vector<std::byte> zeros(workspace_.size);
    backend_.upload(workspace_.get(), zeros.data(), zeros.size(), {});
  }

  [[nodiscard]] bool is_right(std::uint64_t seed, const kernels::SinglePassTrial& trial) {
    return case_.is_right(seed, [&](const ImageView& picture, const MutableImageView& table) {
      cuda::CudaBackend& backend = cuda::as_cuda(backend_);
      backend.select();
      kernels::TableArguments arguments;
      arguments.tiles = tiles_;
      arguments.picture = cuda::source_of(picture);
      arguments.table = cuda::target_of(table);
      arguments.workspace = workspace_.get();
      kernels::build_table_in_one_pass(arguments, backend.stream_of({}), trial);
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    });
  }

 private:
  Backend& backend_ = device_under_test().backend();
  TableCase case_;
  kernels::TableTiles tiles_;
  Buffer workspace_;
};

class SinglePass : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test().is_cuda()) GTEST_SKIP() << "a kernel of the GPU";
  }
};

TEST_F(SinglePass, IsTheSameIfEveryBlockWorksAlone) {
  const std::vector<Layout> layouts = {
      {1, 1},       {3, 130},    {129, 129},     {257, 385},           {770, 260, 1, 3, 2, 1},
      {1283, 1410}, {300, 5000}, {5000, 300, 3}, {2303, 400, 1, 4, 1}, {4099, 1291}};
  for (const Layout& layout : layouts) {
    SinglePassRun run(layout);
    for (std::uint64_t seed = 0; seed < 2; ++seed)
      ASSERT_TRUE(run.is_right(seed, {.looks = 0})) << layout << ", seed " << seed;
  }
}

TEST_F(SinglePass, IsTheSameIfSomeBlocksWorkAlone) {
  const Layout layout{4099, 2500};
  SinglePassRun run(layout);
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    ASSERT_TRUE(run.is_right(seed, {.looks = static_cast<int>(seed % 8)})) << "seed " << seed;
}

TEST_F(SinglePass, DifferentRunsShareAWorkspace) {
  const Layout layout{2816, 1664};
  SinglePassRun run(layout);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    kernels::SinglePassTrial trial;
    if (seed % 3 == 1) trial.looks = 0;
    if (seed % 3 == 2) trial.reversed = true;
    ASSERT_TRUE(run.is_right(seed, trial)) << "seed " << seed;
  }
}

/// There are more tiles than blocks that run together, so the first blocks wait for blocks that cannot start.
TEST_F(SinglePass, EndsIfTheLastTilesRunFirst) {
  const Layout layout{8191, 4099};
  SinglePassRun run(layout);
  ASSERT_TRUE(run.is_right(5, {.looks = 100, .reversed = true}));
  ASSERT_TRUE(run.is_right(0, {.reversed = true}));
}

TEST_F(SinglePass, IsTheSameForEveryFormatIfBlocksWorkAlone) {
  for (const TableFormat& format : table_formats()) {
    const Layout layout{1301, 700};
    if (!tiles_for(layout, format)) continue;
    SinglePassRun run(layout, format);
    for (const int looks : {0, 2, 0, 1 << 13})
      ASSERT_TRUE(run.is_right(static_cast<std::uint64_t>(looks % 7), {.looks = looks})) << format << looks;
    ASSERT_TRUE(run.is_right(9, {.looks = 1000, .reversed = true})) << format;
  }
}

}  // namespace
}  // namespace satin::test
