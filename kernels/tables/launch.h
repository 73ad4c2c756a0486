#pragma once
// Launches of summed-area tables, in the manner of kernels/device/launch.h.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "pixels/maths/pixel.h"
#include "tables/table.h"

namespace satin::kernels {

/// Largest side of a picture with a table of light (kernels/tables/light_table.cuh): sums of a row or column
/// fit 32 bits.
inline constexpr int largest_light_side = 65537;

/// Returns the size of an entry of that table in bytes.
[[nodiscard]] std::size_t light_entry_bytes(int channels);

/// How a picture is cut into tiles. A tile is the work of one warp, or of one block in a single pass.
struct TableTiles {
  static constexpr int two_readings = -1;

  int single_pass_variant = two_readings;  ///< index into the variants of table_single_pass.cu
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Accumulator accumulator = Accumulator::u32;
  int tile_width = 0;
  int tile_height = 0;
  std::int64_t tile_columns = 0;
  std::int64_t tile_rows = 0;
};

[[nodiscard]] TableTiles table_tiles(const TableJob& job, int multiprocessors);

/// Returns the bytes through which tiles exchange sums. They are cleared before the first run; runs that
/// share them must follow each other.
[[nodiscard]] std::size_t table_workspace_bytes(const TableTiles& tiles);

struct TableArguments {
  TableJob job;
  TableTiles tiles;
  TransferView transfer;               ///< tables of the type that is read
  const Measured* measured = nullptr;  ///< null unless floats are read
  Source picture;
  Target table;  ///< entries have the accumulator's type
  /// If set, written instead of `table`, for bytes in linear light and 32-bit sums: a table of light. Rows
  /// are multiples of 16 bytes with room for one more entry.
  Target light;
  void* workspace = nullptr;  ///< 16-byte aligned
};

void build_table(const TableArguments& arguments, StreamHandle stream);

/// Turns signed 64-bit fixed point into doubles, in place.
struct ToDoubleArguments {
  TableJob job;
  const Measured* measured = nullptr;
  Target table;
};

void to_double(const ToDoubleArguments& arguments, StreamHandle stream);

// --- Single pass: for build_table(), which chooses between the two methods, and for tests ---

/// Returns the tiles of a single pass; none where no kernel serves the job or the picture is too large.
[[nodiscard]] std::optional<TableTiles> single_pass_tiles(const TableJob& job);
[[nodiscard]] std::size_t single_pass_workspace_bytes(const TableTiles& tiles);

/// How blocks start and how long they wait for each other. Tests change it to run paths that are rare in
/// practice.
struct SinglePassTrial {
  int looks =
      tuning::single_pass_looks;  ///< attempts to find other blocks' sums; with 0 every block works alone
  bool reversed = false;          ///< the first blocks do the last tiles
};

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial = {});

}  // namespace satin::kernels
