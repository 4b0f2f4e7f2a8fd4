#include "apiserver/request.h"

#include <algorithm>

#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "net/http/url.h"

namespace mangrove::apiserver {

std::string_view RequestInfo::parameter(std::string_view key) const {
  for (const auto& [known, value] : parameters) {
    if (known == key) return value;
  }
  return {};
}

bool RequestInfo::has(std::string_view key) const {
  return std::any_of(parameters.begin(), parameters.end(), [&](auto& p) { return p.first == key; });
}

bool RequestInfo::flag(std::string_view key) const {
  if (!has(key)) return false;
  std::string_view value = parameter(key);
  return value != "" && value != "0" && !equalIgnoringCase(value, "false");
}

namespace {

using Segments = std::vector<std::string>;

bool printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Result<std::string> decodeSegment(std::string_view raw) {
  auto text = percentDecode(raw);
  if (!text) return text.error().in("path");
  const bool trick = text->empty() || *text == "." || *text == ".." ||
                     text->find('/') != std::string::npos || !printable(*text);
  if (trick) return invalid("path segment '{}' is not a name", raw);
  return *text;
}

Result<Segments> decodePath(std::string_view path) {
  if (!path.starts_with('/')) return invalid("path '{}' does not start with '/'", path);
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  Segments segments;
  if (path.empty()) return segments;
  for (auto raw : split(path, '/')) {
    auto segment = decodeSegment(raw);
    if (!segment) return pass(segment.error());
    segments.push_back(std::move(*segment));
  }
  return segments;
}

Result<Verb> verbOf(std::string_view method) {
  if (method == "GET" || method == "HEAD") return Verb::kGet;
  if (method == "POST") return Verb::kCreate;
  if (method == "PUT") return Verb::kUpdate;
  if (method == "PATCH") return Verb::kPatch;
  if (method == "DELETE") return Verb::kDelete;
  return fail(Code::kUnsupported,
              "method {} is not supported; want GET, POST, PUT, PATCH or DELETE", method);
}

// Reads namespace, resource, name and subresource from what follows the version.
void readObjectPath(Segments::const_iterator at, Segments::const_iterator end, RequestInfo& info) {
  auto left = [&] { return end - at; };
  // /namespaces/NS/RESOURCE… is inside a namespace; /namespaces/NS and its own subresources are the
  // namespace itself.
  const bool inside =
      left() >= 3 && *at == "namespaces" && *(at + 2) != "status" && *(at + 2) != "finalize";
  if (inside) {
    info.ns = *(at + 1);
    at += 2;
  }
  if (left() > 0) info.resource = *at++;
  if (left() > 0) info.name = *at++;
  if (left() > 0) info.subresource = *at++;
  while (left() > 0) info.subresource += "/" + *at++;
  if (!inside && info.resource == "namespaces" && info.group.empty()) info.ns = info.name;
}

// /api/v1/… and /apis/GROUP/VERSION/…; the shorter forms are discovery, not objects.
bool readGroupVersion(const Segments& segments, RequestInfo& info) {
  if (segments.size() >= 3 && segments[0] == "api") {
    info.version = segments[1];
    readObjectPath(segments.begin() + 2, segments.end(), info);
    return true;
  }
  if (segments.size() >= 4 && segments[0] == "apis") {
    info.group = segments[1];
    info.version = segments[2];
    readObjectPath(segments.begin() + 3, segments.end(), info);
    return true;
  }
  return false;
}

// The old form /api/v1/watch/… still has users.
bool takeWatchPrefix(Segments& segments) {
  const size_t at = !segments.empty() && segments[0] == "apis" ? 3 : 2;
  if (segments.size() <= at || segments[at] != "watch") return false;
  segments.erase(segments.begin() + static_cast<long>(at));
  return true;
}

void refineVerb(RequestInfo& info, bool watchPrefix) {
  const bool collection = info.name.empty();
  if (info.verb == Verb::kDelete && collection) info.verb = Verb::kDeleteCollection;
  if (info.verb != Verb::kGet || !info.subresource.empty()) return;
  if (watchPrefix || (collection && info.flag("watch"))) {
    info.verb = Verb::kWatch;
  } else if (collection) {
    info.verb = Verb::kList;
  }
}

}  // namespace

Result<RequestInfo> parseRequest(std::string_view method, std::string_view target) {
  const net::Target parts = net::Target::split(target);
  auto segments = decodePath(parts.path);
  if (!segments) return pass(segments.error());
  auto verb = verbOf(method);
  if (!verb) return pass(verb.error());
  auto query = net::Query::parse(parts.query);
  if (!query) return pass(query.error());

  RequestInfo info;
  info.verb = *verb;
  info.path = "/" + join(*segments, "/");
  info.parameters = query->pairs();
  const bool watchPrefix = takeWatchPrefix(*segments);
  info.isResource = readGroupVersion(*segments, info);
  if (info.isResource) refineVerb(info, watchPrefix);
  return info;
}

}  // namespace mangrove::apiserver
