#include "apiserver/auth/authorizer.h"

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

// The x of "metadata.name=x" among the terms of a field selector; "" when there is none.
std::string_view selectedName(std::string_view selector) {
  for (auto term : split(selector, ',')) {
    auto [key, value, found] = cut(term, '=');
    if (value.starts_with('=')) value.remove_prefix(1);
    if (found && trim(key) == "metadata.name") return trim(value);
  }
  return {};
}

// On paths that are no resources RBAC's verbs are the methods of HTTP.
std::string_view methodName(Verb verb) {
  if (verb == Verb::kCreate) return "post";
  return verb == Verb::kUpdate ? "put" : verbName(verb);
}

std::string denialText(const Identity& who, const Attributes& what) {
  if (!what.isResource)
    return fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", who.user, what.verb,
                       what.path);
  const std::string resource =
      what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  const std::string where =
      what.ns.empty() ? "at the cluster scope" : fmt::format("in the namespace \"{}\"", what.ns);
  return fmt::format(
      "{}{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group "
      "\"{}\" {}",
      what.resource, what.group.empty() ? "" : "." + what.group,
      what.name.empty() ? "" : fmt::format(" \"{}\"", what.name), who.user, what.verb, resource,
      what.group, where);
}

}  // namespace

Attributes Attributes::of(const RequestInfo& info) {
  Attributes what;
  what.isResource = info.isResource;
  what.path = info.path;
  what.verb = info.isResource ? verbName(info.verb) : methodName(info.verb);
  if (!info.isResource) return what;
  what.group = info.group;
  what.version = info.version;
  what.resource = info.resource;
  what.subresource = cut(info.subresource, '/').before;  // what follows belongs to the subresource
  what.ns = info.ns;
  what.name = info.name;
  const bool many = info.verb == Verb::kList || info.verb == Verb::kWatch;
  if (many && info.name.empty()) what.name = selectedName(info.parameter("fieldSelector"));
  return what;
}

Answer denied(const Identity& who, const Attributes& what, std::string_view reason) {
  std::string text = denialText(who, what);
  if (!reason.empty()) text += fmt::format(": {}", reason);
  if (!what.isResource) return answer::forbidden(text, json::Object());
  json::Object details;
  if (!what.name.empty()) details["name"] = what.name;
  if (!what.group.empty()) details["group"] = what.group;
  details["kind"] = what.resource;
  return answer::forbidden(text, std::move(details));
}

}  // namespace mangrove::apiserver
