#pragma once
// One connection of a browser: requests one after another, each judged by its head.

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "view/admission.h"
#include "view/server.h"

namespace satin::view {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, const Secrets& secrets, Application& application);

  /// `closed` is called once, when nothing more comes.
  void start(std::function<void(const Connection*)> closed);
  /// Answers 503 in place of what is asked.
  void refuse_busy();
  /// Ends the pending operations.
  void close();

  /// Since when it waits for a request; nothing while one is under way.
  [[nodiscard]] std::optional<Clock::time_point> idle_since() const { return idle_since_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void wait_for_request();
  void read_head();
  void take_head();
  void read_body();
  void dispatch();
  void answer_file(std::string_view name, bool sets_cookie);
  void refuse(int status, const char* reason);
  void send(Answer answer);
  void write(bool keeps_alive);
  void drain();
  void limit(std::chrono::seconds time, int status);
  void finish();

  Socket socket_;
  boost::asio::steady_timer timer_;
  Application& application_;
  Admission admission_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Response response_;
  std::function<void(const Connection*)> closed_;
  std::optional<Clock::time_point> idle_since_;
  int late_ = 0;                   ///< the status for a browser that was too slow
  std::array<char, 4096> rest_{};  ///< takes the bytes that a refused browser goes on to send
};

}  // namespace satin::view
