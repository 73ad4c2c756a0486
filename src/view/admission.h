#pragma once
// The admission of requests: each is judged by the head of a request alone, before anything of its body is
// read.

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "view/server.h"

namespace satin::view {

using Head = boost::beast::http::request_header<>;

constexpr std::uint64_t longest_body = std::uint64_t{8} << 20;

/// The target of a request, taken apart at its question mark.
struct Target {
  std::string_view path;
  std::string_view query;
};
[[nodiscard]] Target target_of(const Head& head);

/// The judgement of a request: a status of 200 lets it in.
struct Verdict {
  int status = 200;
  const char* reason = "";
  bool sets_cookie = false;  ///< it came with the token
};

/// The rules of one server as a connection sees it.
class Admission {
 public:
  /// `authority` is the address and the port that the connection came to: "127.0.0.1:8080".
  Admission(const Secrets& secrets, std::string authority);

  [[nodiscard]] Verdict judge(const Head& head) const;
  /// The field that sets the cookie.
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
