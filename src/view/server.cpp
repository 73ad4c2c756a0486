#include "view/server.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "view/admission.h"

// The server: accepts connections, lets Admission judge the head of every request, serves the files of the
// page, and passes other requests to the application. One thread runs everything.

namespace satin::view {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;
using std::chrono::seconds;

constexpr std::uint32_t longest_head = 16U << 10;
constexpr std::size_t buffered = 64U << 10;
constexpr seconds head_time{10};
constexpr seconds idle_time{60};
constexpr seconds transfer_time{60};

std::string authority_of(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto end = socket.local_endpoint(error);
  if (error) return "";
  const std::string address = end.address().to_string();
  return (end.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(end.port());
}

int status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  return error == http::error::body_limit ? 413 : 400;
}

bool is_malformed(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_target).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

/// Sets fields so that only the files of the page run, nothing is embedded elsewhere, and nothing is cached.
void protect(http::response_header<>& head) {
  head.set(http::field::server, "satin");
  head.set("Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  head.set("X-Content-Type-Options", "nosniff");
  head.set("X-Frame-Options", "DENY");
  head.set("Referrer-Policy", "no-referrer");
  head.set("Cross-Origin-Resource-Policy", "same-origin");
  head.set("Cross-Origin-Opener-Policy", "same-origin");
  head.set(http::field::cache_control, "no-store");
}

/// Returns the file of this name, or null.
const PageFile* find_page_file(std::string_view name) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

/// Returns the media type of an extension.
const char* media_type(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> types{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  for (const auto& [extension, type] : types)
    if (name.ends_with(extension)) return type;
  return "application/octet-stream";
}

/// A connection of a browser: requests one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, std::string_view secret, Application& application);

  /// `closed` is called once, when the connection ends.
  void start(std::function<void(const Connection*)> closed);
  /// Answers the first request with 503.
  void refuse_busy();
  /// Cancels pending operations.
  void close();

  /// Returns since when the connection waits for a request, or nothing while it handles one.
  [[nodiscard]] std::optional<Clock::time_point> idle_since() const { return idle_since_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void wait_for_request();
  void read_head();
  void take_head();
  void read_body();
  void dispatch();
  void answer_file(std::string_view name);
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
  int late_ = 0;                   ///< status for a browser that was too slow
  std::array<char, 4096> rest_{};  ///< buffer for bytes that a refused browser still sends
};

Connection::Connection(Socket socket, std::string_view secret, Application& application)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      application_(application),
      admission_(secret, authority_of(socket_)),
      buffer_(buffered) {}

void Connection::start(std::function<void(const Connection*)> closed) {
  closed_ = std::move(closed);
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  read_head();
}

void Connection::refuse_busy() { refuse(503, "Every connection is busy."); }

void Connection::close() {
  error_code ignored;
  timer_.cancel(ignored);
  socket_.close(ignored);
}

/// Cancels the pending operation after `time`. `status`, unless 0, then tells the browser why.
void Connection::limit(seconds time, int status) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), status](const error_code& error) {
    if (error || self->timer_.expiry() > Clock::now()) return;  // the timer may have been restarted
    self->late_ = status;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

/// Waits for the next request, up to idle_time: a browser may pause between two requests.
void Connection::wait_for_request() {
  if (buffer_.size() != 0) return read_head();
  idle_since_ = Clock::now();
  limit(idle_time, 0);
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    error ? self->finish() : self->read_head();
  });
}

void Connection::read_head() {
  if (!idle_since_) idle_since_ = Clock::now();
  parser_.emplace();
  parser_->header_limit(longest_head);
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // Admission checks the length
  limit(head_time, 408);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            self->idle_since_.reset();
                            if (!error) return self->take_head();
                            if (self->late_ != 0)
                              return self->refuse(self->late_, "The request took too long.");
                            if (!is_malformed(error)) return self->finish();
                            self->refuse(status_of(error), "This is not a request.");
                          });
}

void Connection::take_head() {
  const Head& head = parser_->get().base();
  const Verdict verdict = admission_.judge(head);
  if (verdict.status != 200) return refuse(verdict.status, verdict.reason);
  if (head.method() == http::verb::post) return read_body();
  const std::string_view path = target_of(head).path;
  constexpr std::string_view page = "/page/";
  if (is_of_session(path)) return dispatch();
  if (path == "/") return answer_file("index.html");
  if (path.starts_with(page)) return answer_file(path.substr(page.size()));
  refuse(404, "There is nothing here.");
}

void Connection::read_body() {
  if (!is_of_session(target_of(parser_->get().base()).path))
    return refuse(405, "Files of the page can only be read.");
  parser_->body_limit(longest_body);
  limit(transfer_time, 408);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](const error_code& error, std::size_t) {
                     if (!error) return self->dispatch();
                     if (self->late_ != 0) return self->refuse(self->late_, "The body took too long.");
                     if (!is_malformed(error)) return self->finish();
                     self->refuse(status_of(error), "The body does not match the head.");
                   });
}

void Connection::dispatch() {
  error_code ignored;
  timer_.cancel(ignored);
  const Target target = target_of(parser_->get().base());
  Request request{parser_->get().method() == http::verb::post ? "POST" : "GET", std::string(target.path),
                  std::string(target.query), std::move(parser_->get().body())};
  application_.answer(request, [self = shared_from_this()](Answer answer) {
    asio::post(self->socket_.get_executor(),
               [self, answer = std::move(answer)]() mutable { self->send(std::move(answer)); });
  });
}

void Connection::answer_file(std::string_view name) {
  const PageFile* file = find_page_file(name);
  if (file == nullptr) return refuse(404, "There is nothing here.");
  send({200, media_type(file->name), std::string(file->text)});
}

/// Refuses a request and ends the connection. What the browser still sends is not read as a request.
void Connection::refuse(int status, const char* reason) {
  late_ = 0;
  response_ = Response(http::int_to_status(static_cast<unsigned>(status)), 11, std::string(reason) + "\n");
  response_.set(http::field::content_type, "text/plain; charset=utf-8");
  if (status == 405) response_.set(http::field::allow, "GET, POST");
  write(false);
}

void Connection::send(Answer answer) {
  response_ = Response(http::int_to_status(static_cast<unsigned>(answer.status)), 11, std::move(answer.body));
  response_.set(http::field::content_type, answer.type);
  for (const auto& [name, value] : answer.fields) response_.insert(name, value);
  write(parser_->get().keep_alive());
}

void Connection::write(bool keeps_alive) {
  protect(response_);
  response_.keep_alive(keeps_alive);
  response_.prepare_payload();
  limit(transfer_time, 0);
  http::async_write(socket_, response_,
                    [self = shared_from_this(), keeps_alive](const error_code& error, std::size_t) {
                      self->response_ = Response();
                      if (error) return self->finish();
                      if (keeps_alive) return self->wait_for_request();
                      error_code ignored;
                      self->socket_.shutdown(Socket::shutdown_send, ignored);
                      self->limit(seconds(2), 0);
                      self->drain();
                    });
}

/// Reads to the end: closing a socket with unread bytes would discard the answer.
void Connection::drain() {
  socket_.async_read_some(asio::buffer(rest_),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            error ? self->finish() : self->drain();
                          });
}

void Connection::finish() {
  close();
  if (closed_) std::exchange(closed_, nullptr)(this);
}

using asio::ip::tcp;

constexpr std::size_t most_connections = 64;
constexpr std::chrono::milliseconds between_looks{50};

class Server {
 public:
  Server(const ServerOptions& options, Application& application)
      : options_(options), application_(application), acceptor_(io_), timer_(io_) {}

  /// Starts listening. Returns an empty text, or the reason why it cannot.
  std::string listen();
  void run();

 private:
  void accept();
  void admit(tcp::socket socket);
  bool make_room();
  void look_for_end();

  const ServerOptions& options_;
  Application& application_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  bool accepting_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;
};

std::string Server::listen() {
  error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return "'" + options_.address + "' is not an address. Give one such as 127.0.0.1.";
  const tcp::endpoint wanted(address, options_.port);
  acceptor_.open(wanted.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(wanted, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return "The page cannot be served at " + options_.address + ", port " + std::to_string(options_.port) +
           ": " + error.message() + ". Choose another one by --port.";
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  const std::string port = std::to_string(acceptor_.local_endpoint().port());
  options_.listening("http://" + host + ":" + port + "/#t=" + options_.secret);
  return "";
}

void Server::run() {
  look_for_end();
  io_.run();
  application_.stop();
}

/// Accepts connections. Errors such as too many open files are temporary: look_for_end() tries again.
void Server::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    accepting_ = false;
    if (error) return;
    admit(std::move(socket));
    accept();
  });
}

void Server::admit(tcp::socket socket) {
  const auto connection = std::make_shared<Connection>(std::move(socket), options_.secret, application_);
  if (!make_room()) return connection->refuse_busy();
  connections_.push_back(connection);
  connection->start([this](const Connection* closed) {
    std::erase_if(connections_, [&](const auto& each) { return each.get() == closed; });
  });
}

/// Closes the connection that has been idle longest, if all are in use. Returns false if none is idle.
bool Server::make_room() {
  if (connections_.size() < most_connections) return true;
  std::shared_ptr<Connection> oldest;
  for (const auto& each : connections_)
    if (each->idle_since() && (!oldest || *each->idle_since() < *oldest->idle_since())) oldest = each;
  if (!oldest) return false;
  oldest->close();
  std::erase(connections_, oldest);
  return true;
}

void Server::look_for_end() {
  if (options_.ended()) return io_.stop();
  if (!accepting_) accept();
  timer_.expires_after(between_looks);
  timer_.async_wait([this](const error_code& error) {
    if (!error) look_for_end();
  });
}

std::string run(const ServerOptions& options, Application& application) {
  Server server(options, application);
  if (std::string reason = server.listen(); !reason.empty()) return reason;
  server.run();
  return "";
}

}  // namespace
}  // namespace satin::view

extern "C" __attribute__((visibility("default"))) const satin::view::ServerModule* satin_view() {
  static const satin::view::ServerModule module{satin::view::server_version, satin::view::run};
  return &module;
}
