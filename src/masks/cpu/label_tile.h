#pragma once
// A tile of rows of a mask as runs, labelled by itself (He, Chao, Suzuki 2008): the first scan gives every
// run a provisional label and joins those of runs that touch, the second one writes final labels.

#include <cstdint>
#include <span>
#include <vector>

#include "masks/cpu/union_find.h"
#include "masks/label.h"

namespace satin::cpu {

/// The runs of one row: edges[2 i] to edges[2 i + 1] - 1, and one that lies beyond every row.
struct Runs {
  static constexpr std::uint32_t beyond = 0xFFFFFFFEU;
  explicit Runs(std::size_t width) : edges(width + 4, beyond) {}
  /// From the row's bits.
  void find(const std::uint64_t* words, std::size_t width);

  std::vector<std::uint32_t> edges;
  std::size_t count = 0;
};

/// A component of a tile as part of one of the picture.
struct Part {
  std::uint32_t label = 0;  ///< final
  RegionShape shape;
};

class LabelTile {
 public:
  LabelTile(std::int64_t first_row, std::int64_t last_row) : first_(first_row), last_(last_row) {}

  /// First scan; `words` are the bits of the tile's rows, which it fills.
  void scan(const LabelJob& job, const ImageView& mask, std::uint64_t* words);

  /// Components are numbered from 0 in the raster order of their first pixels.
  [[nodiscard]] std::uint32_t components() const { return components_; }
  /// The component of every run of the first and of the last row.
  [[nodiscard]] std::span<const std::uint32_t> first_row() const;
  [[nodiscard]] std::span<const std::uint32_t> last_row() const;

  /// Second scan: components become final[component]. The shape of a component goes to shapes[final - 1] if
  /// it is whole, otherwise to `parts`.
  void write(const LabelJob& job, const std::uint64_t* words, const std::uint32_t* final,
             const std::uint8_t* whole, const MutableImageView& labels, RegionShape* shapes);

  std::vector<Part> parts;

 private:
  /// Appends the labels of a row; those of the row above are the last ones before.
  void label_row(const Runs& row, const Runs& above, std::uint32_t reach, DisjointSets& sets);
  void number_components(const DisjointSets& sets);

  std::int64_t first_;
  std::int64_t last_;
  std::vector<std::uint32_t> runs_;  ///< their components; provisional labels at first
  std::size_t first_row_runs_ = 0;
  std::size_t last_row_runs_ = 0;
  std::uint32_t components_ = 0;
};

}  // namespace satin::cpu
