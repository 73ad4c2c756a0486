#pragma once
// Launches of summed-area tables, in the manner of kernels/device/launch.h.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "pixels/maths/pixel.h"
#include "tables/table.h"

namespace satin::kernels {

// A table of 16-bit light modulo 2^32 that is gathered from, and the bits above these.

/// The bits above 32 of a table: kernels/tables/upper_bits.cuh.
struct UpperBits {
  static constexpr int step = 16;             ///< rows and columns of the table from an entry to the next
  static constexpr int largest_side = 65537;  ///< of a picture: sums of rows and columns fit 32 bits

  std::uint32_t* data = nullptr;  ///< [height / step + 1][row]: of what is before; the first of both are 0
  int row = 0;                    ///< entries
};

/// A plane of 32-bit entries a channel, in blocks of a line of the L1: 128 bytes. A row of a block is a
/// strip. What lies before the first row and column is 0.
struct TableBlocks {
  static constexpr int columns = 16;
  static constexpr int rows = 2;
  static constexpr int strip_bytes = columns * static_cast<int>(sizeof(std::uint32_t));

  std::byte* data = nullptr;  ///< the block of entry (0, 0), 128-byte aligned
  int strips = 0;             ///< from a row of blocks to the next
  std::int64_t plane = 0;     ///< bytes, from a channel to the next
  UpperBits upper;
};

/// How a picture is cut into tiles: one warp each, one block each in a single pass.
struct TableTiles {
  int kind = -1;  ///< of a single pass: of tiles and pictures; -1: two readings, for any picture
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Accumulator accumulator = Accumulator::u32;
  int tile_width = 0;
  int tile_height = 0;
  std::int64_t tile_columns = 0;
  std::int64_t tile_rows = 0;
};

/// Chooses the fastest method for the job.
[[nodiscard]] TableTiles table_tiles(const TableJob& job, int multiprocessors);

/// Bytes of what tiles tell each other. They are to be cleared before the first run, and runs that share them
/// must follow each other.
[[nodiscard]] std::size_t table_workspace_bytes(const TableTiles& tiles);

struct TableArguments {
  TableJob job;
  TableTiles tiles;
  TransferView transfer;               ///< of the type that is read
  const Measured* measured = nullptr;  ///< floats
  Source picture;
  Target table;        ///< u32 or u64, by the accumulator
  TableBlocks blocks;  ///< written instead of the table, if there are: linear light of bytes, of 32 bits
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

// --- In one pass: for kernels/tables/table.cu, which chooses between the two methods, and for tests ---

/// Tiles for a single pass over the picture, the largest first; none where there is no such kernel, or the
/// picture is too large.
[[nodiscard]] std::vector<TableTiles> single_pass_tiles(const TableJob& job);
[[nodiscard]] std::optional<TableTiles> best_single_pass_tiles(const TableJob& job, int multiprocessors);
[[nodiscard]] std::size_t single_pass_workspace_bytes(const TableTiles& tiles);

/// How blocks start and how long they wait for each other: for tests, which run what hardware hardly does.
struct SinglePassTrial {
  int looks = tuning::single_pass_looks;  ///< for what other blocks say; with 0 every block works alone
  bool reversed = false;                  ///< the first blocks do the last tiles
};

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial = {});

}  // namespace satin::kernels
