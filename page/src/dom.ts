// Elements from data. Text is always text: nothing on this page is parsed as markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`there is no #${id}`);
  return found as E;
}

/** Replaces the children, unless they would look the same: focus and hovering stay. */
export function show(parent: Element, ...children: Child[]): void {
  const made = document.createElement("div");
  for (const child of children) if (child) made.append(child);
  if (parent.childNodes.length === made.childNodes.length) {
    const same = [...parent.childNodes].every((one, k) => one.isEqualNode(made.childNodes[k] ?? null));
    if (same && !parent.querySelector("button, input, a")) return;
  }
  const active = document.activeElement;
  const key = active && parent.contains(active) ? active.getAttribute("data-key") : null;
  parent.replaceChildren(...made.childNodes);
  if (key !== null) {
    const again = [...parent.querySelectorAll<HTMLElement>("[data-key]")]
      .find((one) => one.getAttribute("data-key") === key);
    again?.focus({ preventScroll: true });
  }
}

export const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;
export const count = (n: number): string => n.toLocaleString("en");
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** A name that fits: the whole of it is in the title. */
export const short = (name: string, most = 60): string =>
  [...name].length > most ? `${[...name].slice(0, most - 1).join("")}…` : name;

/** The mark of a class: its colour, a ring where the label was given. */
export function dot(colour: number, ringed = false): HTMLElement {
  return h("span", { class: `dot c${colour}${ringed ? " given" : ""}`, "aria-hidden": "true" });
}

/** A name, isolated, so that its direction does not leak into what is around it. */
export const named = (name: string, most = 60): HTMLElement =>
  h("bdi", { title: name.length > most ? name.slice(0, 500) : undefined }, short(name, most));
