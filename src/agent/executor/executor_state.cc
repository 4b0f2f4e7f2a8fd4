// What survives the agent: which files it holds and what they had before.
#include "agent/executor/executor.h"

namespace mangrove::agent {

json::Value Executor::state() const {
  json::Array files;
  for (const auto& [key, held] : held_) {
    // Processes come and go: what their numbers mean later is not known.
    if (held.dryRun || !held.before || key.resource == "oom_score_adj") continue;
    const FileRule* rule = ruleOf(key.resource);
    json::Object file{{"cgroup", key.cgroup},
                      {"file", key.resource},
                      {"entry", key.entry},
                      {"before", showValue(*rule, *held.before)},
                      {"wanted", showValue(*rule, held.wanted)},
                      {"owner", held.owner},
                      {"why", held.why}};
    if (held.shares) file["shares"] = held.shares->number;
    files.push_back(std::move(file));
  }
  return json::Object{{"files", std::move(files)}};
}

namespace {

std::string textOf(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace

void Executor::load(const json::Value& state) {
  const json::Object* top = state.if_object();
  const json::Value* files = top ? top->if_contains("files") : nullptr;
  if (!files || !files->is_array()) return;
  for (const json::Value& one : files->get_array()) {
    const json::Object* file = one.if_object();
    const FileRule* rule = file ? ruleOf(textOf(*file, "file")) : nullptr;
    if (!rule) continue;
    HeldFile held;
    auto before = parseValue(*rule, textOf(*file, "before"), kernel::CgroupVersion::kV1);
    auto wanted = parseValue(*rule, textOf(*file, "wanted"), kernel::CgroupVersion::kV1);
    if (!before || !wanted) continue;
    held.before = *std::move(before);
    held.wanted = *std::move(wanted);
    held.owner = textOf(*file, "owner");
    held.why = textOf(*file, "why");
    held.since = clock_.wall();
    if (const json::Value* shares = file->if_contains("shares"); shares && shares->is_int64())
      held.shares = FileValue::of(shares->get_int64());
    held_[{textOf(*file, "cgroup"), rule->resource, textOf(*file, "entry")}] = std::move(held);
  }
}

}  // namespace mangrove::agent
