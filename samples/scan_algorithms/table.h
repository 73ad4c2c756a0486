#pragma once
// Aligned tables in Markdown.

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

namespace study {

inline std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// Aligns the first column to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      print_row(out, rows_[r], widths);
      if (r > 0) continue;
      for (std::size_t c = 0; c < widths.size(); ++c)
        out << '|' << (c == 0 ? ':' : '-') << std::string(widths[c], '-') << (c == 0 ? '-' : ':');
      out << "|\n";
    }
  }

 private:
  static void print_row(std::ostream& out, const std::vector<std::string>& row,
                        const std::vector<std::size_t>& widths) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out << "| " << (c == 0 ? std::left : std::right) << std::setw(static_cast<int>(widths[c])) << row[c]
          << ' ';
    out << "|\n";
  }

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace study
