// Fuzzes the bytes that a browser may send. The first byte chooses:
// 0  the head of a request: an admitted one has the right host and origin, and for /api/ the secret;
// 1  a command line: its words, quoted again, are the same words;
// 2  settings as JSON: refused with an Error, or a pipeline whose settings give a pipeline again;
// 3  the query of a view: refused with an Error, or within its limits.

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "satin/error.h"
#include "satin/json.h"
#include "view/admission.h"
#include "view/answers.h"
#include "view/settings.h"

namespace {

namespace http = boost::beast::http;
using namespace satin::view;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A short secret, so that a fuzzer finds it.
constexpr const char* secret = "tt";
constexpr const char* authority = "a:1";

std::string_view value(const Head& head, const char* name) {
  const auto text = head[name];
  return {text.data(), text.size()};
}

bool is_own(std::string_view host) {
  const std::string_view name = host.substr(0, host.rfind(':'));
  return host == authority || name == "127.0.0.1" || name == "localhost" || name == "[::1]" ||
         host == "[::1]";
}

void check_let_in(const Head& head) {
  const std::string_view host = value(head, "Host");
  require(is_own(host) && head.count("Host") == 1);
  require(head.count("Origin") == 0 || value(head, "Origin") == "http://" + std::string(host));
  require(head.method() == http::verb::get || head.method() == http::verb::post);
  const std::string_view path = target_of(head).path;
  const std::string_view site = value(head, "Sec-Fetch-Site");
  require(path == "/" || site.empty() || site == "same-origin" || site == "none");
  require(!path.starts_with("/api/") || value(head, "X-Satin-Token") == secret);
}

void take_head(std::string_view text) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(16U << 10);
  parser.body_limit(UINT64_MAX);
  boost::beast::error_code error;
  while (!text.empty() && !parser.is_header_done() && !error) {
    const std::size_t taken = parser.put(boost::asio::buffer(text.data(), text.size()), error);
    if (error == http::error::need_more) return;
    text.remove_prefix(taken);
  }
  if (error || !parser.is_header_done()) return;
  const Head& head = parser.get().base();
  const Verdict verdict = Admission(secret, authority).judge(head);
  require(verdict.status == 200 || (verdict.status >= 400 && *verdict.reason != '\0'));
  if (verdict.status == 200) check_let_in(head);
}

void take_command(std::string_view text) {
  const std::vector<std::string> words = shell_words(text);
  std::string line;
  for (const std::string& word : words) {
    for (std::string_view rest = word; !rest.empty();) {
      const std::size_t length = satin::utf8_length(rest);
      if (length == 0) return;  // such a word goes through printf, which is a shell's
      rest.remove_prefix(length);
    }
    line += (line.empty() ? "" : " ") + quoted_word(word);
  }
  require(shell_words(line) == words);
}

void take_settings(std::string_view text) {
  const satin::Pipeline pipeline = pipeline_of(settings_from(object_of(std::string(text))));
  const Settings settings = settings_of(pipeline);
  require(settings_json(settings) == settings_json(settings_of(pipeline_of(settings))));
}

void take_query(std::string_view text) {
  const Wish wish = wish_of(query_of(text));
  require(wish.viewport.width >= 1 && wish.viewport.width <= largest_viewport);
  require(wish.viewport.height >= 1 && wish.viewport.height <= largest_viewport);
  require(wish.viewport.zoom > 0 && wish.generation >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr void (*takers[])(std::string_view) = {take_head, take_command, take_settings, take_query};
  try {
    takers[*data % std::size(takers)](text);
  } catch (const satin::Error& error) {
    require(*error.what() != '\0');
  }
  return 0;
}
