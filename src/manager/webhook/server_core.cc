#include "manager/webhook/server_core.h"

#include <exception>

#include <fmt/format.h>

#include "api/object/event.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "manager/webhook/convert.h"
#include "manager/webhook/quota/dump.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

std::string pathIn(const net::HttpRequest& request) {
  return std::string(cut(request.target, '?').before);
}

}  // namespace

Review callHandler(const Route& route, const AdmissionRequest& request,
                   const Surroundings& around) {
  try {
    return route.handler(request, around);
  } catch (const std::exception& trouble) {
    return Review::refuse(kBrokenHandler, "exception",
                          fmt::format("handler {}: {}", route.path, trouble.what()));
  }
}

WebhookServer::Core::Core(WebhookServerSetup setup)
    : setup_(std::move(setup)), meter_(setup_.metrics) {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
}

bool WebhookServer::Core::answerPlainly(const Exchange& exchange, std::string_view path) {
  if (path == "/healthz" || path == "/livez") {
    exchange->reply(net::HttpResponse::text(200, "ok\n"));
    return true;
  }
  if (path == "/elasticQuota") {
    const auto tree = setup_.picture()->quotas;
    exchange->reply(net::HttpResponse::json(200, tree ? dumpQuotas(*tree) : "{}"));
    return true;
  }
  if (path != "/readyz") return false;
  auto ready = setup_.ready ? setup_.ready() : Result<>();
  exchange->reply(ready ? net::HttpResponse::text(200, "ok\n")
                        : net::HttpResponse::text(503, ready.error().text() + "\n"));
  return true;
}

void WebhookServer::Core::refuse(const Exchange& exchange, int status, std::string_view why,
                                 std::string_view word) {
  const std::string path = pathIn(exchange->request());
  const bool known = routeOf(path) != nullptr;
  meter_.failed(known ? path : "unknown", word);
  log.debug("{} from {}: {} {}", path, exchange->request().peer.address, status, why);
  exchange->reply(net::HttpResponse::text(status, std::string(why) + "\n"));
}

void WebhookServer::Core::serve(Exchange exchange) {
  const net::HttpRequest& request = exchange->request();
  const std::string path = pathIn(request);
  if (answerPlainly(exchange, path)) return;
  const Route* route = routeOf(path);
  const bool converts = path == "/convert";
  if (route == nullptr && !converts)
    return refuse(exchange, 404, "no admission handler has the path " + path, "path");
  if (request.method != "POST")
    return refuse(exchange, 405, request.method + ": want POST with a review", "method");
  const std::string_view type = request.headers.get("Content-Type");
  if (!trim(cut(type, ';').before).starts_with("application/json"))
    return refuse(exchange, 415, fmt::format("Content-Type '{}': want application/json", type),
                  "content-type");
  if (converts) return convert(exchange);
  if (auto ready = setup_.ready ? setup_.ready() : Result<>(); !ready)
    return refuse(exchange, 503, ready.error().text(), "not-ready");
  auto question = std::make_shared<Question>();
  question->exchange = std::move(exchange);
  question->route = route;
  question->since = setup_.clock->mono();
  if (auto read = question->review.read(question->exchange->request().body); !read)
    return refuse(question->exchange, 400, read.error().text(), "malformed");
  judge(question);
}

void WebhookServer::Core::convert(const Exchange& exchange) {
  auto answer = convertReview(exchange->request().body);
  if (!answer) return refuse(exchange, 400, answer.error().text(), "malformed");
  exchange->reply(net::HttpResponse::json(200, std::move(*answer)));
}

void WebhookServer::Core::judge(const QuestionPtr& question) {
  const auto around = setup_.picture();
  if (!isActive(*question->route, around->gates))
    return refuse(question->exchange, 404,
                  fmt::format("the handler of {} is switched off", question->route->path), "off");
  if (question->route->runsOn == RunsOn::kOwner) return judgeAtOwner(question);
  judgeHere(question, *around);
}

void WebhookServer::Core::judgeHere(const QuestionPtr& question, const Surroundings& around) {
  const AdmissionRequest& request = question->review.request();
  Review review = callHandler(*question->route, request, around);
  const bool again = review.allowed && !question->route->mutating && setup_.needsSecondLook &&
                     setup_.needsSecondLook(request, around);
  if (!again) return finish(question, std::move(review));
  setup_.owner->post([self = shared_from_this(), question] {
    self->setup_.secondLook(question->review.request(), [self, question](Review second) {
      self->finish(question, std::move(second));
    });
  });
}

void WebhookServer::Core::judgeAtOwner(const QuestionPtr& question) {
  setup_.owner->post([self = shared_from_this(), question] {
    const AdmissionRequest& request = question->review.request();
    if (!self->setup_.onOwner)
      return self->finish(question,
                          callHandler(*question->route, request, *self->setup_.picture()));
    self->setup_.onOwner(*question->route, request, [self, question](Review review) {
      self->finish(question, std::move(review));
    });
  });
}

void WebhookServer::Core::finish(const QuestionPtr& question, Review review) {
  const AdmissionRequest& request = question->review.request();
  std::string body = writeReview(question->review.apiVersion(), request.uid, review);
  question->exchange->reply(net::HttpResponse::json(200, std::move(body)));
  measure(*question, review);
  tell(*question, review);
}

void WebhookServer::Core::measure(const Question& question, const Review& review) {
  const Duration took = setup_.clock->mono() - question.since;
  if (setup_.measured) setup_.measured(*question.route, took);
  meter_.judged(*question.route, question.review.request(), review, took);
}

void WebhookServer::Core::tell(const Question& question, const Review& review) {
  const AdmissionRequest& request = question.review.request();
  const bool failed = !review.allowed && review.code >= kBrokenHandler;
  if (failed)
    log.warn("{} {} {}/{}: {}", operationName(request.operation), request.resource, request.ns,
             request.name, review.message);
  if (setup_.events == nullptr || request.dryRun) return;
  api::ObjectRef about;
  about.apiVersion =
      request.group.empty() ? request.version : request.group + "/" + request.version;
  about.kind = request.kind;
  about.ns = request.ns;
  about.name = request.name;
  if (about.name.empty())
    about.name = request.object["metadata"]["generateName"].string().value_or("unnamed");
  if (failed) setup_.events->warning(about, "AdmissionHandlerFailed", review.message);
  for (const Notice& notice : review.notices)
    setup_.events->warning(about, notice.reason, notice.message);
}

}  // namespace mangrove::manager
