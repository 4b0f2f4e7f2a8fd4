#pragma once
// A report as one HTML file: text, tables and charts as inline SVG. No script, no request to
// anywhere, light and dark by the reader's setting, colours that colour-blind people tell apart and
// shapes beside them.
//
//   Page page("What it cost");
//   page.paragraph("batch got 78 % of the machine …");
//   page.figure(lineChart(chart), "p99 by hour");
//   writeFileAtomically("report.html", page.html());
//
// Pure; every text is escaped.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/experiment.h"

namespace mangrove::report {

std::string escaped(std::string_view text);

// Colours are numbers: 0 to 5, the same in light and dark.
struct Series {
  std::string name;
  size_t colour = 0;
  std::vector<std::pair<double, double>> points;  // x, y; ascending x
};
struct LineChart {
  std::string xLabel = {}, yLabel = {};
  bool logX = false, logY = false;
  bool dots = true;
  std::vector<Series> series = {};
};
std::string lineChart(const LineChart& chart);

struct IntervalBar {
  std::string name;
  size_t colour = 0;
  stats::Interval value;
};
struct IntervalChart {
  std::string label = {};
  bool log = false;
  bool fromZero = false;  // bars instead of dots
  std::vector<IntervalBar> bars = {};
};
std::string intervalChart(const IntervalChart& chart);

class Page {
 public:
  explicit Page(std::string_view title);
  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // The one sentence a reader came for.
  void answer(std::string_view text);
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows);
  void figure(const std::string& svg, std::string_view caption);
  std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace mangrove::report
