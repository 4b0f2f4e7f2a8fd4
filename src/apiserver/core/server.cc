#include "apiserver/core/server.h"

#include <map>
#include <tuple>

#include <fmt/core.h>

#include "apiserver/core/read.h"
#include "apiserver/core/remove.h"
#include "apiserver/core/request_metrics.h"
#include "apiserver/core/watch.h"
#include "apiserver/core/write.h"
#include "apiserver/output/encode.h"
#include "apiserver/protobuf/responder.h"

namespace mangrove::apiserver {

class Server::Impl {
 public:
  explicit Impl(Context& context)
      : context_(context), metrics_(context.metrics, context.clock), watches_(context) {}

  void refuse(const RequestInfo& info, Answer answer, ResponderPtr to) {
    metrics_.measured(info, resourceOf(info) != nullptr, std::move(to))->answer(std::move(answer));
  }
  Counter turnedAway() const { return metrics_.turnedAway(); }

  void handle(Call call, ResponderPtr to) {
    ResourcePtr resource = resourceOf(call.info);
    to = metrics_.measured(call.info, resource != nullptr, std::move(to));
    if (resource && prefersProtobuf(call, *resource)) to = protobuf::inProtobuf(std::move(to));
    const Attributes wanted = Attributes::of(call.info);
    const Decision decision = context_.authorizer.authorize(call.who, wanted);
    if (!decision.allowed) return to->answer(denied(call.who, wanted, decision.reason));
    if (!call.info.isResource) return handlePath(call, std::move(to));
    if (!resource) return to->answer(answer::noSuchPath(call.info.path));
    if (auto refusal = misplaced(call, *resource)) return to->answer(std::move(*refusal));
    if (!call.info.subresource.empty())
      return handleSubresource(std::move(call), std::move(resource), std::move(to));
    if (!resource->kind->can(verbName(call.info.verb))) return notAllowed(call, *to);
    handleObject(std::move(call), std::move(resource), std::move(to));
  }

  std::map<std::string, PathHandler, std::less<>> paths;
  std::map<std::tuple<std::string, std::string, std::string>, SubresourceHandler> subresources;

 private:
  ResourcePtr resourceOf(const RequestInfo& info) const {
    if (!info.isResource) return nullptr;
    return context_.resources.find(info.group, info.version, info.resource);
  }

  // Streams of bytes that are no objects stay what they are.
  static bool prefersProtobuf(const Call& call, const Resource& resource) {
    const std::string_view sub = call.info.subresource;
    for (std::string_view raw : {"log", "exec", "attach", "portforward", "proxy"})
      if (sub == raw || (sub.starts_with(raw) && sub[raw.size()] == '/')) return false;
    auto shape = shapeOf(call.accept, call.info, *resource.kind);
    return shape && shape->protobuf;
  }

  static std::optional<Answer> misplaced(const Call& call, const Resource& resource) {
    const RequestInfo& info = call.info;
    const bool namespaced = resource.kind->namespaced;
    const bool single = !info.name.empty() || info.verb == Verb::kCreate;
    const bool named = !info.name.empty();
    const bool whole = info.verb == Verb::kUpdate || info.verb == Verb::kPatch;
    if (info.subresource.empty() && (named ? info.verb == Verb::kCreate : whole))
      return answer::methodNotAllowed(
          "the server does not allow this method on the requested resource");
    if (namespaced && info.ns.empty() && single)
      return answer::methodNotAllowed("a namespace is needed: /namespaces/NAME/" + info.resource);
    if (!namespaced && !info.ns.empty() && info.resource != "namespaces")
      return answer::noSuchPath(info.path);
    return std::nullopt;
  }

  static void notAllowed(const Call& call, Responder& to) {
    to.answer(answer::methodNotAllowed(fmt::format("the server does not allow {} on {}",
                                                   verbName(call.info.verb), call.info.path)));
  }

  void handlePath(const Call& call, ResponderPtr to) {
    PathHandler* best = nullptr;
    size_t longest = 0;
    for (auto& [prefix, handler] : paths) {
      const bool below = prefix.ends_with('/') && (call.info.path + "/").starts_with(prefix);
      if ((below || call.info.path == prefix) && prefix.size() >= longest) {
        best = &handler;
        longest = prefix.size();
      }
    }
    if (!best) return to->answer(answer::noSuchPath(call.info.path));
    (*best)(call, std::move(to));
  }

  void handleSubresource(Call call, ResourcePtr resource, ResponderPtr to) {
    const std::string name = call.info.subresource.substr(0, call.info.subresource.find('/'));
    for (const std::string& plural : {call.info.resource, std::string("*")}) {
      auto found = subresources.find({plural == "*" ? "*" : call.info.group, plural, name});
      if (found != subresources.end())
        return found->second(call, std::move(resource), std::move(to));
    }
    const bool approves = name == "approval" && resource->kind->subresource(name) != nullptr;
    if ((name == "status" && resource->kind->hasStatus()) || approves)
      return handleStatus(std::move(call), std::move(resource), std::move(to));
    to->answer(answer::noSuchPath(call.info.path));
  }

  void handleStatus(Call call, ResourcePtr resource, ResponderPtr to) {
    switch (call.info.verb) {
      case Verb::kGet:
        return to->answer(getObject(context_, call, *resource));
      case Verb::kUpdate:
        return updateObject(context_, std::move(call), std::move(resource), std::move(to));
      case Verb::kPatch:
        return patchObject(context_, std::move(call), std::move(resource), std::move(to));
      default:
        return notAllowed(call, *to);
    }
  }

  // Kinds that are answered instead of stored (reviews, measurements) register for "".
  SubresourceHandler* answerer(const Call& call) {
    auto found = subresources.find({call.info.group, call.info.resource, ""});
    return found == subresources.end() ? nullptr : &found->second;
  }

  void handleObject(Call call, ResourcePtr resource, ResponderPtr to) {
    if (auto* own = answerer(call)) return (*own)(call, std::move(resource), std::move(to));
    switch (call.info.verb) {
      case Verb::kGet:
        return to->answer(getObject(context_, call, *resource));
      case Verb::kList:
        return to->answer(listObjects(context_, call, *resource));
      case Verb::kWatch:
        return watches_.start(std::move(call), std::move(resource), std::move(to));
      case Verb::kCreate:
        return createObject(context_, std::move(call), std::move(resource), std::move(to));
      case Verb::kUpdate:
        return updateObject(context_, std::move(call), std::move(resource), std::move(to));
      case Verb::kPatch:
        return patchObject(context_, std::move(call), std::move(resource), std::move(to));
      case Verb::kDelete:
        return deleteObject(context_, std::move(call), std::move(resource), std::move(to));
      case Verb::kDeleteCollection:
        return deleteCollection(context_, std::move(call), std::move(resource), std::move(to));
    }
  }

  Context& context_;
  RequestMetrics metrics_;
  Watches watches_;
};

Server::Server(Context& context) : impl_(std::make_unique<Impl>(context)) {}
Server::~Server() = default;

void Server::handle(Call call, ResponderPtr to) {
  impl_->handle(std::move(call), std::move(to));
}

void Server::refuse(const RequestInfo& info, Answer answer, ResponderPtr to) {
  impl_->refuse(info, std::move(answer), std::move(to));
}

Counter Server::turnedAway() const {
  return impl_->turnedAway();
}

void Server::onPath(std::string prefix, PathHandler handler) {
  impl_->paths[std::move(prefix)] = std::move(handler);
}

void Server::onSubresource(std::string group, std::string resource, std::string subresource,
                           SubresourceHandler handler) {
  impl_->subresources[{std::move(group), std::move(resource), std::move(subresource)}] =
      std::move(handler);
}

}  // namespace mangrove::apiserver
