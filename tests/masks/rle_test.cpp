// Run lengths of masks against the definition, one pixel after another, and against cases worked by hand.

#include "satin/rle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array sizes = {Size{1, 1},   Size{1, 9},   Size{9, 1},    Size{2, 2},
                              Size{15, 7},  Size{16, 16}, Size{17, 33},  Size{63, 5},
                              Size{64, 64}, Size{65, 3},  Size{129, 40}, Size{3, 200}};

/// A mask from rows of text; '.' is outside.
Image drawn(const std::vector<std::string>& rows) {
  Image mask({static_cast<std::int64_t>(rows[0].size()), static_cast<std::int64_t>(rows.size())});
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < rows[y].size(); ++x)
      mask.view().value<std::uint8_t>(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)) =
          rows[y][x] == '.' ? 0 : 255;
  return mask;
}

/// Blobs: each pixel is that of its left neighbour, of the one above or a new one; `change` in 100 are new.
Image random_mask(std::int64_t width, std::int64_t height, int change, std::uint64_t seed) {
  Random random(seed);
  Image mask({width, height});
  const MutableImageView view = mask.view();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      std::uint8_t value = random.one_in(2) ? static_cast<std::uint8_t>(random.between(1, 255)) : 0;
      if (random.between(1, 100) > change && x > 0) value = view.value<std::uint8_t>(x - 1, y);
      if (random.between(1, 100) > change && y > 0) value = view.value<std::uint8_t>(x, y - 1);
      view.value<std::uint8_t>(x, y) = value;
    }
  return mask;
}

/// The definition: walk down the columns.
template <class Inside>
RunLengths walked(std::int64_t width, std::int64_t height, const Inside& inside) {
  RunLengths runs{height, width, {0}};
  bool now = false;
  for (std::int64_t x = 0; x < width; ++x)
    for (std::int64_t y = 0; y < height; ++y) {
      if (inside(x, y) != now) {
        runs.counts.push_back(0);
        now = !now;
      }
      ++runs.counts.back();
    }
  return runs;
}

RunLengths walked(const ImageView& mask) {
  return walked(mask.shape.width, mask.shape.height,
                [&](std::int64_t x, std::int64_t y) { return mask.value<std::uint8_t>(x, y) != 0; });
}

Image black_and_white(const Image& mask) {
  Image result = mask.clone();
  auto* pixels = reinterpret_cast<std::uint8_t*>(result.data());
  std::transform(pixels, pixels + byte_size(mask.shape()), pixels,
                 [](std::uint8_t value) { return static_cast<std::uint8_t>(value == 0 ? 0 : 255); });
  return result;
}

template <class Check>
void for_each_mask(const Check& check) {
  std::uint64_t seed = 1;
  for (const auto& [width, height] : sizes)
    for (const int change : {0, 2, 20, 100})
      for (int repeat = 0; repeat < 3; ++repeat, ++seed) {
        SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", seed " +
                     std::to_string(seed));
        check(random_mask(width, height, change, seed));
      }
}

TEST(RunLengths, AreThoseOfTheDefinition) {
  for_each_mask([](const Image& mask) {
    const RunLengths expected = walked(mask.view());
    for (const Layout layout : every_layout)
      ASSERT_EQ(encode_run_lengths(LooseImage(mask, layout).view()), expected) << name_of(layout);
  });
}

TEST(RunLengths, GiveTheMaskBack) {
  for_each_mask([](const Image& mask) {
    ASSERT_EQ(difference(decode_run_lengths(walked(mask.view())), black_and_white(mask)), "");
  });
}

TEST(RunLengths, SurviveTheirText) {
  for_each_mask([](const Image& mask) {
    const RunLengths runs = walked(mask.view());
    ASSERT_EQ(parse_compressed_counts(compressed_counts(runs), runs.height, runs.width), runs);
  });
}

TEST(RunLengths, KnowAreaAndBox) {
  for_each_mask([](const Image& mask) {
    const auto [width, height] = std::pair(mask.shape().width, mask.shape().height);
    std::int64_t pixels = 0, left = width, right = -1, top = height, bottom = -1;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        if (mask.view().value<std::uint8_t>(x, y) == 0) continue;
        ++pixels;
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
    const PixelBox box = pixels == 0 ? PixelBox{} : PixelBox{left, top, right - left + 1, bottom - top + 1};
    ASSERT_EQ(area(walked(mask.view())), pixels);
    ASSERT_EQ(bounding_box(walked(mask.view())), box);
  });
}

// The expected counts were made by hand, from the definition.
TEST(RunLengths, SmallMasksHaveTheCountsOfTheDefinition) {
  using Counts = std::vector<std::uint32_t>;
  const auto counts = [](const std::vector<std::string>& rows) {
    return encode_run_lengths(drawn(rows)).counts;
  };
  EXPECT_EQ(counts({"."}), Counts({1}));
  EXPECT_EQ(counts({"#"}), Counts({0, 1}));
  EXPECT_EQ(counts({"...", "..."}), Counts({6}));
  EXPECT_EQ(counts({"###", "###"}), Counts({0, 6}));
  EXPECT_EQ(counts({"#..", "..."}), Counts({0, 1, 5}));
  EXPECT_EQ(counts({"...", "..#"}), Counts({5, 1}));
  EXPECT_EQ(counts({".#.", ".##", "..."}), Counts({3, 2, 2, 1, 1}));
  EXPECT_EQ(counts({"..#", "#..", "#.."}), Counts({1, 2, 3, 1, 2}));  // 1 outside, 2 inside, 3 outside ...
}

TEST(RunLengths, TextOfSmallNumbers) {
  const auto text = [](std::vector<std::uint32_t> counts) {
    return compressed_counts({1, 1, std::move(counts)});
  };
  EXPECT_EQ(text({6}), "6");  // 6: one group 00110, its highest bit 0: 48 + 6
  EXPECT_EQ(text({0, 6}), "06");
  EXPECT_EQ(text({15}), "?");                   // 01111: 48 + 15
  EXPECT_EQ(text({16}), "`0");                  // 10000 reads as negative alone: 48 + 32 + 16, then 0
  EXPECT_EQ(text({31}), "o0");                  // 11111: 48 + 32 + 31, then 0
  EXPECT_EQ(text({32}), "P1");                  // 00000 and more: 48 + 32, then 1
  EXPECT_EQ(text({100}), "T3");                 // 100 = 3 * 32 + 4: 48 + 32 + 4, then 3
  EXPECT_EQ(text({1000}), "Xo0");               // 1000 = 31 * 32 + 8: 88, then 31 with another: 111, then 0
  EXPECT_EQ(text({3, 2, 2, 1, 1}), "322OO");    // from the fourth on: 1 - 2 = -1 (11111: 48 + 31), 1 - 2 = -1
  EXPECT_EQ(text({5, 20, 5, 20}), "5d050");     // 20: 10100 with another: 100, then 0; then 20 - 20 = 0
  EXPECT_EQ(text({1, 1, 1, 18, 1}), "111a00");  // 18 - 1 = 17: 10001 with another: 97, then 0; 1 - 1
  EXPECT_EQ(text({1, 40, 1, 7}), "1X11oN");     // 7 - 40 = -33 = -2 * 32 + 31: 111, then -2 (11110: 48 + 30)
  EXPECT_EQ(text({4294967295U}), "oooooo3");    // 32 bits: six groups of 31 and 3
}

TEST(RunLengths, NumbersOfSmallTexts) {
  EXPECT_EQ(parse_compressed_counts("322OO", 3, 3).counts, std::vector<std::uint32_t>({3, 2, 2, 1, 1}));
  EXPECT_EQ(parse_compressed_counts("1X11oN", 7, 7).counts, std::vector<std::uint32_t>({1, 40, 1, 7}));
  EXPECT_EQ(parse_compressed_counts("P0P0o7", 1, 255).counts, std::vector<std::uint32_t>({0, 0, 255}))
      << "groups that add nothing";
}

TEST(RunLengths, RefuseWhatIsNoText) {
  const auto parsed = [](const std::string& text, std::int64_t height = 3, std::int64_t width = 3) {
    return [=] { return parse_compressed_counts(text, height, width); };
  };
  expect_error(ErrorKind::input, "add up to 0", parsed(""));
  expect_error(ErrorKind::input, "add up to 7", parsed("322"));
  expect_error(ErrorKind::input, "more than a mask of 3 x 3", parsed("3222OO"));
  expect_error(ErrorKind::input, "more than a mask of 3 x 3", parsed("ooooo3"));
  expect_error(ErrorKind::input, "cut off", parsed("32P"));
  expect_error(ErrorKind::input, "character 3: the last number is cut off", parsed("32ooo"));
  expect_error(ErrorKind::input, "too long", parsed("PPPPPPPPPPPPPPPPPPPP0"));
  expect_error(ErrorKind::input, "character 2: only '0' to 'o'", parsed("3 2"));
  expect_error(ErrorKind::input, "character 1: only", parsed("p"));
  expect_error(ErrorKind::input, "character 1: only", parsed("/"));
  expect_error(ErrorKind::input, "character 1: only", parsed("\xFF\xFE"));
  expect_error(ErrorKind::input, "character 1: only", parsed(std::string(1, '\0')));
  expect_error(ErrorKind::input, "negative", parsed("O"));
  expect_error(ErrorKind::input, "negative", parsed("322L"));
  expect_error(ErrorKind::input, "more than a mask of 2 x 1", parsed(std::string(1000000, '0'), 1, 2));
  expect_error(ErrorKind::input, "1 to 4294967295 pixels", parsed("0", 0, 3));
  expect_error(ErrorKind::input, "1 to 4294967295 pixels", parsed("0", 3, -1));
  expect_error(ErrorKind::input, "1 to 4294967295 pixels", parsed("0", 65536, 65536));
  expect_error(ErrorKind::input, "1 to 4294967295 pixels", parsed("0", INT64_MAX, INT64_MAX));
}

TEST(RunLengths, TakeRandomTextWithoutHarm) {
  Random random(5);
  int good = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(8); n > 0; --n)
      text += static_cast<char>(random.one_in(9) ? random.below(256) : 48 + random.below(20));
    try {
      const RunLengths runs = parse_compressed_counts(text, 4, 4);
      validate(runs);
      ++good;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::input);
    }
  }
  EXPECT_GT(good, 100);
}

TEST(RunLengths, RefuseCountsThatDoNotFit) {
  const auto decoded = [](RunLengths runs) { return [=] { return decode_run_lengths(runs); }; };
  expect_error(ErrorKind::input, "add up to 8", decoded({3, 3, {8}}));
  expect_error(ErrorKind::input, "add up to 8589934590", decoded({3, 3, {4294967295U, 4294967295U}}));
  expect_error(ErrorKind::input, "add up to 0", decoded({3, 3, {}}));
  expect_error(ErrorKind::input, "too many", decoded({1, 2, {0, 0, 0, 2}}));
  expect_error(ErrorKind::input, "pixels", decoded({65536, 65536, {0}}));
  expect_error(ErrorKind::input, "pixels", decoded({-3, -3, {9}}));
  EXPECT_EQ(difference(decode_run_lengths({2, 2, {1, 0, 0, 2, 1}}), drawn({".#", "#."})), "");
}

TEST(RunLengths, AreMadeOfMasksAlone) {
  const auto encoded = [](const ImageView& view) { return [=] { return encode_run_lengths(view); }; };
  const Image colours({3, 3, 3});
  const Image wide({3, 3, 1, Type::u16});
  expect_error(ErrorKind::usage, "3 x 3, 3 x u8", encoded(colours));
  expect_error(ErrorKind::usage, "3 x 3, 1 x u16", encoded(wide));
  expect_error(ErrorKind::usage, "one channel", encoded({}));
  ImageView there = Image({3, 3}).view();
  there.memory = Memory::device;
  expect_error(ErrorKind::usage, "download", encoded(there));
  there.shape.width = there.shape.height = 65536;
  there.memory = Memory::host;
  expect_error(ErrorKind::usage, "4294967295", encoded(there));
}

TEST(RunLengths, ManyLabelsAreEncodedAtOnce) {
  std::uint64_t seed = 1;
  for (const auto& [width, height] : sizes)
    for (const std::uint32_t most : {1U, 3U, 200U}) {
      SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", seed " +
                   std::to_string(++seed));
      Random random(seed);
      Image labels({width, height, 1, Type::u32});
      const MutableImageView view = labels.view();
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          view.value<std::uint32_t>(x, y) = x > 0 && random.one_in(2)
                                                ? view.value<std::uint32_t>(x - 1, y)
                                                : static_cast<std::uint32_t>(random.below(most + 1));
      std::vector<std::uint32_t> wanted;
      for (std::uint32_t label = 0; label <= std::min<std::int64_t>(most, width * height); ++label)
        if (random.between(0, 3) > 0)
          wanted.insert(wanted.begin() + (wanted.empty() ? 0 : random.between(0, 1)), label);
      for (const Layout layout : every_layout) {
        const LooseImage loose(labels, layout);
        const std::vector<RunLengths> runs = encode_run_lengths(loose.view(), wanted);
        ASSERT_EQ(runs.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
          ASSERT_EQ(runs[i], walked(width, height,
                                    [&](std::int64_t x, std::int64_t y) {
                                      return view.value<std::uint32_t>(x, y) == wanted[i];
                                    }))
              << "label " << wanted[i];
      }
    }
}

TEST(RunLengths, RefuseLabelsThatCannotBe) {
  const Image labels({3, 2, 1, Type::u32});
  const auto of = [&](std::vector<std::uint32_t> wanted) {
    return [&labels, wanted] { return encode_run_lengths(labels, wanted).size(); };
  };
  expect_error(ErrorKind::usage, "Label 7", of({1, 7}));
  expect_error(ErrorKind::usage, "twice", of({1, 2, 1}));
  expect_error(ErrorKind::usage, "u32", [] {
    return encode_run_lengths(Image({3, 2}), std::vector<std::uint32_t>{1}).size();
  });
}

TEST(RunLengths, UniteOverlappingMasks) {
  std::uint64_t seed = 100;
  for (const auto& [width, height] : sizes)
    for (const std::size_t count : {1U, 2U, 5U}) {
      SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", seed " + std::to_string(seed));
      std::vector<Image> masks;
      std::vector<RunLengths> runs;
      for (std::size_t i = 0; i < count; ++i) {
        masks.push_back(random_mask(width, height, 10, seed++));
        runs.push_back(walked(masks.back().view()));
      }
      ASSERT_EQ(unite(runs), walked(width, height, [&](std::int64_t x, std::int64_t y) {
                  return std::any_of(masks.begin(), masks.end(), [&](const Image& mask) {
                    return mask.view().value<std::uint8_t>(x, y) != 0;
                  });
                }));
    }
  expect_error(ErrorKind::usage, "2 x 3 and 3 x 2", [] {
    return unite(std::vector<RunLengths>{{3, 2, {6}}, {2, 3, {6}}});
  });
  expect_error(ErrorKind::usage, "no masks", [] { return unite({}); });
}

/// A picture of many small squares: work per label must not grow with the picture.
TEST(RunLengths, OfAHundredThousandLabels) {
  constexpr std::int64_t side = 1280, cell = 4, cells = side / cell;
  Image labels({side, side, 1, Type::u32});
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x)
      labels.view().value<std::uint32_t>(x, y) = static_cast<std::uint32_t>(y / cell * cells + x / cell + 1);
  std::vector<std::uint32_t> wanted(cells * cells);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<std::uint32_t>(i + 1);
  const std::vector<RunLengths> runs = encode_run_lengths(labels, wanted);
  for (std::size_t i = 0; i < runs.size(); i += 997) {
    const auto number = static_cast<std::int64_t>(i);
    const PixelBox box{number % cells * cell, number / cells * cell, cell, cell};
    ASSERT_EQ(bounding_box(runs[i]), box) << i;
    ASSERT_EQ(area(runs[i]), cell * cell) << i;
  }
}

}  // namespace
}  // namespace satin::test
