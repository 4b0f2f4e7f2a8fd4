#include "apiserver/subresources/node_parts.h"

#include <fmt/core.h>

#include "apiserver/core/spdy_upgrade.h"
#include "apiserver/subresources/admit.h"
#include "apiserver/subresources/channel_session.h"
#include "apiserver/subresources/node_log.h"
#include "apiserver/subresources/node_target.h"
#include "apiserver/subresources/port_forward.h"
#include "apiserver/subresources/spdy_channels.h"

namespace mangrove::apiserver {

namespace {

using frame::SessionStart;

// The runner answers on threads of its own; a Responder wants the owner's.
template <class T>
auto toOwner(Context& context, ResponderPtr to, UniqueFn<void(T, ResponderPtr)> next) {
  return [&owner = context.owner, to = std::move(to),
          next = std::move(next)](Result<T> ready) mutable {
    owner.post([to = std::move(to), next = std::move(next), ready = std::move(ready)]() mutable {
      if (!ready) return to->answer(answer::ofError(ready.error()));
      next(std::move(*ready), std::move(to));
    });
  };
}

void serveSession(Context& context, frame::NodeRunner& runner, const Call& call,
                  frame::ContainerTarget target, ResponderPtr to) {
  const bool attach = call.info.subresource == "attach";
  auto options = sessionOptions(call.info, attach);
  if (!options) return to->answer(options.error());
  auto ready = toOwner<SessionStart>(
      context, std::move(to), [options = *options](SessionStart start, ResponderPtr back) mutable {
        if (auto* spdy = spdyOf(*back))
          return spdy->upgradeToSpdy(spdyChannelProtocols(),
                                     [start = std::move(start), options](auto bytes) mutable {
                                       startOverSpdy(std::move(bytes), options, std::move(start));
                                     });
        back->upgrade(channelProtocols(), [start = std::move(start), options](
                                              std::unique_ptr<net::WebSocket> socket) mutable {
          start(channelSession(std::move(socket), options));
        });
      });
  if (attach) return runner.attach(std::move(target), std::move(*options), std::move(ready));
  runner.exec(std::move(target), std::move(*options), std::move(ready));
}

void serveForward(Context& context, frame::NodeRunner& runner, const Call& call,
                  frame::ContainerTarget target, ResponderPtr to) {
  auto ports = forwardPorts(call.info);
  if (!ports) return to->answer(ports.error());
  runner.forward(
      std::move(target),
      toOwner<frame::PortConnect>(
          context, std::move(to), [ports = *ports](frame::PortConnect connect, ResponderPtr back) {
            if (auto* spdy = spdyOf(*back))
              return spdy->upgradeToSpdy(spdyForwardProtocols(), [connect](auto bytes) {
                forwardOverSpdy(std::move(bytes), connect);
              });
            back->upgrade(forwardProtocols(),
                          [connect, ports](std::unique_ptr<net::WebSocket> socket) {
                            forwardOver(std::move(socket), connect, ports);
                          });
          }));
}

void serveLog(Context& context, frame::NodeRunner& runner, const Call& call,
              frame::ContainerTarget target, ResponderPtr to) {
  auto options = logOptions(call.info, context.clock.wall());
  if (!options) return to->answer(options.error());
  runner.log(std::move(target), std::move(*options),
             toOwner<std::unique_ptr<frame::LogSource>>(
                 context, std::move(to),
                 [&context](std::unique_ptr<frame::LogSource> source, ResponderPtr back) {
                   streamLog(context.owner, std::move(source), *back);
                 }));
}

json::Value connectOptions(const RequestInfo& info) {
  const std::string_view kind = info.subresource == "portforward" ? "PodPortForwardOptions"
                                : info.subresource == "attach"    ? "PodAttachOptions"
                                                                  : "PodExecOptions";
  json::Object out{{"apiVersion", "v1"}, {"kind", kind}};
  if (kind == "PodPortForwardOptions") return out;
  for (auto flag : {"stdin", "stdout", "stderr", "tty"})
    if (info.parameter(flag) == "true" || info.parameter(flag) == "1") out[flag] = true;
  if (const auto name = info.parameter("container"); !name.empty()) out["container"] = name;
  json::Array words;
  for (const auto& [key, value] : info.parameters)
    if (key == "command") words.emplace_back(value);
  if (!words.empty()) out["command"] = std::move(words);
  return out;
}

std::optional<Answer> refusal(Context& context, const Call& call) {
  if (call.info.subresource == "log") {
    if (call.info.verb == Verb::kGet) return std::nullopt;
    return answer::methodNotAllowed("pods/log is read with GET");
  }
  if (call.info.verb != Verb::kGet && call.info.verb != Verb::kCreate)
    return answer::methodNotAllowed(fmt::format("the server does not allow {} on pods/{}",
                                                verbName(call.info.verb), call.info.subresource));
  Attributes wanted = Attributes::of(call.info);
  wanted.verb = "create";
  const Decision decision = context.authorizer.authorize(call.who, wanted);
  if (!decision.allowed) return denied(call.who, wanted, decision.reason);
  return std::nullopt;
}

}  // namespace

void serveFromNode(Context& context, const FindRunner& runner, const Call& call, ResourcePtr pods,
                   ResponderPtr to) {
  const std::string& part = call.info.subresource;
  auto pod = context.store.get(pods->stored, call.info.ns, call.info.name);
  if (!pod) return to->answer(answer::notFound(*pods->kind, call.info.name));
  if (auto no = refusal(context, call)) return to->answer(std::move(*no));
  frame::NodeRunner* node = runner ? runner() : nullptr;
  if (!node)
    return to->answer(answer::status(
        501, "NotImplemented",
        fmt::format("pods/{} of \"{}\": no node runner is attached to this server, so the pod has "
                    "no running containers here to ask",
                    part, call.info.name)));
  auto object = json::parse(*pod->json());
  if (!object || !object->is_object())
    return to->answer(answer::internal("the pod cannot be read"));
  auto target = containerTarget(call.info, object->get_object());
  if (!target) return to->answer(target.error());
  if (part == "log") return serveLog(context, *node, call, std::move(*target), std::move(to));
  admitConnect(context, call, pods, connectOptions(call.info), std::move(to),
               [&context, runner, call, target = std::move(*target)](ResponderPtr back) mutable {
                 frame::NodeRunner* still = runner();  // admission may have taken its time
                 if (!still) return back->answer(answer::unavailable("the node runner has gone"));
                 if (call.info.subresource == "portforward")
                   return serveForward(context, *still, call, std::move(target), std::move(back));
                 serveSession(context, *still, call, std::move(target), std::move(back));
               });
}

}  // namespace mangrove::apiserver
