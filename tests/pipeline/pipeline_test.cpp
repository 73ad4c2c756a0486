// Pipelines as text, and back.

#include "satin/pipeline.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "satin/error.h"

namespace satin::test {
namespace {

/// Returns texts that the parameter accepts: the ends of its range, each choice, and a form with a space or
/// comma if there is one.
std::vector<std::string> texts_for(const ParameterRecord& parameter) {
  const auto within = [&](double value) { return value >= parameter.minimum && value <= parameter.maximum; };
  std::vector<std::string> texts;
  switch (parameter.kind) {
    case ParameterKind::real:
      texts = parameter.choices;
      for (const double value : {parameter.minimum, parameter.maximum, 0.1, 1.0 / 3, 7.25})
        if (within(value) && value - value == 0) texts.push_back(print_real(value));
      return texts;
    case ParameterKind::reals:
      return {"50", "1,2.5,99"};
    case ParameterKind::integer:
      for (const double value : {parameter.minimum, parameter.maximum, 1.0, 31.0})
        if (within(value) && value > -1e15 && value < 1e15) texts.push_back(print_real(value));
      return texts;
    case ParameterKind::length:
      return {"0", "7.25", "1.5%"};
    case ParameterKind::flag:
      return {"true", "false"};
    case ParameterKind::choice:
      return parameter.choices;
    case ParameterKind::radius:
      return {"0", "8", "3x2", "1.5%", "2%x7"};
    case ParameterKind::boxes:
      return {"1,2,3,4", "0,0,5,5;-3,4,9,9"};
    case ParameterKind::point:
      return {"3,4", "50%,25%"};
    case ParameterKind::range:
      return {"1:0", "0.25:12"};
    case ParameterKind::colour:
      return {"#00ff80"};
    case ParameterKind::size:
      return {"1600", "12.5%", "640x480", "640x", "x480"};
    case ParameterKind::box:
      return {"1,2,3,4", "10%,0,33.3%,9"};
    case ParameterKind::ratio:
      return {"3:2", "2.39:1"};
  }
  return texts;
}

void expect_equal(const Pipeline& a, const Pipeline& b, const std::string& text) {
  ASSERT_EQ(a.size(), b.size()) << text;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const FilterRecord& filter = a[i].parameters.filter();
    ASSERT_EQ(filter.name, b[i].parameters.filter().name) << text;
    for (const ParameterRecord& parameter : filter.parameters)
      EXPECT_EQ(a[i].parameters.get(parameter.name), b[i].parameters.get(parameter.name)) << text;
    ASSERT_EQ(a[i].side_inputs.size(), b[i].side_inputs.size()) << text;
    for (std::size_t s = 0; s < a[i].side_inputs.size(); ++s) {
      EXPECT_EQ(a[i].side_inputs[s].name, b[i].side_inputs[s].name) << text;
      EXPECT_EQ(a[i].side_inputs[s].path, b[i].side_inputs[s].path) << text;
    }
  }
}

void expect_round_trip(const Pipeline& pipeline) {
  const std::string text = print_pipeline(pipeline);
  expect_equal(parse_pipeline(text), pipeline, text);
  EXPECT_EQ(print_pipeline(parse_pipeline(text)), text);
}

/// Whether the parameter accepts the text (not an even window, for example).
bool set_if_taken(Parameters& parameters, const std::string& name, const std::string& text) {
  try {
    parameters.set(name, text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Pipeline, EveryParameterComesBack) {
  for (const FilterRecord& filter : filters()) {
    for (const ParameterRecord& parameter : filter.parameters) {
      int taken = 0;
      for (const std::string& text : texts_for(parameter)) {
        PipelineStep step{Parameters(filter), {}};
        if (!set_if_taken(step.parameters, parameter.name, text)) continue;
        ++taken;
        expect_round_trip({step});
      }
      EXPECT_GT(taken, 0) << filter.name << " " << parameter.name;
    }
  }
}

TEST(Pipeline, EverySideInputComesBackWhateverItsName) {
  for (const FilterRecord& filter : filters())
    for (const InputRecord& input : filter.inputs)
      for (const char* path :
           {"a.png", "it's.png", "'a'", "\"a\"", "my 'best' \"mask\" | 2.png", " ", "a\nb", "x=y", "a|b", "-",
            "caf\xe9.png", "\xe2\x82\xac uro.png", "'\"'\"", "a b' c\" d"})
        expect_round_trip({{Parameters(filter), {{input.name, path}}}});
}

TEST(Pipeline, RandomPipelinesComeBack) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 300; ++round) {
    Pipeline pipeline;
    for (std::size_t steps = 1 + below(4); pipeline.size() < steps;) {
      const FilterRecord& filter = filters()[below(filters().size())];
      if (filter.output != OutputKind::image && pipeline.size() + 1 < steps) continue;
      PipelineStep step{Parameters(filter), {}};
      for (const ParameterRecord& parameter : filter.parameters) {
        const std::vector<std::string> texts = texts_for(parameter);
        if (below(2) == 0) set_if_taken(step.parameters, parameter.name, texts[below(texts.size())]);
      }
      pipeline.push_back(std::move(step));
    }
    expect_round_trip(pipeline);
  }
}

TEST(Pipeline, CanonicalText) {
  EXPECT_EQ(print_pipeline(parse_pipeline("  blur\tradius=\"3x2\"   space='encoded'\n|blur mask='a b'")),
            "blur radius=3x2 space=encoded | blur mask='a b'");
  EXPECT_EQ(print_pipeline(parse_pipeline(R"(blur mask='it'"'"'s | "')")), R"(blur mask='it'"'s | "'"')");
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_pipeline(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Pipeline, ErrorsShowTheTextAndACaret) {
  EXPECT_EQ(refusal("blur radus=8"),
            "Column 6 of the pipeline: 'blur' has no setting 'radus'. Did you mean 'radius'?\n"
            "  blur radus=8\n"
            "       ^");
  EXPECT_EQ(refusal("blur mask=\xc3\xa9\t|"),
            "Column 15 of the pipeline: the name of a filter is expected.\n"
            "  blur mask=\xc3\xa9 |\n"
            "               ^");
  EXPECT_NE(refusal("blur mask='a'b").find("Column 14 of the pipeline: a space is missing"),
            std::string::npos);
}

// Found by tests/fuzz/pipeline_fuzz.
TEST(Pipeline, ErrorsAreWholeWhateverBytesTheTextHolds) {
  for (const std::string& text :
       {std::string("blur am\0\0\0", 10), std::string("bl\0ur", 5), std::string("blur radius=8\0 x", 16),
        std::string("blur radius='8\n\x1b'", 17)}) {
    const std::string message = refusal(text);
    EXPECT_EQ(message.find('\0'), std::string::npos);
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    ASSERT_FALSE(message.empty());
    EXPECT_EQ(message.back(), '^');
  }
}

}  // namespace
}  // namespace satin::test
