// The state of things: how far, how sure, whether to stop.

import type { State } from "./api";
import { bar } from "./card";
import { byId, count, dot, h, named, percent, plural, s, show } from "./dom";

const WIDE = 260, HIGH = 78, LEFT = 26, BOTTOM = 14;

export function showState(state: State): void {
  const last = state.curve.at(-1);
  show(byId("accuracy"),
    h("p", { class: "big" }, last ? percent(last[1]) : "–"),
    h("p", { class: "quiet" }, last ? `${percent(last[2])} to ${percent(last[3])}, from ${plural(last[0], "label")}` : "too few labels to tell"));
  show(byId("curve"), state.curve.length > 1 ? curve(state.curve) as unknown as HTMLElement : null);
  const advice = state.advice;
  byId("advice").className = `advice${advice?.stop ? " stop" : ""}`;
  show(byId("advice"), adviceText(state));
  show(byId("numbers"),
    fact("labels", count(state.labels)), fact("given here", count(state.given)),
    fact("skipped", count(state.skipped)), fact("nodes", count(state.nodes)));
  const truth = byId("truth");
  truth.hidden = state.truth === null;
  if (state.truth) {
    show(truth, h("span", {}, "In fact, "), h("strong", {}, percent(state.truth.right / Math.max(1, state.truth.total), 1)),
      h("span", {}, ` of the ${plural(state.truth.total, "free node")} are right.`));
  }
  showCertain(state);
  const most = Math.max(1, ...state.classes.map((one) => one.nodes));
  const order = [...state.classes].sort((a, b) => b.nodes - a.nodes);
  show(byId("classes"), ...order.slice(0, 14).map((one) => h("li", {},
    dot(one.colour), h("span", { class: "grow" }, named(one.name, 26)), bar(one.nodes / most, one.colour),
    h("span", { class: "number wide", title: `${plural(one.nodes, "node")}, ${plural(one.seeds, "label")}` },
      count(one.nodes), h("span", { class: "quiet" }, ` · ${count(one.seeds)}`)))),
  order.length > 14 ? h("li", { class: "quiet" }, `and ${plural(order.length - 14, "more class", "more classes")}`) : null,
  order.length ? null : h("li", { class: "quiet" }, "none yet"));
}

export function showCertain(state: State): void {
  const slider = byId<HTMLInputElement>("certain");
  const least = Number(slider.value);
  byId("certain-value").textContent = `${least} %`;
  const bins = state.bins;
  if (!bins || !state.classes.length) { byId("certain-share").textContent = "not known yet"; return; }
  const all = bins.reduce((a, b) => a + b, 0);
  const enough = bins.slice(least).reduce((a, b) => a + b, 0);
  byId("certain-share").textContent = `${percent(enough / Math.max(1, all))} of the free nodes, ${count(enough)}`;
}

function adviceText(state: State): HTMLElement {
  const advice = state.advice;
  if (!state.classes.length) return h("p", {}, "Give the first label.");
  if (state.classes.filter((one) => one.seeds).length < 2) return h("p", {}, "Give labels of at least two classes.");
  if (!advice) return h("p", {}, "Continue: it is too early to tell.");
  const reason = advice.reason.charAt(0).toUpperCase() + advice.reason.slice(1);
  return h("p", {}, h("strong", {}, advice.stop ? "You can stop. " : "Continue. "), `${reason}.`);
}

const fact = (name: string, value: string): HTMLElement =>
  h("div", {}, h("dt", {}, name), h("dd", {}, value));

/** The expected accuracy as labels came in, with its interval. */
function curve(points: State["curve"]): SVGElement {
  const first = points[0]?.[0] ?? 0, last = Math.max(points.at(-1)?.[0] ?? 1, first + 1);
  const x = (n: number) => LEFT + (WIDE - LEFT - 4) * (n - first) / (last - first);
  const y = (v: number) => 4 + (HIGH - BOTTOM - 4) * (1 - v);
  const line = points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");
  const band = [...points.map((p) => `${x(p[0]).toFixed(1)},${y(p[3]).toFixed(1)}`),
    ...[...points].reverse().map((p) => `${x(p[0]).toFixed(1)},${y(p[2]).toFixed(1)}`)].join(" ");
  const end = points.at(-1);
  return s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": "Expected accuracy as labels came in" },
    ...[0, 0.5, 1].flatMap((v) => [
      s("line", { x1: LEFT, x2: WIDE - 4, y1: y(v), y2: y(v), class: "grid" }),
      s("text", { x: LEFT - 4, y: y(v) + 3, "text-anchor": "end" }, `${100 * v}`)]),
    s("polygon", { points: band, class: "band" }), s("polyline", { points: line, class: "line" }),
    end ? s("circle", { cx: x(end[0]), cy: y(end[1]), r: 2.6, class: "end" }) : null,
    s("text", { x: LEFT, y: HIGH - 2 }, String(first)),
    s("text", { x: WIDE - 4, y: HIGH - 2, "text-anchor": "end" }, `${last} labels`));
}
