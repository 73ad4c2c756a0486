// Extended XMP of JPEG files: segments in any order, checked by their digest, joined and divided again.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using io::Bytes;
using io::FileBytes;

std::string text_of(const FileBytes& bytes) { return std::string(io::text_of(bytes)); }

std::string packet(const std::string& attributes, const std::string& elements) {
  return "<x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:out='urn:out'><r:RDF "
         "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description r:about='' xmlns:q='urn:q' " +
         attributes + ">" + elements + "</r:Description></r:RDF></x:xmpmeta>";
}

/// Returns the values of all properties, sorted.
std::vector<std::string> values_in(const FileBytes& xmp) {
  std::vector<std::string> values;
  const auto all = io::xmp_properties(xmp);
  if (!all) return {"not read"};
  for (const io::XmpProperty& property : all->properties)
    if (property.name != "HasExtendedXMP")
      values.push_back(property.space + ' ' + property.name + ' ' + property.value);
  std::sort(values.begin(), values.end());
  return values;
}

struct Cut {
  FileBytes standard;
  std::vector<FileBytes> extended;

  explicit Cut(const FileBytes& xmp) : extended(io::xmp_segments(xmp)) {
    standard = extended.front();
    standard.erase(standard.begin(), standard.begin() + io::xmp_name.size());
    extended.erase(extended.begin());
  }

  [[nodiscard]] std::optional<FileBytes> joined() const {
    io::ExtendedXmp parts;
    for (const FileBytes& segment : extended) EXPECT_TRUE(parts.add(segment));
    const auto packet = parts.packet(io::extended_guid(standard));
    return packet ? io::joined_xmp(standard, *packet) : std::nullopt;
  }
};

FileBytes long_packet() {
  return bytes_of(packet("q:small='1 &lt; 2' q:large='" + std::string(70000, 'a') + "'",
                         "<q:list><r:Bag><r:li>" + std::string(100000, 'b') +
                             "</r:li></r:Bag></q:list><out:e>x</out:e><q:empty/>"));
}

TEST(Md5, DigestsOfTheRfc) {
  const auto md5 = [](const std::string& text) { return io::md5_of(bytes_of(text)); };
  EXPECT_EQ(md5(""), "D41D8CD98F00B204E9800998ECF8427E");
  EXPECT_EQ(md5("abc"), "900150983CD24FB0D6963F7D28E17F72");
  EXPECT_EQ(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "D174AB98D277D9F5A5611C2C9F419D9F");
  EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57EDF4A22BE3C955AC49DA2E2107B67A");
  EXPECT_EQ(md5(std::string(56, 'a')), "3B0C8AC703F828B04C6C197006D17218");
}

TEST(ExtendedXmp, APacketThatFitsIsOneSegment) {
  const FileBytes xmp = bytes_of(packet("q:a='1'", ""));
  const std::vector<FileBytes> segments = io::xmp_segments(xmp);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(text_of(segments[0]), std::string(io::xmp_name) + text_of(xmp));
  EXPECT_TRUE(io::xmp_segments({}).empty());
  EXPECT_TRUE(io::xmp_segments(bytes_of(std::string(70000, '<'))).empty());
}

TEST(ExtendedXmp, ALongPacketIsCutAndJoinedWithoutLoss) {
  const FileBytes xmp = long_packet();
  const Cut cut(xmp);
  for (const FileBytes& segment : cut.extended) EXPECT_LE(segment.size(), io::jpeg_segment_limit);
  EXPECT_EQ(cut.extended.size(), 3U);
  EXPECT_NE(text_of(cut.standard).find("q:small"), std::string::npos);
  EXPECT_EQ(text_of(cut.standard).find("q:large"), std::string::npos);
  const auto joined = cut.joined();
  ASSERT_TRUE(joined);
  EXPECT_EQ(values_in(*joined), values_in(xmp));
  FileBytes described = *joined;
  EXPECT_TRUE(io::describe_in_xmp(described, 1, 1));
  EXPECT_EQ(text_of(described).find("HasExtendedXMP"), std::string::npos);
  EXPECT_EQ(values_in(described), values_in(xmp));
}

TEST(ExtendedXmp, PaddingIsLeftOutWhereItHasNoRoom) {
  const FileBytes xmp = bytes_of(packet("q:a='1'", "<q:b>2</q:b>") + std::string(70000, ' '));
  const auto joined = Cut(xmp).joined();
  ASSERT_TRUE(joined);
  EXPECT_EQ(values_in(*joined), values_in(xmp));
}

TEST(ExtendedXmp, SegmentsComeInAnyOrderBesideThoseOfOtherPackets) {
  Cut cut(long_packet());
  const Cut other(bytes_of(packet("q:other='" + std::string(80000, 'c') + "'", "")));
  const auto wanted = cut.joined();
  std::reverse(cut.extended.begin(), cut.extended.end());
  cut.extended.insert(cut.extended.begin() + 1, other.extended.begin(), other.extended.end());
  EXPECT_EQ(cut.joined(), wanted);
}

TEST(ExtendedXmp, IncompleteOrOtherPacketsAreNotUsed) {
  const Cut good(long_packet());
  Cut cut = good;
  cut.extended.pop_back();
  EXPECT_FALSE(cut.joined());
  cut = good;
  cut.extended.push_back(cut.extended.front());
  EXPECT_FALSE(cut.joined());
  cut = good;
  cut.extended.front().back() ^= std::byte{1};
  EXPECT_FALSE(cut.joined());
  cut = good;
  cut.extended.back().resize(60);
  io::ExtendedXmp parts;
  EXPECT_FALSE(parts.add(cut.extended.back()));
  EXPECT_FALSE(parts.add(bytes_of(std::string(io::xmp_name) + "x")));
  EXPECT_TRUE(parts.empty());
}

TEST(ExtendedXmp, PropertiesCarryThePrefixesOfTheirPlace) {
  const std::string extended =
      "<x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:q='urn:hidden'>"
      "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:q='urn:a&amp;b'>"
      "<rdf:Description rdf:about='' q:c='1'/></rdf:RDF></x:xmpmeta>";
  const auto joined = io::joined_xmp(bytes_of(packet("q:c='2'", "")), bytes_of(extended));
  ASSERT_TRUE(joined);
  EXPECT_EQ(values_in(*joined), (std::vector<std::string>{"urn:a&b c 1", "urn:q c 2"}));
}

TEST(ExtendedXmp, AttributesAreFoundHoweverTheyAreWritten) {
  const std::string text =
      packet("xmlns = 'urn:d'\txmlns:z\n=\"urn:z\" z:a = '\"x\" xmlns:y=&gt;>' z:b='/>'", "<c> t </c>");
  EXPECT_EQ(values_in(bytes_of(text)),
            (std::vector<std::string>{"urn:d c  t ", "urn:z a \"x\" xmlns:y=>>", "urn:z b />"}));
}

TEST(ExtendedXmp, Utf16IsNotRead) {
  const std::string text = packet("q:a='1'", "");
  for (const std::size_t first : {0U, 1U}) {
    FileBytes wide(2 * text.size());
    for (std::size_t i = 0; i < text.size(); ++i) wide[2 * i + first] = static_cast<std::byte>(text[i]);
    EXPECT_FALSE(io::xmp_properties(wide));
    EXPECT_EQ(io::extended_guid(wide), "");
    wide.insert(wide.begin(), {std::byte(first == 0 ? 0xFF : 0xFE), std::byte(first == 0 ? 0xFE : 0xFF)});
    EXPECT_FALSE(io::xmp_properties(wide));
  }
}

TEST(ExtendedXmp, HostilePacketsDoNotGrow) {
  std::string prefixes, descriptions;
  for (int i = 0; i < 900; ++i)
    prefixes += " xmlns:p" + std::to_string(i) + "='urn:" + std::to_string(i) + "'";
  for (int i = 0; i < 1000; ++i) descriptions += "<r:Description q:a='1'/>";
  const std::string text = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:q='urn:q'" +
                           prefixes + ">" + descriptions + "</r:RDF>";
  EXPECT_FALSE(io::xmp_properties(bytes_of(text)));
}

TEST(ExtendedXmp, NamesOfAllPropertiesAreBounded) {
  constexpr std::size_t properties = 512, longest = io::most_xmp_names / properties - sizeof(io::XmpProperty);
  for (const std::string_view property : {"<q:a/>", " q:a=''"})
    for (const std::size_t length : {longest, longest + 1}) {
      std::string text =
          "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description xmlns:q='" +
          std::string(length, 'n') + "'" + (property.front() == ' ' ? " q:a=''>" : "><q:a/>");
      for (std::size_t i = 1; i < properties; ++i) text += "<q:a/>";
      EXPECT_EQ(io::xmp_properties(bytes_of(text + "</r:Description></r:RDF>")).has_value(),
                length == longest)
          << property;
    }
}

}  // namespace
}  // namespace satin::test
