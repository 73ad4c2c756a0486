// Depth in JPEG files: their structure, the index of further pictures, XMP as a tree, base 64, and every
// truncation of real files.

#include "metadata/photo_source.h"

#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using io::XmpNode;

FileBytes file_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of_base64(std::string_view text) {
  const auto bytes = io::from_base64(text);
  return bytes ? std::string(io::text_of(*bytes)) : "refused";
}

TEST(Base64, IsThatOfTheRfc) {
  for (const auto& [plain, coded] : {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="),
                                     std::pair("foo", "Zm9v"), std::pair("foob", "Zm9vYg==")}) {
    EXPECT_EQ(io::to_base64(file_of(plain)), coded);
    EXPECT_EQ(text_of_base64(coded), plain);
  }
  EXPECT_EQ(text_of_base64(" Zm\n9v\tYg "), "foob");
  EXPECT_EQ(text_of_base64("Zm9v*"), "refused");
  EXPECT_EQ(text_of_base64("Zm9vY"), "refused");
}

TEST(XmpTree, AttributesAreElementsAndPrefixesDoNotCount) {
  const auto tree =
      io::parse_xmp(file_of("<a xmlns='urn:a' xmlns:q='urn:q' q:near='1 &lt; 2'><q:item n='1'> x \n</q:item>"
                            "<b><z:item xmlns:z='urn:q'>y</z:item></b></a>"));
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->text_of("urn:q", "near"), "1 < 2");
  EXPECT_EQ(tree->text_of("urn:q", "item"), "x");
  ASSERT_EQ(tree->all("urn:q", "item").size(), 2U);
  EXPECT_EQ(tree->all("urn:q", "item")[1]->text, "y");
  EXPECT_EQ(tree->find("urn:a", "item"), nullptr);
}

TEST(XmpTree, HostilePacketsAreRefused) {
  std::string deep, wide = "<a>";
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (int i = 0; i < 100; ++i) deep += "</a>";
  for (int i = 0; i < 1100000; ++i) wide += "<b/>";
  for (const std::string& text : {std::string("<a>"), std::string("<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"),
                                  std::string("<q:a/>"), deep, wide + "</a>"})
    EXPECT_FALSE(io::parse_xmp(file_of(text)).has_value()) << text.substr(0, 40);
}

// The name of a node is its namespace, a line feed and its own name.
TEST(XmpTree, NamesOfAllNodesAreBounded) {
  constexpr std::size_t nodes = 512, longest = io::most_xmp_names / nodes;
  for (const std::string_view node : {"<q:b/>", "<q:b q:c=''/>"})
    for (const std::size_t length : {longest, longest + 1}) {
      std::string text = "<q:a xmlns:q='" + std::string(length - 2, 'n') + "'>";
      for (std::size_t i = 1; i < nodes; i += node == "<q:b/>" ? 1U : 2U) text += node;
      if (node != "<q:b/>") text.replace(text.rfind(node), node.size(), "<q:b/>");
      EXPECT_EQ(io::parse_xmp(file_of(text + "</q:a>")).has_value(), length == longest) << node;
    }
}

std::string segment(char marker, const std::string& content) {
  const std::size_t length = content.size() + 2;
  return std::string("\xff") + marker + static_cast<char>(length >> 8) + static_cast<char>(length & 255) +
         content;
}

const std::string scan = segment('\xda', "head") + std::string("data\xff\x00\xff\xd0more", 12);
const std::string end = "\xff\xd9";

TEST(JpegStructure, EndsBehindTheScan) {
  const std::string jpeg = "\xff\xd8" + segment('\xe1', "\xff\xd9 inside") + scan + scan + end;
  EXPECT_EQ(io::jpeg_size(file_of(jpeg + "behind")), jpeg.size());
  for (std::size_t size = 0; size < jpeg.size(); ++size)
    EXPECT_EQ(io::jpeg_size(file_of(jpeg.substr(0, size))), 0U);
  ASSERT_EQ(io::placed_segments(file_of(jpeg)).size(), 1U);
  EXPECT_EQ(io::placed_segments(file_of(jpeg))[0].content.size(), 9U);
}

TEST(JpegStructure, AJpegAloneDoesNotReferToOthers) {
  const std::string exif = segment('\xe1', std::string("Exif\0\0II", 8)),
                    icc = segment('\xe2', "ICC_PROFILE");
  const std::string xmp = segment('\xe1', std::string("http://ns.adobe.com/xap/1.0/\0<a/>", 33));
  const std::string extended = segment('\xe1', std::string("http://ns.adobe.com/xmp/extension/\0x", 36));
  const std::string index = segment('\xe2', std::string("MPF\0II", 6));
  const std::string start = "\xff\xd8", rest = scan + end;
  const FileBytes alone =
      io::jpeg_alone(file_of(start + exif + xmp + extended + index + icc + rest + "behind"));
  EXPECT_EQ(io::text_of(alone), start + exif + icc + rest);
}

TEST(JpegStructure, PlacesOutsideTheFileAreEmpty) {
  const auto number = [](std::uint32_t value) {
    io::Sink sink;
    sink.le32(value);
    return std::string(io::text_of(sink.bytes));
  };
  const auto index = [&](std::uint32_t offset, std::uint32_t size) {
    const std::string header("MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0", 18);
    const std::string entry = std::string(4, '\0');
    return "\xff\xd8" +
           segment('\xe2', header + number(32) + number(26) + number(0) + entry + number(10) + number(0) +
                               number(0) + entry + number(size) + number(offset) + number(0)) +
           end;
  };
  const std::size_t all = index(0, 0).size();
  const auto second = [&](std::uint32_t offset, std::uint32_t size) {
    const FileBytes file = file_of(index(offset, size) + "0123");
    const std::vector<io::Bytes> pictures = io::mpf_pictures(file);
    return pictures.size() == 2 ? std::string(io::text_of(pictures[1])) : "no index";
  };
  const auto behind = static_cast<std::uint32_t>(all - 10);
  EXPECT_EQ(second(behind, 4), "0123");
  EXPECT_EQ(second(behind + 1, 3), "123");
  EXPECT_EQ(second(behind, 5), "");
  EXPECT_EQ(second(UINT32_MAX, 1), "");
  EXPECT_EQ(second(behind, UINT32_MAX), "");
}

TEST(PhotoExif, PlacesAreTurnedAsPicturesAre) {
  const Image source = random_image(shape_of(5, 3, 1, Type::u8));
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Point point = io::upright_point(0.1, 0.5, orientation);  // the first pixel of the middle row
    const bool along = orientation <= 4;
    EXPECT_EQ((along ? point.y : point.x).value, 50) << orientation;
    const bool last = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    EXPECT_NEAR((along ? point.x : point.y).value, last ? 90 : 10, 1e-9) << orientation;
  }
}

/// Real files that are cut at every segment and near their end give a picture with or without depth, or
/// Error(input).
TEST(PhotoSource, TruncatedFilesAreReadOrRefused) {
  const fs::path folder = fs::path(SATIN_TEST_DATA) / "portrait";
  for (const char* name : {"apple_mpf.jpg", "google_camera_2014.jpg"}) {
    if (!fs::exists(folder / name)) GTEST_SKIP() << (folder / name) << " is missing.";
    const FileBytes file = load(folder / name);
    std::vector<std::size_t> cuts{io::jpeg_size(file) / 2, file.size() - 1};
    for (const io::PlacedSegment& segment : io::placed_segments(file))
      cuts.insert(cuts.end(), {segment.at, segment.at + 20});
    for (const std::size_t cut : cuts) {
      try {
        ReadOptions options;
        options.photo_depth = true;
        EXPECT_TRUE(decode_picture(io::Bytes(file).first(cut), name, options).photo.has_value());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace satin::test
