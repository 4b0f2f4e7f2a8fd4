// mangrove explain migration M: how far it is, what it waits for, and why it was begun.
#include <optional>

#include "api/wire/decode.h"
#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/migration_view.h"
#include "cli/usage.h"
#include "net/loop.h"

namespace mangrove::cli {
namespace {

namespace kind = client::kind;

// nullopt: there is none.
template <class T>
Result<std::optional<T>> get(client::ApiClient& client, const client::Ref& ref) {
  if (ref.name.empty()) return std::optional<T>();
  const auto reply = client.get(ref);
  if (!reply && reply.error().code() == Code::kNotFound) return std::optional<T>();
  if (!reply) return pass(reply.error());
  auto object = api::decodeText<T>(*reply);
  if (!object) return pass(object.error());
  return std::optional<T>(std::move(*object));
}

Result<Told> explain(client::ApiClient& client, const std::string& name) {
  const auto job = get<api::PodMigrationJob>(client, {kind::kPodMigrationJob, "", name, ""});
  if (!job) return pass(job.error());
  if (!*job) return fail(Code::kNotFound, "there is no PodMigrationJob '{}'", name);
  const auto& ref = (*job)->spec.podRef;
  const auto pod = get<api::Pod>(
      client, {kind::kPod, ref ? ref->ns : std::string(), ref ? ref->name : std::string(), ""});
  if (!pod) return pass(pod.error());
  const auto& options = (*job)->spec.reservationOptions;
  const bool named = options && options->reservationRef;
  const auto reservation = get<api::Reservation>(
      client, {kind::kReservation, "", named ? options->reservationRef->name : std::string(), ""});
  if (!reservation) return pass(reservation.error());
  return tellMigration({**job, *pod ? &**pod : nullptr, *reservation ? &**reservation : nullptr,
                        realClock().wall()});
}

}  // namespace

int explainMigration(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  std::vector<std::string> names;
  frame::Flags flags("mangrove explain migration",
                     "how far a PodMigrationJob is, what it waits for, and why it was begun");
  access.declare(flags);
  output.declare(flags);
  flags.positionals("MIGRATION", names, "name of the PodMigrationJob");
  if (const auto end = readArguments(flags, args)) return *end;
  if (names.size() != 1)
    return complain(flags, invalid("want the name of one PodMigrationJob").value(), kWrongUsage);
  net::Loop loop;
  const auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  const auto told = explain(**client, names[0]);
  if (!told) return complain(flags, told.error());
  return say(*told, output);
}

}  // namespace mangrove::cli
