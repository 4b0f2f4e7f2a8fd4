#include "manager/webhook/configmap/network.h"

#include <fmt/format.h>

#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

constexpr std::string_view kClasses[] = {"lsrClass", "lsClass", "beClass"};

// The requests of one direction over the classes.
struct Promises {
  std::string path;  // of the last one, where the finding is shown
  double percent = 0;
  Quantity amount;
  bool hasPercent = false, hasAmount = false;

  void add(const json::Value& value, std::string at) {
    if (value.is_number()) {
      percent += value.to_number<double>();
      hasPercent = true;
    } else if (value.is_string()) {
      auto read = Quantity::parse(value.get_string());
      if (!read) return;  // said by the range check
      amount += *read;
      hasAmount = true;
    } else {
      return;
    }
    path = std::move(at);
  }
};

Promises collect(const json::Object& strategy, std::string_view member, std::string_view at) {
  Promises out;
  for (std::string_view name : kClasses) {
    const json::Object* group = findObject(strategy, name);
    const json::Object* network = group ? findObject(*group, "networkQOS") : nullptr;
    const json::Value* value = network ? network->if_contains(member) : nullptr;
    if (value != nullptr)
      out.add(*value, fmt::format("{}{}{}.networkQOS.{}", at, at.empty() ? "" : ".", name, member));
  }
  return out;
}

std::string judge(const Promises& promises, const std::optional<Quantity>& total) {
  if (promises.hasPercent && promises.hasAmount)
    return "some classes request a percentage and some an amount; want one kind in a strategy";
  if (promises.hasPercent && promises.percent > 100)
    return fmt::format("the requests of LSR, LS and BE add up to {:g} percent, more than 100",
                       promises.percent);
  if (promises.hasAmount && total && total->sign() > 0 && promises.amount > *total)
    return fmt::format(
        "the requests of LSR, LS and BE add up to {}, more than "
        "totalNetworkBandwidth in system-config ({})",
        promises.amount.text(), total->text());
  return "";
}

}  // namespace

void checkBandwidth(const json::Value& strategy, const std::optional<Quantity>& total,
                    std::string_view at, FindingsAbout& out) {
  if (!strategy.is_object()) return;
  for (std::string_view member : {"ingressRequest", "egressRequest"}) {
    const Promises promises = collect(strategy.get_object(), member, at);
    if (std::string trouble = judge(promises, total); !trouble.empty())
      out.add(Severity::kError, FindingKind::kRange, promises.path, std::move(trouble));
  }
}

}  // namespace mangrove::manager
