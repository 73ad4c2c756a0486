#pragma once
// A session: the files, the settings and the open picture, and the requests of the page about them.
// session.cpp answers requests, session_files.cpp reads and writes the files beside the picture.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "view/answers.h"
#include "view/brush.h"
#include "view/depth_map.h"
#include "view/renderer.h"
#include "view/server.h"
#include "view/settings.h"
#include "view/view.h"

namespace satin::view {

class Session final : public Application {
 public:
  /// Throws like serve().
  explicit Session(const Start& start);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void answer(const Request& request, std::function<void(Answer)> reply) override;
  void stop() override;

 private:
  using Json = nlohmann::json;

  /// A mask painted on the page. It is kept so that a reloaded page can continue painting. Other strokes get
  /// another file, so that a command means the same later.
  struct Painting {
    std::filesystem::path file;
    std::string strokes = "[]";  ///< JSON, at most the length of a request body
    bool is_inverted = false;    ///< whether the filter works where nothing is painted
    std::string below;           ///< file of the mask that was painted on, as the page named it, or empty
  };
  /// Painted masks by step.
  using Paintings = std::map<std::size_t, Painting>;

  // Requests that are answered at once, with the mutex held.
  Answer attempt(const std::function<void()>& change);
  Answer change_settings(const Json& body);
  Answer take_command(const Json& body);
  Answer set_focus(const Json& body);
  Answer tell_changes() const;
  Answer look_at(const Query& query) const;
  Answer tell_found();
  /// Target and settings of a save, copied when the page requests it: later changes do not reach the file.
  struct SaveJob {
    std::filesystem::path name;    ///< as requested, empty for the current output
    std::filesystem::path target;  ///< the output
    Pipeline pipeline;
    BatchOptions options;
    std::vector<std::string> used;  ///< files that the session reads and the save must not replace
  };
  [[nodiscard]] SaveJob save_job(const Json& body) const;

  // Requests that the worker or the saver answers. These functions lock the mutex themselves.
  Answer save(const SaveJob& job);
  Answer paint(const Json& body);
  Answer thumbnail(const Query& query);
  Answer write_list();
  // Requests that a thread of the server answers.
  Answer list_beside() const;
  Answer drop(const Query& query, const std::string& body);
  Answer keep_dropped(const Json& body);

  void tell_session(const Reply& reply);
  void open(const Json& body, const Reply& reply);

  void take(const Request& request, const Reply& reply);
  Answer at_once(const std::string& name, const std::string& query, const Json& body);
  /// Writes the output of the current settings on a thread of its own, so that the page shows previews
  /// meanwhile.
  void begin_save(const Json& body, const Reply& reply);
  /// Runs `work` on the worker. An error becomes a refusal, which the page expects.
  void later(const Reply& reply, std::function<Answer()> work, Renderer::Turn turn = Renderer::Turn::first);
  void load();
  void estimate(const Pipeline& pipeline, const BatchOptions& options, std::size_t index, Picture& picture);
  void drop_paintings();
  void restore_paintings();
  void keep_masks();
  void remove_masks() noexcept;
  void remove_dropped() noexcept;
  void use(const Pipeline& pipeline);
  void show();
  [[nodiscard]] Answer settings_answer(const Json& more) const;
  [[nodiscard]] Json session_json() const;
  /// Whether the output gets a new gain map from filtered light. The page shows the picture for SDR, whose
  /// pixels do not depend on it.
  [[nodiscard]] bool uses_light() const;
  [[nodiscard]] Json paintings_json() const;
  [[nodiscard]] std::shared_ptr<const Batch> work() const;
  [[nodiscard]] std::filesystem::path input() const { return inputs_.files.path(index_); }
  [[nodiscard]] std::filesystem::path output() const { return work()->file(0).output; }
  [[nodiscard]] std::string target() const;
  [[nodiscard]] std::string command() const;
  [[nodiscard]] LineOptions kept() const;
  [[nodiscard]] Json line_json() const;
  [[nodiscard]] Pipeline checked(Settings settings) const;
  void prepare_canvas(const Shape& picture, const PipelineStep& step, const ReadOptions& options);
  [[nodiscard]] std::filesystem::path free_name(const std::string& end) const;
  [[nodiscard]] std::vector<std::string> used_files() const;
  void remember(const std::filesystem::path& file);
  void remember_sides();

  Start start_;
  batch::InputList inputs_;
  bool folder_output_ = false;
  mutable std::mutex mutex_;  ///< held by answer(), but not by the work of later()
  Line line_;                 ///< current command line
  std::size_t index_ = 0;
  int generation_ = 1;
  std::shared_ptr<const OpenPicture> picture_;
  std::optional<Error> problem_;
  std::vector<Reply> waiting_;               ///< replies waiting for the picture
  std::vector<std::string> pictures_;        ///< names allowed for side inputs
  Paintings paintings_;                      ///< masks painted on the open picture
  std::map<std::size_t, Paintings> former_;  ///< by the index of a picture that was open before
  std::map<std::string, bool> masks_;        ///< files of painted masks; true if a command may name it
  /// Files that were dropped on the page, each in a private folder, and the name under which one was kept.
  std::map<std::string, std::string> dropped_;
  std::map<std::string, batch::FileStamp>
      stamps_;                        ///< stamps of the files in use, when they were read or written
  std::optional<MaskCanvas> canvas_;  ///< used by the worker only
  std::string canvas_key_;            ///< file below the strokes of `canvas_`, and its stamp
  std::optional<DepthMap> surveyed_;  ///< the depth of `histogram_`
  std::string histogram_;             ///< JSON, kept because counting takes long
  std::thread saver_;
  std::atomic<bool> saving_{false};
  std::atomic<bool> save_ends_{false};  ///< cancels the save
  std::atomic<double> saved_{0};        ///< completed fraction of the filters of the save
  Renderer renderer_;                   ///< last member: its worker uses the others
};

}  // namespace satin::view
