#include <fmt/format.h>

#include "client/bench/api/bench_api.h"
#include "json/value.h"

namespace mangrove::client {

namespace {

constexpr double kMega = 1e6;

std::string cell(const Spread& s, int digits) {
  return fmt::format("{:.{}f} ({:.{}f}–{:.{}f})", s.median, digits, s.low, digits, s.high, digits);
}

// fmt pads by bytes when it cannot see that a dash is one column wide.
std::string padded(std::string text, size_t width) {
  size_t columns = 0;
  for (char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (columns < width) text.insert(0, width - columns, ' ');
  return text;
}

json::Object toObject(const Spread& s) {
  return {{"median", s.median}, {"low", s.low}, {"high", s.high}};
}

json::Object toObject(const ApiMeasure& m) {
  json::Object out;
  out["name"] = m.name;
  out["operations"] = m.operations;
  out["failed"] = m.failed;
  if (!m.firstFailure.empty()) out["firstFailure"] = m.firstFailure;
  out["perSecond"] = toObject(m.perSecond);
  out["p50Millis"] = toObject(m.p50Millis);
  out["p99Millis"] = toObject(m.p99Millis);
  out["serverCpuMicros"] = toObject(m.serverCpuMicros);
  out["clientCpuMicros"] = toObject(m.clientCpuMicros);
  out["neighbours"] = toObject(m.neighbours);
  return out;
}

}  // namespace

std::string toTable(const ApiBenchResult& r) {
  std::string out =
      fmt::format("API benchmark of {} ({}), {} in flight, {} runs; load {} → {}\n", r.server,
                  r.version, r.options.inFlight, r.options.runs, r.loadBefore, r.loadAfter);
  out += fmt::format("  {:<24}{:>26}{:>24}{:>24}{:>24}{:>10}{:>8}\n", "median (low–high)",
                     "per second", "p50 ms", "p99 ms", "server CPU µs each", "ours µs", "others");
  for (const ApiMeasure& m : r.measures) {
    out += fmt::format("  {:<24}{}{}{}{}{:>9.0f}{:>7.0f}%\n", m.name,
                       padded(cell(m.perSecond, 0), 26), padded(cell(m.p50Millis, 1), 24),
                       padded(cell(m.p99Millis, 1), 24), padded(cell(m.serverCpuMicros, 0), 23),
                       m.clientCpuMicros.median, m.neighbours.median * 100);
    if (m.failed > 0) out += fmt::format("    {} FAILED: {}\n", m.failed, m.firstFailure);
  }
  for (const MemoryMeasure& m : r.memory)
    out += fmt::format("  memory, {:<32} RSS {:>7.1f} MB   PSS {:>7.1f} MB\n", m.when,
                       static_cast<double>(m.rssBytes) / kMega,
                       static_cast<double>(m.pssBytes) / kMega);
  for (const StartMeasure& s : r.starts)
    out += fmt::format("  start, {:<33} first 200 after {} ms, first list after {} ms, CPU {} ms\n",
                       s.what, cell(s.healthMillis, 0), cell(s.requestMillis, 0),
                       cell(s.cpuMillis, 0));
  return out;
}

std::string toJson(const ApiBenchResult& r) {
  json::Object out;
  out["benchmark"] = "api";
  out["server"] = r.server;
  out["version"] = r.version;
  out["nodes"] = r.options.nodes;
  out["pods"] = r.options.pods;
  out["runs"] = r.options.runs;
  out["inFlight"] = r.options.inFlight;
  out["loadBefore"] = r.loadBefore;
  out["loadAfter"] = r.loadAfter;
  json::Array measures, memory, starts;
  for (const ApiMeasure& m : r.measures) measures.push_back(toObject(m));
  for (const MemoryMeasure& m : r.memory)
    memory.push_back(
        json::Object{{"when", m.when}, {"rssBytes", m.rssBytes}, {"pssBytes", m.pssBytes}});
  for (const StartMeasure& s : r.starts)
    starts.push_back(json::Object{{"what", s.what},
                                  {"healthMillis", toObject(s.healthMillis)},
                                  {"requestMillis", toObject(s.requestMillis)},
                                  {"cpuMillis", toObject(s.cpuMillis)}});
  out["measures"] = std::move(measures);
  out["memory"] = std::move(memory);
  out["starts"] = std::move(starts);
  return json::write(out) + "\n";
}

}  // namespace mangrove::client
