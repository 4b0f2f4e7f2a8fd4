#include "kernel/sys_root.h"

namespace mangrove::kernel {

SysRoot::SysRoot(const std::filesystem::path& root)
    : root_(root), top_(Dir::openTop(root.string())) {}

Result<File> SysRoot::open(std::string_view path, Access access) const {
  return top_ ? top_->open(path, access) : pass(top_.error());
}

Result<Dir> SysRoot::dir(std::string_view path) const {
  return top_ ? top_->dir(path) : pass(top_.error());
}

Result<std::optional<size_t>> SysRoot::read(std::string_view path, std::span<char> buffer) const {
  return top_ ? top_->read(path, buffer) : pass(top_.error());
}

Result<> SysRoot::write(std::string_view path, std::string_view text) const {
  return top_ ? top_->write(path, text) : pass(top_.error());
}

Result<bool> SysRoot::exists(std::string_view path) const {
  return top_ ? top_->exists(path) : pass(top_.error());
}

Result<std::string> SysRoot::readLink(std::string_view path) const {
  return top_ ? top_->readLink(path) : pass(top_.error());
}

Result<std::vector<Entry>> SysRoot::list(std::string_view path) const {
  auto dir = this->dir(path);
  if (!dir) return pass(dir.error());
  return dir->list();
}

}  // namespace mangrove::kernel
