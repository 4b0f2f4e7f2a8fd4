#include "agent/audit/http.h"

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

// The value of a query's parameter; tokens and numbers need no decoding.
std::string parameter(std::string_view target, std::string_view name) {
  const Halves query = cut(target, '?');
  for (std::string_view one : split(query.after, '&')) {
    const Halves pair = cut(one, '=');
    if (pair.before == name) return std::string(pair.after);
  }
  return "";
}

net::HttpResponse asJson(const AuditPage& page) {
  std::string body = R"({"NextPageToken":")" + page.token + R"(","Events":[)";
  for (size_t i = 0; i < page.lines.size(); ++i) body += (i > 0 ? "," : "") + page.lines[i];
  return net::HttpResponse::json(200, body + "]}");
}

net::HttpResponse asText(const AuditPage& page) {
  std::string body;
  for (const std::string& line : page.lines) body += line + "\n";
  net::HttpResponse response = net::HttpResponse::text(200, body);
  response.headers.set("Next-Page-Token", page.token);
  return response;
}

int statusOf(const Error& error) {
  return error.code() == Code::kConflict ? 409 : 400;
}

}  // namespace

net::HttpResponse serveEvents(AuditEvents* events, const net::HttpRequest& request) {
  if (events == nullptr) return net::HttpResponse::text(200, "");
  const int64_t size = parseInt<int64_t>(parameter(request.target, "size"))
                           .value_or(static_cast<int64_t>(AuditEvents::kDefaultPage));
  const auto page = events->page(parameter(request.target, "pageToken"), size);
  if (!page) return net::HttpResponse::text(statusOf(page.error()), page.error().text() + "\n");
  return request.headers.hasToken("Accept", "application/json") ? asJson(*page) : asText(*page);
}

}  // namespace mangrove::agent
