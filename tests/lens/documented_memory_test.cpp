// Compares the figures of src/app/README.md for the memory of dof with the workspaces of its plans.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "satin/filters/dof.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

/// The numbers in the table's row about `dof`, per pixel of RGB except for the last.
struct DocumentedBytes {
  double of_bytes = 0;        ///< 8 bits
  double of_others = 0;       ///< 16 bits, floats
  double of_steps = 0;        ///< more where steps of 8-bit depth are averaged
  double of_float_depth = 0;  ///< more for depth in floats
  double of_a_thread = 0;     ///< at most
};

DocumentedBytes documented_bytes() {
  std::ifstream file(std::filesystem::path(SATIN_SOURCE_DIR) / "src/app/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex row(
      R"(\| `dof` on the CPU \| (\d+) bytes per pixel of 8-bit RGB, (\d+) of 16 bits or floats; (\d+) more if )"
      R"(steps of 8-bit depth are averaged, (\d+) more for depth in floats; up to (\d+) MB for each thread)");
  std::smatch numbers;
  if (!std::regex_search(text, numbers, row)) {
    ADD_FAILURE() << "The table of memory has no row about dof in these words.";
    return {};
  }
  return {std::stod(numbers[1]), std::stod(numbers[2]), std::stod(numbers[3]), std::stod(numbers[4]),
          std::stod(numbers[5]) * 1e6};
}

/// Workspace for 12 megapixels of RGB; radii are `strength` pixels for the whole range of depth.
double workspace_of(const Device& device, Type type, Type depth_type, double strength) {
  const Shape shape{4000, 3000, 3, type};
  const Image depth({shape.width, shape.height, 1, depth_type});
  Dof dof;
  dof.lens.focus = 0.5;
  dof.lens.strength = strength;
  dof.depth = depth.view();
  return static_cast<double>(plan(device, shape, dof).workspace_bytes());
}

TEST(DocumentedMemory, DofHoldsWhatTheTableSays) {
  if (slow_build()) GTEST_SKIP() << "Sanitizers write to all memory.";
  const DocumentedBytes documented = documented_bytes();
  constexpr double pixels = 12e6;
  constexpr double fine = 8, coarse = 40;  // below and above a radius at which steps of 8 bits show
  for (const int threads : {1, 4}) {
    const Device device = cpu_of_threads(threads);
    const auto expect = [&](Type type, Type depth, double strength, double per_pixel) {
      const double beside = workspace_of(device, type, depth, strength) - per_pixel * pixels;
      EXPECT_GE(beside, 0) << threads << " threads: the table says too much for " << name_of(type)
                           << " with depth of " << name_of(depth);
      EXPECT_LE(beside, threads * documented.of_a_thread)
          << threads << " threads: the table says too little for " << name_of(type) << " with depth of "
          << name_of(depth);
    };
    for (const Type type : {Type::u8, Type::u16, Type::f32}) {
      const double per_pixel = type == Type::u8 ? documented.of_bytes : documented.of_others;
      expect(type, Type::u16, coarse, per_pixel);
      expect(type, Type::u8, fine, per_pixel);
      expect(type, Type::u8, coarse, per_pixel + documented.of_steps);
      expect(type, Type::f32, coarse, per_pixel + documented.of_float_depth);
    }
  }
}

}  // namespace
}  // namespace satin::test
