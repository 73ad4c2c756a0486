#pragma once
// Admission of requests: whether a request is answered is decided by its head alone, before any of its body
// is read.

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <string>
#include <string_view>

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
  bool sets_cookie = false;  ///< the request has the token of the printed address
};

/// Applies the rules of the server to the requests of one connection.
class Admission {
 public:
  /// `authority` is the address and port that the connection was made to, such as "127.0.0.1:8080".
  Admission(const Secrets& secrets, std::string authority);

  [[nodiscard]] Verdict judge(const Head& head) const;
  /// Returns the value of the Set-Cookie field.
  [[nodiscard]] std::string cookie_field() const;

 private:
  [[nodiscard]] Verdict judge_form(const Head& head) const;
  [[nodiscard]] Verdict judge_sender(const Head& head) const;
  [[nodiscard]] Verdict judge_change(const Head& head) const;
  [[nodiscard]] bool has_cookie(const Head& head) const;

  const Secrets& secrets_;
  std::string authority_;
  std::string cookie_name_;
};

}  // namespace satin::view
