#include "apiserver/core/read.h"

#include <fmt/core.h>

#include "apiserver/core/filter.h"
#include "apiserver/output/encode.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

Outcome<std::optional<store::Revision>> revisionParameter(const RequestInfo& info) {
  const std::string_view text = info.parameter("resourceVersion");
  if (text.empty() || text == "0") return std::nullopt;
  auto number = parseInt<uint64_t>(text);
  if (!number)
    return refuse(answer::badRequest(
        fmt::format("resourceVersion '{}': want a number this server gave", text)));
  return store::Revision{*number};
}

namespace {

// A client that has seen a later state than we know talks to the wrong server, or to one whose data
// was replaced.
Outcome<> notAhead(const Context& context, const std::optional<store::Revision>& wanted) {
  if (!wanted || *wanted <= context.store.revision()) return {};
  // Informers know the cause and start over from whatever version there is.
  const json::Object cause{{"reason", "ResourceVersionTooLarge"},
                           {"message", "Too large resource version"}};
  Answer a = answer::status(504, "Timeout",
                            fmt::format("Timeout: Too large resource version: {}, current: {}",
                                        wanted->v, context.store.revision().v),
                            json::Object{{"causes", json::Array{cause}}, {"retryAfterSeconds", 1}});
  a.retryAfterSeconds = 1;
  return refuse(std::move(a));
}

Outcome<size_t> limitParameter(const RequestInfo& info) {
  const std::string_view text = info.parameter("limit");
  if (text.empty()) return 0;
  auto number = parseInt<int64_t>(text);
  if (!number) return refuse(answer::badRequest(fmt::format("limit '{}': want a number", text)));
  return *number < 0 ? 0 : static_cast<size_t>(*number);
}

Answer forbiddenMatch(std::string_view why) {
  FieldErrors errors;
  errors.forbidden(FieldPath("resourceVersionMatch"), why);
  return answer::invalid("meta.k8s.io", "ListOptions", "", errors);
}

// resourceVersionMatch decides what resourceVersion means; most combinations are refused by
// Kubernetes and so by us.
Outcome<> applyVersion(const Context& context, const RequestInfo& info, store::Query& query) {
  const std::string_view match = info.parameter("resourceVersionMatch");
  auto revision = revisionParameter(info);
  if (!revision) return tl::unexpected(revision.error());
  if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    FieldErrors errors;
    errors.notSupported(FieldPath("resourceVersionMatch"), json::Value(match),
                        {"Exact", "NotOlderThan", ""});
    return refuse(answer::invalid("meta.k8s.io", "ListOptions", "", errors));
  }
  if (!match.empty() && !info.has("resourceVersion")) {
    return refuse(
        forbiddenMatch("resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (match == "Exact" && !*revision) {
    return refuse(
        forbiddenMatch("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (query.from) return {};
  if (auto ok = notAhead(context, *revision); !ok) return ok;
  // With a limit and a plain version Kubernetes reads that version exactly.
  const bool exact = match == "Exact" || (match.empty() && query.limit > 0);
  if (exact && *revision) query.exact = **revision;
  return {};
}

Outcome<> applyContinue(const RequestInfo& info, store::Query& query) {
  const std::string_view token = info.parameter("continue");
  if (token.empty()) return {};
  auto parsed = store::Continue::parse(token);
  if (!parsed)
    return refuse(
        answer::badRequest(fmt::format("continue key is not valid: {}", parsed.error().text())));
  const std::string_view version = info.parameter("resourceVersion");
  if (!version.empty() && version != "0") {
    return refuse(
        answer::badRequest("specifying resource version is not allowed when using continue"));
  }
  query.from = std::move(*parsed);
  return {};
}

// As the real server does: 410, with a token in the message's metadata that goes on from here in a
// newer state.
Answer expiredPage(const store::Continue& from) {
  auto body = json::parse(
      answer::gone(
          "The provided continue parameter is too old to display a consistent list result. You can "
          "start a new list without the continue parameter, or use the continue token in this "
          "response to retrieve the remainder of the results in a newer state.")
          .body);
  body->get_object()["metadata"] = json::Object{{"continue", from.inconsistent().text()}};
  return answer::json(410, json::write(*body));
}

}  // namespace

Answer getObject(const Context& context, const Call& call, const Resource& resource) {
  auto shape = shapeOf(call.accept, call.info, *resource.kind);
  if (!shape) return shape.error();
  shape->now = context.clock.wall();
  auto revision = revisionParameter(call.info);
  if (!revision) return revision.error();
  if (auto ok = notAhead(context, *revision); !ok) return ok.error();
  auto object = context.store.get(resource.stored, resource.kind->namespaced ? call.info.ns : "",
                                  call.info.name);
  if (!object) return answer::notFound(*resource.kind, call.info.name);
  Answer a = answer::json(200, encodeOne(resource, *object, *shape));
  return a;
}

Answer listObjects(const Context& context, const Call& call, const Resource& resource) {
  auto shape = shapeOf(call.accept, call.info, *resource.kind);
  if (!shape) return shape.error();
  shape->now = context.clock.wall();
  auto filter = ObjectFilter::of(call.info, resource);
  if (!filter) return filter.error();
  auto limit = limitParameter(call.info);
  if (!limit) return limit.error();

  store::Query query{.resource = resource.stored, .ns = call.info.ns, .limit = *limit};
  if (auto ok = applyContinue(call.info, query); !ok) return ok.error();
  if (auto ok = applyVersion(context, call.info, query); !ok) return ok.error();
  query.field = filter->exactField();
  if (!filter->everything())
    query.filter = [&](const store::Object& o) { return filter->matches(o); };

  auto page = context.store.list(query);
  if (!page) {
    if (page.error().code() == Code::kGone && query.from) return expiredPage(*query.from);
    return answer::ofError(page.error());
  }
  ListHead head{std::to_string(page->revision.v), page->next ? page->next->text() : "",
                page->remaining};
  Answer a = answer::json(200, encodeList(resource, head, page->items, *shape));
  return a;
}

}  // namespace mangrove::apiserver
