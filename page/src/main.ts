// The labelling page: the loop of looking, labelling and watching.

import { get, isPassing, pause, post, Refused, type Card, type Done, type State, type Why } from "./api";
import { choicesOf, showCard, showWhy, type Choice } from "./card";
import { byId, plural, show, h } from "./dom";
import { NodesPanel } from "./nodes_panel";
import { Outbox, type Act } from "./outbox";
import { Picture } from "./picture";
import { showCertain, showState } from "./state_panel";

const LATER = 1000;            // milliseconds until a request that failed is sent again

let state: State | null = null;
let current = -1;              // the node that is shown
let isSuggested = true;        // … because it is next, not because somebody looked it up
let reason = "";               // why it was suggested
let choices: Choice[] = [];
let expanded: number[] = [];
let waiting = 0;
let isAway = false;
let notKept = "";              // why the server cannot keep what waits
let again = 0;                 // the timer that asks again for a card that did not come
const done = new Set<number>();  // nodes labelled or skipped here, before the server's state says so
const cards = new Map<number, Promise<[Card, Why]>>();  // fetched ahead, for this version

const actions = { label, walk: (node: number) => { void open(node, false); } };
const picture = new Picture(byId("picture"), actions.walk, (node) => { void expand(node); });
const panel = new NodesPanel(actions, failed);
const who = byId<HTMLInputElement>("who");
let outbox: Outbox | null = null;

// --- what is shown ---------------------------------------------------------------------------

async function open(node: number, suggested: boolean): Promise<void> {
  const isNew = node !== current;
  current = node;
  isSuggested = suggested;
  const suggestion = state?.suggestions.find((one) => one.number === node);
  if (isNew || suggestion) reason = suggested ? suggestion?.why ?? "" : "";
  if (isNew) { expanded = []; choices = []; byId("card").setAttribute("aria-busy", "true"); picture.wait(); showWhy(null); }
  await refresh(cards.get(node));
  cards.delete(node);
  if (!suggested && matchMedia("(max-width: 60rem)").matches && isNew) byId("card").scrollIntoView();
}

async function refresh(ready?: Promise<[Card, Why]>, withWhy = true): Promise<void> {
  const node = current;
  if (node < 0 || !state) return;
  window.clearTimeout(again);
  try {
    const card = ready ? (await ready)[0] : await get<Card>(`/api/nodes/${node}`);
    if (node !== current || !state) return;
    if (!choices.length || choices.length < Math.min(9, state.classes.length)) choices = choicesOf(card, state);
    choices = choices.filter((one) => state?.classes.some((known) => known.name === one.name));
    showCard(card, choices, state, actions, isSuggested ? reason : null);
    byId("card").dataset["node"] = String(node);
    byId("card").setAttribute("aria-busy", "false");
    byId("oracle").hidden = !card.oracle;
    byId("withdraw").hidden = card.given === null;
    byId("resume").hidden = isSuggested || !next();
    if (!withWhy) { await picture.recolour(); return; }
    const started = state.folded;
    picture.recolour().catch(failed);
    const why = ready ? (await ready)[1] : await get<Why>(whyPath(node));
    if (node !== current || !state || state.folded !== started) return;  // asked again already
    showWhy(why, state, actions);
    picture.show(node, why, expanded.at(-1) ?? null);
    await picture.recolour();
  } catch (error) {
    failed(error);
    if (node === current && isPassing(error)) again = window.setTimeout(() => void refresh(), LATER);
  }
}

const whyPath = (node: number): string =>
  `/api/nodes/${node}/why${expanded.length ? `?more=${expanded.join(",")}` : ""}`;

async function expand(node: number): Promise<void> {
  expanded = [...expanded.filter((one) => one !== node), node].slice(-10);
  try {
    const why = await get<Why>(whyPath(current));
    picture.show(current, why, node);
    await picture.recolour();
  } catch (error) { failed(error); }
}

/** The best node to label next that is not done yet. */
function next(): number | null {
  return state?.suggestions.find((one) => !done.has(one.number) && one.number !== current)?.number ?? null;
}

function goOn(): void {
  const node = next();
  if (node !== null) void open(node, true);
  else showNothingLeft();
}

function showNothingLeft(): void {
  byId("reason").textContent = state && state.labels >= state.nodes ? "Every node has a label" : "Choosing what to label next …";
}

/** Fetches the card that comes next while this one is read. */
function lookAhead(): void {
  cards.clear();
  const node = next();
  if (node === null) return;
  const both = Promise.all([get<Card>(`/api/nodes/${node}`), get<Why>(`/api/nodes/${node}/why`)]);
  both.catch(() => cards.delete(node));
  cards.set(node, both);
}

function receive(fresh: State): void {
  const before = state;
  state = fresh;
  for (const one of [...done]) if (!fresh.suggestions.some((s) => s.number === one)) done.delete(one);
  showState(fresh);
  showStatus();
  show(byId("notes"), ...fresh.notes.map((note) => h("li", {}, note)));
  byId("notes").hidden = !fresh.notes.length;
  byId<HTMLButtonElement>("save").classList.toggle("primary", !fresh.is_saved);
  const changed = !before || before.folded !== fresh.folded || before.version !== fresh.version;
  const judged = before?.judged !== fresh.judged || before?.bins?.join() !== fresh.bins?.join();
  if (changed || judged) panel.update(fresh);
  if (current < 0) goOn();
  else if (changed || judged) void refresh(undefined, before?.folded !== fresh.folded);
  if (isSuggested && current >= 0 && byId("card").dataset["left"] === "true") { byId("card").dataset["left"] = ""; goOn(); }
  const ahead = next();
  if (ahead !== null && (changed || !cards.has(ahead))) lookAhead();
}

function showStatus(): void {
  const status = byId("status");
  if (!state) return;
  let text = "up to date", kind = "good";
  if (notKept) { text = `not kept: ${notKept}. ${plural(waiting, "label")} will be sent again`; kind = "bad"; }
  else if (isAway) { text = waiting ? `the server does not answer: ${plural(waiting, "label")} will be sent again` : "the server does not answer"; kind = "bad"; }
  else if (state.fault) { text = state.fault; kind = "bad"; }
  else if (waiting) { text = `sending ${plural(waiting, "label")} …`; kind = "busy"; }
  else if (state.progress !== null) { text = `solving, ${Math.round(100 * state.progress)} %`; kind = "busy"; }
  else if (state.folded < state.version) { text = "solving …"; kind = "busy"; }
  else if (state.judged < state.version) { text = "up to date; thinking ahead …"; }
  status.textContent = text;
  status.className = `status ${kind}`;
  const bar = byId<HTMLProgressElement>("solving");
  bar.hidden = state.progress === null;
  if (state.progress !== null) bar.value = state.progress;
}

// --- what is done ------------------------------------------------------------------------------

function act(path: string, body: Record<string, unknown>): void {
  outbox?.add({ path, body: { ...body, who: who.value.trim().slice(0, 80) } });
}

function leave(): void {
  done.add(current);
  if (next() === null) byId("card").dataset["left"] = "true";
  goOn();
}

function label(name: string): void {
  if (current < 0) return;
  act("/api/label", { node: current, label: name });
  announce(`${byId("name").textContent?.slice(0, 60) ?? ""} is ${name}`);
  if (isSuggested) leave();
  else void backToSuggestion();
}

function backToSuggestion(): void {
  const node = next();
  if (node !== null) void open(node, true);
}

function skip(): void {
  if (current < 0) return;
  act("/api/skip", { node: current });
  leave();
}

const undo = (): void => act("/api/undo", {});

function oracle(): void {
  if (current < 0 || byId("oracle").hidden) return;
  act("/api/oracle", { node: current });
  leave();
}

function withdraw(): void {
  if (current >= 0) act("/api/label", { node: current, label: null });
}

function typed(): void {
  const input = byId<HTMLInputElement>("class");
  const name = input.value.trim();
  if (!name) return;
  const known = state?.classes.find((one) => one.name.toLowerCase() === name.toLowerCase());
  input.value = "";
  input.blur();
  label(known?.name ?? name);
}

function acted(act: Act, answer: Done): void {
  if (act.path === "/api/undo") {
    if (answer.entry === null) { announce("You have nothing to undo."); return; }
    announce("Undone.");
    if (answer.node !== null) { done.delete(answer.node); void open(answer.node, true); }
  }
}

async function save(): Promise<void> {
  const original = byId<HTMLInputElement>("over").checked;
  const send = (force: boolean) => post<{ file: string; labels: number }>("/api/save", { original, force, who: who.value });
  try {
    let answer;
    try { answer = await send(false); } catch (error) {
      if (!(error instanceof Refused) || !error.canForce || !confirm(error.message)) throw error;
      answer = await send(true);
    }
    byId<HTMLDialogElement>("save-dialog").close();
    announce(`Wrote ${plural(answer.labels, "label")} to ${answer.file}.`);
  } catch (error) { failed(error); }
}

function announce(text: string): void {
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.add("shown");
  window.clearTimeout(Number(toast.dataset["timer"]));
  toast.dataset["timer"] = String(window.setTimeout(() => toast.classList.remove("shown"), 4000));
}

function failed(error: unknown): void {
  if (error instanceof Refused && error.code === 401) {
    announce("The server was restarted: open the address that it has printed.");
  } else if (error instanceof Refused) announce(error.message);
}

// --- keys, buttons, news ---------------------------------------------------------------------

function key(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (target.matches("input, select")) target.blur();
    else if (!document.querySelector("dialog[open]")) backToSuggestion();
    return;
  }
  if (target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const press = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const choice = choices.find((one) => one.key === press);
  const what: Record<string, () => void> = {
    s: skip, u: undo, o: oracle, n: focusClass, t: focusClass, "/": () => byId("search").focus(),
    "?": () => byId<HTMLDialogElement>("keys-dialog").showModal(),
    "+": () => picture.zoom(0.7), "-": () => picture.zoom(1.4), "0": () => picture.reset(),
  };
  if (choice) { event.preventDefault(); label(choice.name); return; }
  const run = what[press];
  if (run && !event.repeat) { event.preventDefault(); run(); }
}

function focusClass(): void { byId("class").focus(); }

function wire(): void {
  document.addEventListener("keydown", key);
  const click = (id: string, run: () => void) => byId(id).addEventListener("click", run);
  click("skip", skip); click("undo", undo); click("oracle", oracle); click("withdraw", withdraw);
  click("resume", backToSuggestion);
  click("zoom-in", () => picture.zoom(0.7)); click("zoom-out", () => picture.zoom(1.4)); click("zoom-all", () => picture.reset());
  click("expand", () => { void expand(current); });
  click("keys", () => byId<HTMLDialogElement>("keys-dialog").showModal());
  click("save", () => {
    byId("save-file").textContent = state?.file ?? "";
    byId("over-line").hidden = !state?.original;
    byId("over-file").textContent = state?.original ?? "";
    byId<HTMLDialogElement>("save-dialog").showModal();
  });
  click("save-now", () => { void save(); });
  for (const button of document.querySelectorAll<HTMLButtonElement>("dialog .close")) {
    button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  byId("class-form").addEventListener("submit", (event) => { event.preventDefault(); typed(); });
  byId("certain").addEventListener("input", () => { if (state) showCertain(state); });
  byId("certain").addEventListener("change", () => void panel.load());
  who.addEventListener("change", () => { try { localStorage.setItem("isotherm-who", who.value); } catch { /* not kept */ } });
}

function listen(): void {
  const events = new EventSource("/api/events");
  events.addEventListener("state", (event) => {
    isAway = false;
    receive(JSON.parse((event as MessageEvent<string>).data) as State);
  });
  events.onerror = () => {
    isAway = true;
    showStatus();
    if (events.readyState === EventSource.CLOSED) {
      get<State>("/api/state").catch(failed);
      window.setTimeout(listen, 2000);
    }
  };
}

/** Asked for until it comes: without it there is nothing to show. */
async function firstState(): Promise<State> {
  for (;;) {
    try { return await get<State>("/api/state"); } catch (error) {
      if (!isPassing(error)) throw error;
      announce("The server does not answer; asking again …");
    }
    await pause(LATER);
  }
}

async function start(): Promise<void> {
  wire();
  const first = await firstState();
  let kept: string | null = null;
  try { kept = localStorage.getItem("isotherm-who"); } catch { /* not kept */ }
  who.value = kept ?? first.who;
  outbox = new Outbox(`isotherm-outbox-${location.port}-${first.journal}`, acted,
    (_, error) => announce(error.message),
    (n, away, reason) => { waiting = n; isAway = away; notKept = reason; showStatus(); });
  receive(first);
  listen();
}

start().catch(failed);
