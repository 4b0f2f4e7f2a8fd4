// mangrove explain reservation R: where it is, what is left of it, who took it, why nobody matches.
#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/reservation_view.h"
#include "cli/usage.h"
#include "net/loop.h"

namespace mangrove::cli {

int explainReservation(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  std::vector<std::string> names;
  frame::Flags flags("mangrove explain reservation",
                     "where a reservation is, what is left of it, and for whom");
  access.declare(flags);
  output.declare(flags);
  flags.positionals("RESERVATION", names, "name of the reservation");
  if (const auto end = readArguments(flags, args)) return *end;
  if (names.size() != 1)
    return complain(flags, invalid("want the name of one reservation").value(), kWrongUsage);
  net::Loop loop;
  const auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  ReservationView view;
  if (auto ok = view.load(**client); !ok) return complain(flags, ok.error());
  const auto told = view.tell(names[0], realClock().wall());
  if (!told) return complain(flags, told.error());
  return say(*told, output);
}

}  // namespace mangrove::cli
