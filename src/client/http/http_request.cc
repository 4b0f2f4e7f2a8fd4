#include "client/http/http_request.h"

#include "net/http/url.h"

namespace mangrove::client {

namespace {

const char* methodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
    case Verb::kList:
    case Verb::kWatch:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      return "DELETE";
  }
  return "GET";
}

net::Query toParameters(const Query& query) {
  net::Query out;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.add(name, value);
  };
  add("labelSelector", query.labelSelector);
  add("fieldSelector", query.fieldSelector);
  if (query.limit > 0) out.add("limit", std::to_string(query.limit));
  add("continue", query.continueToken);
  add("resourceVersion", query.resourceVersion);
  add("resourceVersionMatch", query.resourceVersionMatch);
  add("fieldManager", query.fieldManager);
  add("fieldValidation", query.fieldValidation);
  if (query.force) out.add("force", *query.force ? "true" : "false");
  if (query.dryRun) out.add("dryRun", "All");
  for (const auto& [name, value] : query.extra) out.add(name, value);
  return out;
}

}  // namespace

net::HttpRequest toHttp(const Request& request) {
  net::HttpRequest out;
  out.method = methodOf(request.verb);
  std::string path = request.path;
  if (path.empty())
    path = request.ref.name.empty()
               ? request.ref.kind.path(request.ref.ns)
               : request.ref.kind.path(request.ref.ns, request.ref.name, request.ref.subresource);
  out.target = toParameters(request.query).appendTo(path);
  out.headers.set("Accept", "application/json");
  if (!request.body.empty())
    out.headers.set("Content-Type", request.verb == Verb::kPatch ? contentTypeOf(request.patchType)
                                                                 : "application/json");
  out.body = request.body;
  return out;
}

net::HttpRequest toHttp(const WatchRequest& request) {
  net::HttpRequest out;
  net::Query parameters = toParameters(request.query);
  parameters.add("watch", "true");
  if (request.bookmarks) parameters.add("allowWatchBookmarks", "true");
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(request.timeout).count();
  if (seconds > 0) parameters.add("timeoutSeconds", std::to_string(seconds));
  out.target = parameters.appendTo(request.kind.path(request.ns));
  out.headers.set("Accept", "application/json");
  return out;
}

std::string warningText(std::string_view header) {
  size_t open = header.find('"');
  if (open == std::string_view::npos) return "";
  std::string out;
  for (size_t i = open + 1; i < header.size(); ++i) {
    if (header[i] == '"') return out;
    if (header[i] == '\\' && i + 1 < header.size()) ++i;
    out += header[i];
  }
  return "";
}

}  // namespace mangrove::client
