// Masks as run lengths. What each function does is said in satin/rle.py.

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "python/layout.h"
#include "python/module.h"
#include "satin/rle.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

RunLengths from_counts(std::vector<std::uint32_t> counts, std::int64_t height, std::int64_t width) {
  RunLengths runs{height, width, std::move(counts)};
  validate(runs);
  return runs;
}

}  // namespace

void bind_run_lengths(nb::module_& module) {
  nb::class_<RunLengths>(module, "RunLengths")
      .def_static(
          "encode",
          [](const Picture& mask) { return released([&] { return encode_run_lengths(host_view(mask)); }); },
          "mask"_a)
      .def_static(
          "encode_labels",
          [](const Picture& labels, const std::vector<std::uint32_t>& wanted) {
            return released([&] { return encode_run_lengths(host_view(labels), wanted); });
          },
          "labels"_a, "wanted"_a)
      .def_static("from_counts", &from_counts, "counts"_a, "height"_a, "width"_a)
      .def_static(
          "from_text",
          [](const std::string& text, std::int64_t height, std::int64_t width) {
            return parse_compressed_counts(text, height, width);
          },
          "text"_a, "height"_a, "width"_a)
      .def_static(
          "unite", [](const std::vector<RunLengths>& masks) { return unite(masks); }, "masks"_a)
      .def_prop_ro("size", [](const RunLengths& runs) { return std::pair(runs.height, runs.width); })
      .def_prop_ro("counts", [](const RunLengths& runs) { return runs.counts; })
      .def_prop_ro("text", &compressed_counts)
      .def_prop_ro("area", &area)
      .def_prop_ro("box",
                   [](const RunLengths& runs) {
                     const PixelBox box = bounding_box(runs);
                     return nb::make_tuple(box.x, box.y, box.width, box.height);
                   })
      .def("decode", [](const RunLengths& runs) {
        return array_of(released([&] { return decode_run_lengths(runs); }), 0);
      });
}

}  // namespace satin::python
