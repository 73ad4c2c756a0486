#pragma once
// Launchers of the box mean with one radius that needs no table (box_mean_running.cuh, box_mean_wide.cuh).

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// A window along one axis: the sum over `reach` pixels to either side, times inner + outer, and outer times
/// the two pixels beyond. The weights of core/maths/window.h without their common factor.
struct RunningWindow {
  int reach = 0;
  std::uint32_t inner = 1;
  std::uint32_t outer = 0;  ///< 0: a whole radius

  [[nodiscard]] SATIN_HD int outer_reach() const { return reach + (outer != 0 ? 1 : 0); }
};

/// How a picture is cut into strips of columns and bands of rows, a team of warps each.
struct RunningTiles {
  int warps = 0;  ///< of a team; 0: this way is not for this job
  int teams = 0;  ///< of a block, each with a strip and a band of its own
  int strip_width = 0;
  int strips = 0;
  int bands = 0;
  bool groups = false;  ///< bands start from sums over groups of rows
  std::size_t shared_bytes = 0;
};

/// Widths of the sums down a column, and of those along a row.
enum class RunningSums : std::uint8_t {
  u32,      ///< both
  u32_u64,  ///< 32 bits down the columns
  u64
};

/// (n + divisor / 2) / divisor by a multiplication: factor / 2^(32 + shift) is 1 / divisor, rounded up.
struct ScaledDivisor {
  std::uint32_t divisor = 0;  ///< 0: cannot be used
  std::uint32_t factor = 0;
  std::uint32_t shift = 0;
  bool exact = false;  ///< otherwise the quotient may be one too large
};

/// For n up to `largest` times the divisor.
[[nodiscard]] ScaledDivisor scaled_divisor(std::uint64_t divisor, std::uint64_t largest);

struct RunningMeanJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  Type type = Type::u8;    ///< u8 or u16; what `wide` takes
  Type output = Type::u8;  ///< u8 or u16; another one than `type` with the sums u32_u64, without weights
  /// From or to more than 16 bits, by box_mean_wide.cuh: floats and their fixed point (u64) to each other, to
  /// fixed point with whole radii alone; u8, u16 and u32 to u32, u32 to u16, without weights.
  bool wide = false;
  int fixed_bits = 0;  ///< of a float's magnitude in fixed point
  RunningSums sums = RunningSums::u32;
  bool decoded = false;   ///< to linear light
  bool encoded = false;   ///< from linear light
  bool weighted = false;  ///< the last channel is alpha: colours count times alpha. u8 and 32-bit columns
  bool clipped = false;   ///< only pixels of the picture count: Border::shrink
  int more_bits = 0;      ///< below the point that means have more than values; negative: fewer
  RunningWindow x;
  RunningWindow y;
  ScaledDivisor whole;          ///< of a window that is not clipped
  bool large_divisors = false;  ///< of 2^28 and more, times the largest alpha
};

/// Positions before the first and behind the last pixel that the kernels may ask for the source of.
struct RunningMargin {
  int before = 0;
  int behind = 0;
};
[[nodiscard]] RunningMargin running_margin(const RunningWindow& window);

/// `shared_limit`: the most shared memory of a block of the device.
[[nodiscard]] RunningTiles running_tiles(const RunningMeanJob& job, int multiprocessors,
                                         std::size_t shared_limit);

/// Bytes of the sums over groups of rows; 0 without them.
[[nodiscard]] std::size_t running_groups_bytes(const RunningMeanJob& job, const RunningTiles& tiles);

struct RunningMeanArguments {
  RunningMeanJob job;
  RunningTiles tiles;
  TransferView transfer;
  const int* rows = nullptr;     ///< [y] = row of the picture at position y, or -1; from -margin on
  const int* columns = nullptr;  ///< the same along x
  void* groups = nullptr;
  const Measured* measured = nullptr;  ///< floats and their fixed point
  Source source;
  Target output;
};

/// For pictures of type T with these channels and means of type Out; defined in box_mean_running.cuh, which
/// the instances alone include. Those of one T and Channels stand in one source: kernels of RowGroups are
/// others in every source.
template <class T, class Out, int Channels>
struct RunningKernels {
  static int prepare(const RunningMeanArguments& arguments);
  static void run(const RunningMeanArguments& arguments, StreamHandle stream);
};

/// The same of wide jobs; defined in box_mean_wide.cuh.
template <class T, int Channels>
struct WideKernels {
  static int prepare(const RunningMeanArguments& arguments);
  static void run(const RunningMeanArguments& arguments, StreamHandle stream);
};

/// To be called once for a job on its device; the code of a cudaError_t.
[[nodiscard]] int prepare_running_mean(const RunningMeanArguments& arguments);

void running_mean(const RunningMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
