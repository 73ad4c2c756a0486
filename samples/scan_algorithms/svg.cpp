#include "svg.h"

namespace study {

Svg::Svg(std::ostream& out, int width, int height) : out_(out) {
  out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
       << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
          "fill=\"white\"/>\n";
}

Svg::~Svg() { out_ << "</svg>\n"; }

void Svg::text(Point at, const std::string& content, const char* anchor) {
  out_ << "<text x=\"" << at.x << "\" y=\"" << at.y << "\" text-anchor=\"" << anchor << "\">";
  for (const char c : content)
    if (c == '<')
      out_ << "&lt;";
    else if (c == '&')
      out_ << "&amp;";
    else
      out_ << c;
  out_ << "</text>\n";
}

void Svg::line(Point from, Point to, const char* colour, double width) {
  out_ << "<line x1=\"" << from.x << "\" y1=\"" << from.y << "\" x2=\"" << to.x << "\" y2=\"" << to.y
       << "\" stroke=\"" << colour << "\" stroke-width=\"" << width << "\"/>\n";
}

void Svg::path(const std::vector<Point>& points, const char* colour) {
  out_ << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"2\" points=\"";
  for (const Point& p : points) out_ << p.x << ',' << p.y << ' ';
  out_ << "\"/>\n";
}

void Svg::circle(Point centre, double radius, const char* fill, const char* edge) {
  out_ << "<circle cx=\"" << centre.x << "\" cy=\"" << centre.y << "\" r=\"" << radius << "\" fill=\"" << fill
       << "\" stroke=\"" << edge << "\"/>\n";
}

}  // namespace study
