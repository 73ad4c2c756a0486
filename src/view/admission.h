#pragma once
// Admission of requests: whether a request is answered is decided by its head alone, before any of its body
// is read.

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "view/server.h"

namespace satin::view {

using Head = boost::beast::http::request_header<>;

constexpr std::uint64_t longest_body = std::uint64_t{8} << 20;

/// The target of a request, split at its question mark.
struct Target {
  std::string_view path;
  std::string_view query;
};
[[nodiscard]] Target target_of(const Head& head);

/// The decision about a request. A status of 200 admits it.
struct Verdict {
  int status = 200;
  const char* reason = "";
};

/// Whether the path belongs to the session, so that a request for it needs the secret.
[[nodiscard]] bool is_of_session(std::string_view path);

/// Applies the rules of the server to the requests of one connection.
class Admission {
 public:
  /// `authority` is the address and port that the connection was made to, such as "127.0.0.1:8080".
  Admission(std::string_view secret, std::string authority)
      : secret_(secret), authority_(std::move(authority)) {}

  [[nodiscard]] Verdict judge(const Head& head) const;

 private:
  [[nodiscard]] Verdict judge_form(const Head& head) const;
  [[nodiscard]] Verdict judge_sender(const Head& head) const;
  [[nodiscard]] Verdict judge_change(const Head& head) const;

  std::string_view secret_;
  std::string authority_;
};

}  // namespace satin::view
