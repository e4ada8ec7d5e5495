// The card of the node to label.

import type { Card, State, Why } from "./api";
import { byId, count, dot, h, named, percent, plural, show } from "./dom";

const REASONS: Record<string, string> = {
  useful: "Suggested: its label would settle the most doubt",
  check: "Suggested: a random check of how good the labels are",
  first: "Suggested: drawn at random, to start with",
};

export interface Choice { name: string; probability: number | null; key: string }

export interface CardActions {
  label(name: string): void;
  walk(node: number): void;
}

/** Which classes have a button, and which key. Fixed while a node is shown, so that no key changes its meaning. */
export function choicesOf(card: Card, state: State): Choice[] {
  const all = state.classes.map((one) => one.name);
  const share = new Map(card.classes.map((one) => [one.name, one.probability]));
  const likely = card.classes.map((one) => one.name);
  const order = all.length <= 9 ? all : [...new Set([...likely, ...all])].slice(0, 9);
  return order.map((name, k) => ({ name, probability: share.get(name) ?? null, key: String(k + 1) }));
}

export function bar(share: number, colour: number): HTMLElement {
  const inner = h("span", { class: `fill c${colour}` });
  inner.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

export function showCard(
  card: Card, choices: Choice[], state: State, actions: CardActions, suggested: string | null,
): void {
  const colour = colours(state);
  const reason = suggested === null ? "Looked up" : REASONS[suggested] ?? "Suggested";
  byId("reason").textContent = card.skipped ? `${reason}; it was skipped` : reason;
  const name = byId("name");
  if (name.textContent !== card.name) { name.textContent = card.name; name.scrollTop = 0; }
  show(byId("about"),
    h("p", { class: "facts" },
      plural(card.degree, "neighbour"),
      card.link ? h("a", { href: card.link, target: "_blank", rel: "noopener noreferrer", "data-key": "link" }, "look it up ↗") : null),
    Object.keys(card.attributes).length
      ? h("dl", { class: "attributes" }, ...Object.entries(card.attributes).flatMap(([key, value]) =>
        [h("dt", { dir: "auto" }, key), h("dd", { dir: "auto" }, value)]))
      : null);
  show(byId("opinion"), opinion(card, state, colour));
  const isTold = state.classes.length > 1 && card.given === null && card.label !== null;
  const buttons = choices.map((choice) => {
    const now = card.classes.find((one) => one.name === choice.name)?.probability ?? choice.probability;
    const k = colour(choice.name);
    return h("li", {}, h("button", {
      type: "button", class: "choice", "data-key": `class ${choice.name}`,
      "aria-pressed": card.given === choice.name ? "true" : "false",
      click: () => actions.label(choice.name),
    },
    h("kbd", { "aria-hidden": "true" }, choice.key), dot(k), h("span", { class: "grow" }, named(choice.name, 40)),
    now === null || !isTold ? null : bar(now, k),
    now === null || !isTold ? null : h("span", { class: "number" }, percent(now))));
  });
  show(byId("choices"), ...buttons);
  const near = card.neighbours.map((one) => {
    const given = one.status === "seed";
    return h("li", {}, h("button", {
      type: "button", class: "row", "data-key": `near ${one.number}`, click: () => actions.walk(one.number),
    }, dot(one.label === null ? -1 : colour(one.label), given), h("span", { class: "grow" }, named(one.name, 44)),
    h("span", { class: "quiet" }, one.label === null ? "" : named(one.label, 22),
      given ? " (given)" : one.probability === null ? "" : ` ${percent(one.probability)}`)));
  });
  show(byId("near"), ...near);
  byId("near-title").textContent = card.degree > card.neighbours.length
    ? `Neighbours, ${card.neighbours.length} of ${count(card.degree)}` : "Neighbours";
}

export function colours(state: State): (name: string) => number {
  const found = new Map(state.classes.map((one) => [one.name, one.colour]));
  return (name) => found.get(name) ?? -1;
}

function opinion(card: Card, state: State, colour: (name: string) => number): HTMLElement {
  if (card.given !== null) {
    return h("p", {}, "Labelled ", dot(colour(card.given), true), h("strong", {}, named(card.given, 60)), ". Choose another class to change it.");
  }
  if (!state.classes.length) return h("p", {}, "There is no class yet. Press ", h("kbd", {}, "N"), " and type what this node is.");
  if (card.status === "unlabelled") return h("p", {}, "No label yet. Choose what this node is.");
  if (card.status === "unreached") return h("p", {}, "No heat reaches this node: a label here will reach its whole part of the graph.");
  const used = state.classes.filter((one) => one.seeds > 0).length;
  if (used < 2) return h("p", {}, "Only one class so far. Press ", h("kbd", {}, "N"), " to add a second one.");
  return h("p", {}, "The model says ", dot(colour(card.label ?? "")), h("strong", {}, named(card.label ?? "none", 60)),
    card.probability === null ? "" : `, ${percent(card.probability)} sure.`);
}

export function showWhy(why: null): void;
export function showWhy(why: Why, state: State, actions: CardActions): void;
export function showWhy(why: Why | null, state?: State, actions?: CardActions): void {
  if (!why || !state || !actions) { show(byId("why"), h("p", { class: "quiet" }, "computing …")); return; }
  const colour = colours(state);
  const parts: HTMLElement[] = [];
  if (why.note) parts.push(h("p", { class: "quiet" }, sentence(why.note)));
  if (why.own_label) {
    parts.push(h("p", {}, "Without its own label, ", h("strong", {}, named(why.own_label, 40)), ", it would get ",
      dot(colour(why.label ?? "")), h("strong", {}, named(why.label ?? "none", 40)), "."));
  }
  if (why.seeds.length) {
    parts.push(h("ul", { class: "rows" }, ...why.seeds.map((one) => h("li", {}, h("button", {
      type: "button", class: "row", "data-key": `seed ${one.number}`, click: () => actions.walk(one.number),
    }, dot(colour(one.label), true), h("span", { class: "grow" }, named(one.name, 36)), bar(one.share, colour(one.label)),
    h("span", { class: "number" }, percent(one.share)))))));
  }
  const paths = why.paths.filter((path) => path.names.length > 2).slice(0, 3);
  if (paths.length) {
    parts.push(h("ul", { class: "paths" }, ...paths.map((path) => h("li", {},
      ...path.names.slice(1).flatMap((name, k) => [k ? " → " : "via ", named(name, 24)]),
      h("span", { class: "quiet" }, ` ${percent(path.share)}`)))));
  }
  show(byId("why"), ...parts);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");
