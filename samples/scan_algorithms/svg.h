#pragma once
// A small SVG writer for the pictures of this folder.

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace study {

struct Point {
  double x = 0;
  double y = 0;
};

/// Writes the opening tag and a white background on construction, the closing tag on destruction.
class Svg {
 public:
  Svg(std::ostream& out, int width, int height);
  ~Svg();
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  void text(Point at, const std::string& content, const char* anchor = "middle");
  void line(Point from, Point to, const char* colour, double width = 1);
  void path(const std::vector<Point>& points, const char* colour);
  void circle(Point centre, double radius, const char* fill, const char* edge = "none");

 private:
  std::ostream& out_;
};

}  // namespace study
