#include "agent/last_known.h"

#include <filesystem>

#include "api/wire/decode.h"
#include "api/wire/write.h"
#include "base/os/files.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

constexpr const char* kSlo = "nodeslo.json";
constexpr const char* kNode = "node.json";

template <class T>
std::optional<T> readAs(const std::string& dir, const char* name) {
  if (dir.empty()) return std::nullopt;
  auto text = readFile(dir + "/" + name);
  if (!text) return std::nullopt;
  auto out = api::decodeText<T>(*text);
  if (out) return *std::move(out);
  log.warn("{}/{} is left alone: {}", dir, name, out.error().text());
  return std::nullopt;
}

}  // namespace

void LastKnown::write(const char* name, std::string& last, std::string text) {
  if (dir_.empty() || text == last) return;
  std::error_code ignored;
  std::filesystem::create_directories(dir_, ignored);
  auto ok = writeFileAtomically(dir_ + "/" + name, text);
  if (!ok && ok.error().text() != trouble_)
    log.warn("what the API server said is not kept: {}", trouble_ = ok.error().text());
  if (ok) last = std::move(text);
}

void LastKnown::keep(const api::NodeSloSpec& spec) {
  write(kSlo, lastSlo_, json::write(json::Object{{"spec", api::toJson(spec)}}));
}

void LastKnown::keep(const api::Node& node) {
  const json::Object meta{{"name", node.meta.name.view()},
                          {"labels", api::toJson(node.meta.labels)},
                          {"annotations", api::toJson(node.meta.annotations)}};
  const json::Object status{{"capacity", api::toJson(node.status.capacity)},
                            {"allocatable", api::toJson(node.status.allocatable)}};
  write(kNode, lastNode_, json::write(json::Object{{"metadata", meta}, {"status", status}}));
}

void LastKnown::forgetSlo() {
  if (dir_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(dir_ + "/" + kSlo, ignored);
  lastSlo_.clear();
}

std::optional<api::NodeSlo> LastKnown::slo() const {
  return readAs<api::NodeSlo>(dir_, kSlo);
}

std::optional<api::Node> LastKnown::node() const {
  return readAs<api::Node>(dir_, kNode);
}

}  // namespace mangrove::agent
