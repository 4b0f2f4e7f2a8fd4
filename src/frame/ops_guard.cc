#include "frame/ops_guard.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "client/key.h"
#include "json/value.h"

namespace mangrove::frame {

namespace {

// Each look is two requests to the API server: strangers must not be able to ask for many at once.
constexpr int kLooksAtOnce = 8;

const json::Object* objectAt(const json::Value& value, std::string_view member) {
  const json::Value* found = value.is_object() ? value.get_object().if_contains(member) : nullptr;
  return found && found->is_object() ? &found->get_object() : nullptr;
}

bool isTrue(const json::Object* object, std::string_view member) {
  const json::Value* found = object ? object->if_contains(member) : nullptr;
  return found && found->is_bool() && found->get_bool();
}

std::string textAt(const json::Object* object, std::string_view member) {
  const json::Value* found = object ? object->if_contains(member) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

// What to ask for. An API server's own paths of these names are everybody's who is known (the role
// system:discovery), and ours are not.
std::string rightFor(const Viewer& viewer) {
  return viewer.path.starts_with("/apis/") ? "/pages" + viewer.path : viewer.path;
}

client::Request question(client::Kind kind, std::string body) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {kind, "", "", ""};
  request.body = std::move(body);
  request.timeout = std::chrono::seconds(5);
  request.repeat = client::Repeat::kSafe;
  return request;
}

}  // namespace

// What questions under way keep of the guard: the client, as long as it is there.
struct OpsGuard::Link : std::enable_shared_from_this<OpsGuard::Link> {
  explicit Link(client::ApiClient& c) : client(&c) {}

  void look(Viewer viewer, OpsServer::Verdict say) {
    if (looks.fetch_add(1) >= kLooksAtOnce) {
      --looks;
      return say(fail(Code::kTooMany, "too many ask at once"));
    }
    auto done = [self = shared_from_this(), say = std::move(say)](Result<> verdict) mutable {
      --self->looks;
      say(std::move(verdict));
    };
    askWho(std::move(viewer), std::move(done));
  }
  void askWho(Viewer viewer, OpsServer::Verdict say) {
    std::string body = tokenReviewFor(viewer.token);
    submit(client::kind::kTokenReview, std::move(body),
           [self = shared_from_this(), viewer = std::move(viewer),
            say = std::move(say)](Result<client::Reply> reply) mutable {
             if (!reply) return say(pass(reply.error()));
             auto next = accessReviewFor(reply->body, viewer);
             if (!next) return say(pass(next.error()));
             self->askAccess(std::move(*next), std::move(viewer), std::move(say));
           });
  }
  void askAccess(std::string body, Viewer viewer, OpsServer::Verdict say) {
    submit(client::kind::kSubjectAccessReview, std::move(body),
           [viewer = std::move(viewer), say = std::move(say)](Result<client::Reply> reply) mutable {
             say(reply ? allowedBy(reply->body, viewer) : pass(reply.error()));
           });
  }
  void submit(client::Kind kind, std::string body, client::ApiClient::Done done) {
    std::lock_guard lock(mutex);
    if (!client) return done(fail(Code::kUnavailable, "the role is stopping"));
    client->submit(question(kind, std::move(body)), std::move(done));
  }

  std::recursive_mutex mutex;  // an answer may come inside the question
  client::ApiClient* client;
  std::atomic<int> looks = 0;
};

std::string tokenReviewFor(std::string_view token) {
  return json::write(json::Object{{"apiVersion", "authentication.k8s.io/v1"},
                                  {"kind", "TokenReview"},
                                  {"spec", json::Object{{"token", token}}}});
}

Result<std::string> accessReviewFor(std::string_view tokenReview, const Viewer& viewer) {
  auto told = json::parse(tokenReview);
  if (!told) return told.error().in("TokenReview");
  const json::Object* status = objectAt(*told, "status");
  if (!isTrue(status, "authenticated"))
    return fail(Code::kUnauthorized, "the API server does not know this token");
  const json::Value* user = status->if_contains("user");
  json::Object spec{
      {"nonResourceAttributes", json::Object{{"path", rightFor(viewer)}, {"verb", viewer.verb}}}};
  if (user && user->is_object()) {
    const json::Object& who = user->get_object();
    spec["user"] = textAt(&who, "username");
    for (const char* member : {"groups", "uid", "extra"})
      if (const json::Value* value = who.if_contains(member)) spec[member] = *value;
  }
  return json::write(json::Object{{"apiVersion", "authorization.k8s.io/v1"},
                                  {"kind", "SubjectAccessReview"},
                                  {"spec", std::move(spec)}});
}

Result<> allowedBy(std::string_view accessReview, const Viewer& viewer) {
  auto told = json::parse(accessReview);
  if (!told) return told.error().in("SubjectAccessReview");
  const json::Object* status = objectAt(*told, "status");
  if (isTrue(status, "allowed")) return {};
  const std::string reason = textAt(status, "reason");
  return fail(Code::kDenied, "may not {} {}{}: want a role with that nonResourceURL", viewer.verb,
              rightFor(viewer), reason.empty() ? "" : " (" + reason + ")");
}

OpsGuard::OpsGuard(OpsServer& server, client::ApiClient& client)
    : link_(std::make_shared<Link>(client)) {
  server.guard([link = link_](Viewer viewer, OpsServer::Verdict say) {
    link->look(std::move(viewer), std::move(say));
  });
}

// The server may be gone already, or go on without us: it is told 503 then.
OpsGuard::~OpsGuard() {
  std::lock_guard lock(link_->mutex);
  link_->client = nullptr;
}

}  // namespace mangrove::frame
