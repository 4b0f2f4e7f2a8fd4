// mangrove reserve --cpu 8 --for 2h --owner app=x: keeps room on a node for pods to come.
#include <fmt/format.h>

#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/reservation_wish.h"
#include "cli/usage.h"
#include "net/loop.h"

namespace mangrove::cli {

int reserve(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  ReservationWish wish;
  std::vector<std::string> names;
  frame::Flags flags("mangrove reserve", "keeps room on a node for pods to come");
  access.declare(flags);
  output.declare(flags);
  flags.add("cpu", wish.cpu, "cores, e.g. 8 or 500m");
  flags.add("memory", wish.memory, "e.g. 16Gi");
  flags.add("resource", wish.resources, "NAME=AMOUNT of any other resource");
  flags.add("for", wish.duration, "how long; 0s: until it is deleted");
  flags.add(
      "start", wish.start,
      "when it begins: a time (2026-03-01T12:00:00Z) or from now (2h); before that its room is "
      "for work that is gone by then");
  flags.add("priority", wish.priority,
            "what it may evict when it begins: pods of a lower priority; unset: nobody");
  flags.add("owner", wish.owners, "labels of the pods it is for, e.g. app=web");
  flags.add("policy", wish.policy,
            "Aligned: owners may take more from the node; Restricted: only what is reserved");
  flags.add("node", wish.node, "this node and no other");
  flags.add("many", wish.many, "more than one pod may use it; otherwise the first one ends it");
  flags.add("scheduler-name", wish.scheduler, "who finds the place");
  flags.positionals("NAME", names, "of the reservation; made up when missing");
  if (const auto end = readArguments(flags, args)) return *end;
  if (names.size() > 1) return complain(flags, invalid("want one name").value(), kWrongUsage);
  if (!names.empty()) wish.name = names[0];
  const WallTime now = realClock().wall();
  auto body =
      reservationOf(wish, fmt::format("{:x}", now.time_since_epoch().count() & 0xffffffff), now);
  if (!body) return complain(flags, body.error(), kWrongUsage);
  net::Loop loop;
  const auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {client::kind::kReservation, "", ""};
  request.body = json::write(*body);
  const auto made = (*client)->call(std::move(request));
  if (!made) return complain(flags, made.error());
  const std::string name(body->at("metadata").at("name").as_string());
  output.show(made->body,
              fmt::format("reservation {} created; mangrove explain reservation {} says "
                          "where it is\n",
                          name, name));
  return 0;
}

}  // namespace mangrove::cli
