#include "io/module.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

namespace satin::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates(const char* file) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_module), &self) != 0 && self.dli_fname != nullptr)
    folders.push_back(fs::canonical(self.dli_fname, ignored).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    if (folder.empty()) continue;
    files.push_back(folder / file);
    files.push_back(folder / "satin" / file);
    files.push_back(folder / ".." / SATIN_IO_MODULE_SUBDIR / file);
  }
  files.emplace_back(fs::path(SATIN_IO_MODULE_DIR) / file);
  return files;
}

}  // namespace

void* load_module(const char* file, const char* entry, std::string& error) {
  for (const fs::path& path : candidates(file)) {
    std::error_code ignored;
    if (!path.is_absolute() || !fs::exists(path, ignored)) continue;
    // Never unloaded: the libraries keep threads and thread-local data.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = dlerror();
      error = reason != nullptr ? reason : path.string() + " cannot be loaded";
      continue;
    }
    if (void* const function = dlsym(handle, entry); function != nullptr) return function;
    error = path.string() + " is no module of Satin";
  }
  if (error.empty()) error = std::string(file) + " was not found";
  return nullptr;
}

}  // namespace satin::io
