// Flags of the reference's components, tried on ours.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "agent/role.h"
#include "base/text/strings.h"
#include "cli/migrate_facts.h"
#include "manager/role.h"
#include "scheduler/role.h"

namespace mangrove::cli {
namespace {

// Flags that every role of ours has, klog's included (frame/role.h).
constexpr std::array<std::string_view, 8> kCommon = {
    "v", "vmodule", "logging-format", "feature-gates", "config", "help", "version", "port"};

std::unique_ptr<frame::Role> roleOf(std::string_view name) {
  if (name == "manager") return std::make_unique<manager::ManagerRole>();
  if (name == "scheduler") return std::make_unique<scheduler::SchedulerRole>();
  if (name == "agent") return std::make_unique<agent::AgentRole>();
  return nullptr;
}

struct Argument {
  std::string name, value;
};

// "-a=b", "--a=b", "--a b"; a flag without a value is a switch.
std::vector<Argument> argumentsOf(const std::vector<std::string>& args) {
  std::vector<Argument> out;
  for (size_t i = 0; i < args.size(); i++) {
    std::string_view word = args[i];
    if (!word.starts_with('-')) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const size_t equals = word.find('=');
    Argument one{std::string(word.substr(0, equals)), ""};
    if (equals != word.npos)
      one.value = word.substr(equals + 1);
    else if (i + 1 < args.size() && !args[i + 1].starts_with('-'))
      one.value = args[++i];
    out.push_back(std::move(one));
  }
  return out;
}

MigrateItem gate(const frame::RoleInfo& info, std::string_view about, std::string_view said) {
  FeatureGates gates(info.gates);
  MigrateItem item{Verdict::kSame, std::string(about), fmt::format("gate {}", said), "known here"};
  if (auto ok = gates.set(said); !ok) {
    item.verdict = Verdict::kUnsupported;
    item.reason = ok.error().text();
    return item;
  }
  for (const GateInfo& known : gates.known())
    if (known.name == said.substr(0, said.find('=')) &&
        known.about.find("without effect") != std::string_view::npos) {
      item.verdict = Verdict::kDifferent;
      item.reason = "accepted, without effect";
    }
  return item;
}

// What our help says of a flag tells whether it does anything.
std::string helpOf(const std::string& help, const std::string& name) {
  const size_t at = help.find("--" + name);
  return at == help.npos ? "" : help.substr(at, help.find("\n  -", at) - at);
}

MigrateItem flag(std::string_view roleName, std::string_view about, const Argument& argument) {
  const std::string shown =
      "--" + argument.name + (argument.value.empty() ? "" : "=" + argument.value);
  MigrateItem item{Verdict::kSame, std::string(about), shown, "means the same here"};
  auto role = roleOf(roleName);
  const bool common = std::find(kCommon.begin(), kCommon.end(), argument.name) != kCommon.end() ||
                      argument.name == role->info().opsFlag;
  if (common) return item;
  frame::Flags flags(std::string(roleName), "");
  role->flags(flags);
  if (auto ok = flags.parse({shown}); !ok) {
    item.verdict = Verdict::kUnsupported;
    item.reason = ok.error().text();
    return item;
  }
  const std::string help = helpOf(flags.help(), argument.name);
  const size_t idle = help.find("no effect");
  if (help.empty() || idle != help.npos) {
    item.verdict = Verdict::kDifferent;
    item.reason = help.empty() ? "accepted, without effect"
                               : trim(help.substr(idle, help.find('\n', idle) - idle));
  }
  return item;
}

}  // namespace

std::vector<MigrateItem> compareFlags(const ComponentFact& component) {
  std::vector<MigrateItem> out;
  const auto role = roleOf(component.role);
  if (!role) return out;
  for (const Argument& argument : argumentsOf(component.args)) {
    if (argument.name != "feature-gates") {
      out.push_back(flag(component.role, component.where, argument));
      continue;
    }
    for (auto said : split(argument.value, ','))
      if (!said.empty()) out.push_back(gate(role->info(), component.where, said));
  }
  return out;
}

}  // namespace mangrove::cli
