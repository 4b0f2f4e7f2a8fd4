#include "descheduler/plugins/selection.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/select/label_selector.h"
#include "descheduler/plugin.h"

namespace mangrove::descheduler {

bool Namespaces::takes(std::string_view ns) const {
  return include.empty() ? !exclude.contains(ns) : include.contains(ns);
}

Namespaces readNamespaces(Args& args, std::string_view key) {
  Namespaces out;
  Args part = args.object(key);
  part.only({"include", "exclude"});
  for (std::string& name : part.texts("include")) out.include.insert(std::move(name));
  for (std::string& name : part.texts("exclude")) out.exclude.insert(std::move(name));
  if (!out.include.empty() && !out.exclude.empty()) {
    part.complain("include and exclude are both set, want one of them");
  }
  args.take(part);
  return out;
}

static std::optional<api::Selector> compiled(const json::Value& value, Args& args,
                                             std::string_view key) {
  auto selector = api::decodeText<api::LabelSelector>(json::write(value));
  if (!selector) {
    args.complain(fmt::format("{}: {}", key, selector.error().text()));
    return std::nullopt;
  }
  auto out = api::compile(*selector);
  if (!out) {
    args.complain(fmt::format("{}: {}", key, out.error().text()));
    return std::nullopt;
  }
  return std::move(*out);
}

MaybeSelector readSelector(Args& args, std::string_view key) {
  const json::Value* value = args.find(key);
  return value == nullptr ? std::nullopt : compiled(*value, args, key);
}

bool matches(const MaybeSelector& selector, const api::Labels& labels) {
  return !selector || selector->matches(labels);
}

Nodes matching(const MaybeSelector& selector, const Nodes& nodes) {
  Nodes out;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(out),
               [&](const api::Node* node) { return matches(selector, node->meta.labels); });
  return out;
}

bool PodChoice::isSelected(const api::Pod& pod) const {
  return selectors.empty() || std::any_of(selectors.begin(), selectors.end(), [&](const auto& one) {
           return one.matches(pod.meta.labels);
         });
}

bool PodChoice::takes(const api::Pod& pod) const {
  return namespaces.takes(pod.meta.ns.view()) && isSelected(pod);
}

PodChoice readPodChoice(Args& args) {
  PodChoice out;
  out.namespaces = readNamespaces(args, "evictableNamespaces");
  for (const json::Value& entry : args.list("podSelectors")) {
    Args one(entry, args.where() + ".podSelectors");
    one.only({"name", "selector"});
    if (const json::Value* selector = one.find("selector")) {
      if (auto made = compiled(*selector, one, "selector"))
        out.selectors.push_back(std::move(*made));
    }
    args.take(one);
  }
  return out;
}

Pods evictable(const Pods& pods, const PodChoice& choice, Evictor& evictor) {
  Pods out;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(out),
               [&](const api::Pod* pod) { return choice.takes(*pod) && evictor.permits(*pod); });
  return out;
}

}  // namespace mangrove::descheduler
