#include "view/admission.h"

#include <algorithm>
#include <charconv>

namespace satin::view {
namespace {

namespace http = boost::beast::http;
using http::field;

std::string_view text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

std::string_view value_of(const Head& head, field name) { return text_of(head[name]); }
std::string_view value_of(const Head& head, const char* name) { return text_of(head[name]); }

constexpr const char* token_field = "X-Satin-Token";

/// Whether this is a loopback address of a browser, with any port: `ssh -L` leads to the server from another
/// port of another machine. No foreign name leads here.
bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"})
    if (host.starts_with(name)) {
      const std::string_view port = host.substr(name.size());
      return port.empty() || (port.starts_with(':') && port.size() > 1 &&
                              port.find_first_not_of("0123456789", 1) == std::string_view::npos);
    }
  return false;
}

/// Compares in constant time, wherever the texts differ.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) difference |= static_cast<unsigned>(given[i] ^ secret[i]);
  return difference == 0;
}

bool is_of_type(std::string_view type, std::string_view wanted) {
  const std::string_view name = type.substr(0, type.find(';'));
  return boost::beast::iequals({name.data(), name.size()}, {wanted.data(), wanted.size()});
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

bool is_of_session(std::string_view path) { return path.starts_with("/api/"); }

Verdict Admission::judge(const Head& head) const {
  Verdict verdict = judge_form(head);
  if (verdict.status == 200) verdict = judge_sender(head);
  if (verdict.status == 200 && head.method() == http::verb::post) verdict = judge_change(head);
  return verdict;
}

Verdict Admission::judge_form(const Head& head) const {
  if (head.version() != 10 && head.version() != 11) return {400, "This server speaks HTTP/1.1."};
  if (!is_plain(text_of(head.target()))) return {400, "The target is not a path."};
  for (const char* name : {"Host", "Origin", "Sec-Fetch-Site", token_field, "Content-Type", "Content-Length"})
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

/// Decides by the origin of the request and the secret. A page of another site can make a browser send
/// requests, but it does not know the secret. It may lead to the page, which holds no secret.
Verdict Admission::judge_sender(const Head& head) const {
  const std::string_view host = value_of(head, field::host);
  if (host != authority_ && !is_loopback(host)) return {421, "This server has another host name."};
  if (head.count(field::origin) != 0 && value_of(head, field::origin) != "http://" + std::string(host))
    return {403, "Requests from other sites are refused."};
  const std::string_view path = target_of(head).path;
  const std::string_view site = value_of(head, "Sec-Fetch-Site");
  if (path != "/" && !site.empty() && site != "same-origin" && site != "none")
    return {403, "Requests from other sites are refused."};
  if (is_of_session(path) && !same_secret(value_of(head, token_field), secret_))
    return {403, "Open the address that satin view printed."};
  return {};
}

Verdict Admission::judge_change(const Head& head) const {
  const bool uploads = target_of(head).path == upload_path;
  const std::string_view type = value_of(head, field::content_type);
  if (uploads && !is_of_type(type, "application/octet-stream"))
    return {415, "The body must be application/octet-stream."};
  if (!uploads && !is_of_type(type, "application/json")) return {415, "The body must be JSON."};
  const std::string_view length = value_of(head, field::content_length);
  if (length.empty()) return {411, "The length of the body is missing."};
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error == std::errc::result_out_of_range || bytes > (uploads ? longest_upload : longest_body))
    return {413, uploads ? "The file is too long." : "The body is too long."};
  if (error != std::errc{} || end != length.data() + length.size())
    return {400, "The length is not a number."};
  return {};
}

}  // namespace satin::view
