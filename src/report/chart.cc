// The charts of a page: scales, grid lines with round numbers, lines, dots with intervals.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/page.h"

namespace mangrove::report {
namespace {

constexpr double kWidth = 860, kLeft = 64, kRight = 16, kTop = 28, kBottom = 44, kHeight = 320;
constexpr double kNames = 210;  // room for names beside intervals
constexpr double kRowHeight = 30;

// Maps values to pixels, evenly or by their logarithm.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool log = false;
  double at(double value) const {
    const double v = log ? std::log10(std::max(value, low)) : value;
    const double a = log ? std::log10(low) : low, b = log ? std::log10(high) : high;
    return from + (to - from) * (b > a ? std::clamp((v - a) / (b - a), 0.0, 1.0) : 0.5);
  }
};

// 1, 2 or 5 times a power of ten, so that about five steps make the span.
double niceStep(double span) {
  const double raw = std::max(span, 1e-12) / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (double times : {1.0, 2.0, 5.0})
    if (times * power >= raw) return times * power;
  return 10 * power;
}

std::vector<double> ticks(const Scale& scale) {
  std::vector<double> out;
  if (scale.log) {
    for (double power = std::pow(10, std::floor(std::log10(scale.low))); power <= scale.high;
         power *= 10)
      for (double times : {1.0, 2.0, 5.0})
        if (times * power >= scale.low * 0.999 && times * power <= scale.high * 1.001)
          out.push_back(times * power);
    return out;
  }
  const double step = niceStep(scale.high - scale.low);
  for (double at = std::ceil(scale.low / step) * step; at <= scale.high + step * 1e-6; at += step)
    out.push_back(std::abs(at) < step * 1e-6 ? 0 : at);
  return out;
}

Scale scaleFor(double low, double high, bool log, bool fromZero) {
  Scale out;
  out.log = log && low > 0;
  if (out.log) {
    out.low = low / 1.15;
    out.high = high * 1.15;
  } else {
    const double margin = (high - low) * 0.05 + 1e-9;
    out.low = fromZero ? std::min(0.0, low) : low - margin;
    out.high = high + margin;
  }
  return out;
}

std::string open(double height, const std::string& label) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth, height,
                     escaped(label));
}

std::string text(double x, double y, std::string_view anchor, std::string_view what,
                 std::string_view extra = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor,
                     extra, escaped(what));
}

std::string verticals(const Scale& x, double top, double bottom) {
  std::string out;
  for (double tick : ticks(x))
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                       x.at(tick), top, bottom) +
           text(x.at(tick), bottom + 16, "middle", fmt::format("{:g}", tick));
  return out;
}

std::string horizontals(const Scale& y) {
  std::string out;
  for (double tick : ticks(y))
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       kLeft, kWidth - kRight, y.at(tick), y.at(tick)) +
           text(kLeft - 8, y.at(tick) + 4, "end", fmt::format("{:g}", tick));
  return out;
}

// Circle, square, diamond, triangle, cross: never colour alone.
std::string mark(double x, double y, size_t kind) {
  constexpr double r = 4.5;
  switch (kind % 5) {
    case 0:
      return fmt::format("<circle class=\"f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", kind, x, y,
                         r);
    case 1:
      return fmt::format("<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\"/>",
                         kind, x - 4, y - 4);
    case 2:
      return fmt::format("<path class=\"f{}\" d=\"M{:.1f} {:.1f}l5.5 5.5-5.5 5.5-5.5-5.5z\"/>",
                         kind, x, y - 5.5);
    case 3:
      return fmt::format("<path class=\"f{}\" d=\"M{:.1f} {:.1f}l5.5 9.5h-11z\"/>", kind, x,
                         y - 5.5);
    default:
      return fmt::format(
          "<path class=\"f{}\" d=\"M{:.1f} {:.1f}h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z\"/>",
          kind, x - 1.5, y - 5);
  }
}

struct Extent {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::string drawSeries(const Series& series, const Scale& x, const Scale& y, bool dots) {
  std::string path, marks;
  for (const auto& [px, py] : series.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(px), y.at(py));
    if (dots) marks += mark(x.at(px), y.at(py), series.colour);
  }
  return fmt::format("<path class=\"s k{}\" d=\"{}\"/>{}", series.colour, path, marks);
}

std::string legend(const std::vector<Series>& series) {
  std::string out;
  double x = kLeft;
  for (const Series& one : series) {
    out += mark(x + 5, 12, one.colour) + text(x + 15, 16, "start", one.name, " class=\"name\"");
    x += 34 + 7.2 * static_cast<double>(one.name.size());
  }
  return out;
}

std::string drawBar(const IntervalBar& bar, const Scale& x, double y, bool fromZero) {
  const double at = x.at(bar.value.estimate);
  std::string out = text(kNames - 12, y + 4, "end", bar.name, " class=\"name\"");
  if (fromZero)
    out += fmt::format(
        "<rect class=\"f{}\" opacity=\".35\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"14\"/>",
        bar.colour, x.at(0), y - 7, std::max(0.0, at - x.at(0)));
  const double high = std::isfinite(bar.value.high) ? bar.value.high : x.high;
  out += fmt::format(
      "<line class=\"b k{0}\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{3}\" y2=\"{3}\" "
      "style=\"stroke-dasharray:none\"/>",
      bar.colour, x.at(bar.value.low), x.at(high), y);
  return out + mark(at, y, bar.colour);
}

}  // namespace

std::string lineChart(const LineChart& chart) {
  Extent xs, ys;
  for (const Series& series : chart.series)
    for (const auto& [x, y] : series.points) {
      xs.add(x);
      ys.add(y);
    }
  if (xs.empty()) return "";
  Scale x = scaleFor(xs.low, xs.high, chart.logX, false);
  Scale y = scaleFor(ys.low, ys.high, chart.logY, !chart.logY);
  x.from = kLeft, x.to = kWidth - kRight;
  y.from = kHeight - kBottom, y.to = kTop;
  std::string out = open(kHeight, chart.yLabel + " by " + chart.xLabel) + legend(chart.series);
  out += verticals(x, kTop, kHeight - kBottom) + horizontals(y);
  for (const Series& series : chart.series) out += drawSeries(series, x, y, chart.dots);
  out += text((kLeft + kWidth) / 2, kHeight - 8, "middle", chart.xLabel);
  return out + text(kLeft, kHeight - 8, "start", "↑ " + chart.yLabel) + "</svg>";
}

std::string intervalChart(const IntervalChart& chart) {
  Extent extent;
  for (const IntervalBar& bar : chart.bars)
    for (double value : {bar.value.estimate, bar.value.low, bar.value.high}) extent.add(value);
  if (extent.empty()) return "";
  Scale x = scaleFor(extent.low, extent.high, chart.log, chart.fromZero);
  x.from = kNames, x.to = kWidth - kRight - 10;
  const double bottom = 12 + kRowHeight * static_cast<double>(chart.bars.size());
  std::string out = open(bottom + kBottom, chart.label) + verticals(x, 6, bottom);
  for (size_t i = 0; i < chart.bars.size(); ++i)
    out += drawBar(chart.bars[i], x, 22 + kRowHeight * static_cast<double>(i), chart.fromZero);
  return out + text((kNames + kWidth) / 2, bottom + kBottom - 8, "middle", chart.label) + "</svg>";
}

}  // namespace mangrove::report
