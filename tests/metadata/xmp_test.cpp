// XMP packets: properties of the pixels are changed, previews of the old picture are removed, the rest stays.

#include "metadata/xmp.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/io/support.h"

namespace satin::test {
namespace {

constexpr std::string_view secret = "U0VDUkVU";

std::string packet(const std::string& attributes, const std::string& elements) {
  return "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
         "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
         "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
         "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" " +
         attributes + ">" + elements +
         "<dc:title>a &amp; b \xc3\xa4</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>\n"
         "<?xpacket end=\"w\"?>";
}

std::string utf16(std::string_view text, bool little, bool mark) {
  std::string result;
  const auto put = [&](unsigned unit) {
    const char low = static_cast<char>(unit & 255U), high = static_cast<char>(unit >> 8);
    result += little ? low : high;
    result += little ? high : low;
  };
  if (mark) put(0xFEFF);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      put(byte);
    } else if (byte < 0xE0) {
      put((byte & 31U) << 6 | (static_cast<unsigned char>(text[i + 1]) & 63U));
      i += 1;
    } else {
      put((byte & 15U) << 12 | (static_cast<unsigned char>(text[i + 1]) & 63U) << 6 |
          (static_cast<unsigned char>(text[i + 2]) & 63U));
      i += 2;
    }
  }
  return result;
}

std::string described(const std::string& text, bool well_formed = true) {
  FileBytes bytes = bytes_of(text);
  EXPECT_EQ(io::describe_in_xmp(bytes, 10, 20), well_formed);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Xmp, OtherPropertiesStayUnchanged) {
  const std::string text =
      packet("xmlns:q='urn:q' q:a='1 &lt; 2' q:b=\"x\"", "<q:c/><!-- a remark --><q:d>\n</q:d>");
  EXPECT_EQ(described(text), text);
  EXPECT_EQ(described(text + std::string(7, '\0')), text);
}

TEST(Xmp, SizeAndOrientationAreThoseOfTheUprightPicture) {
  const std::string spaces =
      "xmlns:t=\"http://ns.adobe.com/tiff/1.0/\" xmlns:exif=\"http://ns.adobe.com/exif/1.0/\"";
  const std::string attributes = described(
      packet(spaces + " t:Orientation=\"6\" exif:PixelXDimension=\"9\" dc:x=\"a &quot;&amp; b\"", ""));
  EXPECT_NE(attributes.find("t:Orientation=\"1\""), std::string::npos) << attributes;
  EXPECT_NE(attributes.find("exif:PixelXDimension=\"10\""), std::string::npos) << attributes;
  EXPECT_NE(attributes.find("dc:x=\"a &quot;&amp; b\""), std::string::npos) << attributes;
  const std::string elements = described(
      packet(spaces,
             "<t:Orientation>6</t:Orientation><t:ImageLength> 9 </t:ImageLength><t:ImageWidth/>"
             "<exif:PixelYDimension>8</exif:PixelYDimension><other:Orientation xmlns:other='urn:o'>6"
             "</other:Orientation>"));
  EXPECT_NE(elements.find("<t:Orientation>1</t:Orientation><t:ImageLength>20</t:ImageLength><t:ImageWidth/>"
                          "<exif:PixelYDimension>20</exif:PixelYDimension><other:Orientation "
                          "xmlns:other='urn:o'>6</other:Orientation>"),
            std::string::npos)
      << elements;
}

TEST(Xmp, PicturesAreRemovedUnderAnyPrefixAndEncoding) {
  const std::string hidden(secret);
  const std::vector<std::string> places = {
      packet("xmlns:GImage=\"http://ns.google.com/photos/1.0/image/\" GImage:Data=\"" + hidden + "\"", ""),
      packet("xmlns:g=\"http://ns.google.com/photos/1.0/image/\"", "<g:Data>" + hidden + "</g:Data>"),
      packet("xmlns:a=\"http://ns.adobe.com/xap/1.0/\" xmlns:z=\"http://ns.adobe.com/xap/1.0/g/img/\"",
             "<a:Thumbnails><rdf:Alt><rdf:li rdf:parseType=\"Resource\"><z:image>" + hidden +
                 "</z:image></rdf:li></rdf:Alt></a:Thumbnails>"),
      packet("", "<dc:source><z:image xmlns:z=\"http://ns.adobe.com/xap/1.0/g/img/\">" + hidden +
                     "</z:image></dc:source>"),
      packet("xmlns:a=\"http://ns.adobe.com/xap/1.0/\"", "<a:Thumbnails a:y=\"" + hidden + "\"/>"),
      packet("", "<image xmlns=\"http://ns.adobe.com/xap/1.0/g/img/\"><b>" + hidden + "</b></image>"),
  };
  for (const std::string& place : places) {
    ASSERT_NE(place.find(secret), std::string::npos);
    for (const std::string& text : {place, utf16(place, true, true), utf16(place, false, true),
                                    utf16(place, true, false), utf16(place, false, false)}) {
      const std::string kept = described(text);
      EXPECT_EQ(kept.find(secret), std::string::npos) << kept;
      EXPECT_NE(kept.find("<dc:title>a &amp; b \xc3\xa4</dc:title>"), std::string::npos) << kept;
      EXPECT_EQ(described(kept), kept);
    }
  }
}

TEST(Xmp, PropertiesOfOtherPicturesAreRemoved) {
  const std::string kept = described(packet(
      "xmlns:n=\"http://ns.adobe.com/xmp/note/\" n:HasExtendedXMP=\"00112233445566778899AABBCCDDEEFF\" "
      "xmlns:h=\"http://ns.adobe.com/hdr-gain-map/1.0/\" h:Version=\"1.0\"",
      "<c:Directory xmlns:c=\"http://ns.google.com/photos/1.0/container/\"><rdf:Seq/></c:Directory>"));
  for (const char* word : {"HasExtendedXMP", "h:Version", "Directory"})
    EXPECT_EQ(kept.find(word), std::string::npos) << kept;
}

TEST(Xmp, MalformedPacketsAreRemoved) {
  const std::string good = packet("", "");
  for (const std::string& bad :
       {std::string("packet"), good.substr(0, good.size() / 2), packet("", "<open>"),
        "<!DOCTYPE x [<!ENTITY e \"" + std::string(secret) + "\">]>" + good, good + good})
    EXPECT_EQ(described(bad, false), "");
  EXPECT_EQ(described(""), "");
}

}  // namespace
}  // namespace satin::test
