#include "view/admission.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace satin::view {
namespace {

namespace http = boost::beast::http;
using http::field;

std::string_view text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

std::string_view value_of(const Head& head, field name) { return text_of(head[name]); }
std::string_view value_of(const Head& head, const char* name) { return text_of(head[name]); }

/// Compares in constant time, wherever the texts differ.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) difference |= static_cast<unsigned>(given[i] ^ secret[i]);
  return difference == 0;
}

bool is_json(std::string_view type) {
  constexpr std::string_view json = "application/json";
  const std::string_view name = type.substr(0, type.find(';'));
  return boost::beast::iequals({name.data(), name.size()}, {json.data(), json.size()});
}

/// Whether the target is a path of printable ASCII, as the page itself requests.
bool is_plain(std::string_view target) {
  return target.starts_with('/') &&
         std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7f' && c != '#' && c != '\\'; });
}

}  // namespace

Target target_of(const Head& head) {
  const std::string_view target = text_of(head.target());
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

Admission::Admission(const Secrets& secrets, std::string authority)
    : secrets_(secrets),
      authority_(std::move(authority)),
      cookie_name_("satin-" + authority_.substr(authority_.rfind(':') + 1)) {}

Verdict Admission::judge(const Head& head) const {
  Verdict verdict = judge_form(head);
  if (verdict.status == 200) verdict = judge_sender(head);
  if (verdict.status == 200 && head.method() == http::verb::post) verdict = judge_change(head);
  return verdict;
}

std::string Admission::cookie_field() const {
  return cookie_name_ + "=" + secrets_.cookie + "; HttpOnly; SameSite=Strict; Path=/";
}

Verdict Admission::judge_form(const Head& head) const {
  if (head.version() != 10 && head.version() != 11) return {400, "This server speaks HTTP/1.1."};
  if (!is_plain(text_of(head.target()))) return {400, "The target is not a path."};
  for (const field name : {field::host, field::origin, field::cookie, field::content_type})
    if (head.count(name) > 1) return {400, "A field is repeated."};
  if (head.method() != http::verb::get && head.method() != http::verb::post)
    return {405, "Only GET and POST are answered."};
  if (head.count(field::host) == 0) return {400, "There is no host."};
  if (head.count(field::expect) != 0) return {417, "Expect is not supported."};
  if (head.count(field::transfer_encoding) != 0) return {411, "The length of the body is missing."};
  const bool has_body =
      head.count(field::content_length) != 0 && value_of(head, field::content_length) != "0";
  if (head.method() == http::verb::get && has_body) return {400, "A GET has no body."};
  return {};
}

/// Decides by the origin of the request. A page of another site can make a browser send requests, but it does
/// not know the token, and the browser does not add a Strict cookie.
Verdict Admission::judge_sender(const Head& head) const {
  if (value_of(head, field::host) != authority_) return {421, "This server has another host name."};
  if (head.count(field::origin) != 0 && value_of(head, field::origin) != "http://" + authority_)
    return {403, "Requests from other sites are refused."};
  const Target target = target_of(head);
  if (head.method() == http::verb::get && target.path == "/" && !target.query.empty()) {
    const bool has_token =
        target.query.starts_with("t=") && same_secret(target.query.substr(2), secrets_.token);
    return has_token ? Verdict{200, "", true}
                     : Verdict{403, "The address is not the one that satin view printed."};
  }
  const std::string_view site = value_of(head, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none")
    return {403, "Requests from other sites are refused."};
  if (!has_cookie(head)) return {403, "Open the address that satin view printed."};
  return {};
}

Verdict Admission::judge_change(const Head& head) const {
  if (!same_secret(value_of(head, "X-Satin-Token"), secrets_.header))
    return {403, "A change needs the token of the page."};
  if (!is_json(value_of(head, field::content_type))) return {415, "The body must be JSON."};
  const std::string_view length = value_of(head, field::content_length);
  if (length.empty()) return {411, "The length of the body is missing."};
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error == std::errc::result_out_of_range || bytes > longest_body) return {413, "The body is too long."};
  if (error != std::errc{} || end != length.data() + length.size())
    return {400, "The length is not a number."};
  return {};
}

bool Admission::has_cookie(const Head& head) const {
  std::string_view rest = value_of(head, field::cookie);
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != cookie_name_) continue;
    if (same_secret(pair.substr(equals + 1), secrets_.cookie)) return true;
  }
  return false;
}

}  // namespace satin::view
