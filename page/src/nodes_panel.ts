// The table of nodes, and the labels that look wrong.

import { get, type Rows, type State } from "./api";
import { colours, type CardActions } from "./card";
import { byId, count, dot, h, named, percent, show } from "./dom";

const SIZE = 50;

export class NodesPanel {
  private page = 0;
  private sort = "probability";
  private descending = false;
  private asked = 0;
  private state: State | null = null;
  private filled = "";

  constructor(private readonly actions: CardActions, private readonly failed: (error: unknown) => void) {
    let timer = 0;
    const again = () => { this.page = 0; window.clearTimeout(timer); timer = window.setTimeout(() => void this.load(), 150); };
    for (const id of ["search", "filter-class", "filter-state"]) byId(id).addEventListener("input", again);
    byId("search").addEventListener("keydown", (event) => {
      if ((event as KeyboardEvent).key !== "Enter") return;
      event.preventDefault();
      window.clearTimeout(timer);
      this.page = 0;
      void this.load().then(() => document.querySelector<HTMLElement>("#rows button")?.click());
    });
    byId("previous").addEventListener("click", () => { this.page -= 1; void this.load(); });
    byId("following").addEventListener("click", () => { this.page += 1; void this.load(); });
    for (const button of document.querySelectorAll<HTMLButtonElement>("th button")) {
      button.addEventListener("click", () => {
        const name = button.dataset["sort"] ?? "name";
        this.descending = this.sort === name ? !this.descending : name === "degree";
        this.sort = name;
        again();
      });
    }
  }

  update(state: State): void {
    this.state = state;
    const names = state.classes.map((one) => one.name);
    const key = JSON.stringify(names);
    if (key !== this.filled) {
      this.filled = key;
      const select = byId<HTMLSelectElement>("filter-class"), chosen = select.value;
      show(select, h("option", { value: "" }, "every class"),
        ...names.map((name) => h("option", { value: name, selected: name === chosen }, name.slice(0, 60))));
      show(byId("class-names"), ...names.map((name) => h("option", { value: name })));
    }
    this.showSuspects(state);
    void this.load();
  }

  async load(): Promise<void> {
    const asked = ++this.asked;
    const query = new URLSearchParams({
      search: byId<HTMLInputElement>("search").value, label: byId<HTMLSelectElement>("filter-class").value,
      state: byId<HTMLSelectElement>("filter-state").value, sort: this.sort,
      descending: String(this.descending), page: String(this.page), size: String(SIZE),
      below: String(Number(byId<HTMLInputElement>("certain").value) / 100),
    });
    try {
      const found = await get<Rows>(`/api/nodes?${query}`);
      if (asked === this.asked) this.show(found);
    } catch (error) { this.failed(error); }
  }

  private show(found: Rows): void {
    const colour = this.state ? colours(this.state) : () => -1;
    show(byId("rows"), ...found.rows.map((row) => h("tr", {},
      h("td", {}, h("button", { type: "button", class: "row", "data-key": `node ${row.number}`, click: () => this.actions.walk(row.number) }, named(row.name, 70))),
      h("td", {}, row.label === null ? h("span", { class: "quiet" }, row.skipped ? "skipped" : "none")
        : h("span", { class: "with-dot" }, dot(colour(row.label), row.status === "seed"), named(row.label, 30))),
      h("td", { class: "number" }, row.status === "seed" ? "given" : row.probability === null ? "" : percent(row.probability)),
      h("td", { class: "number" }, count(row.degree ?? 0)))),
    found.rows.length ? null : h("tr", {}, h("td", { colspan: 4, class: "quiet" }, "no node matches")));
    const first = found.page * found.size;
    byId("range").textContent = found.total ? `${count(first + 1)}–${count(first + found.rows.length)} of ${count(found.total)}` : "0";
    byId<HTMLButtonElement>("previous").disabled = found.page === 0;
    byId<HTMLButtonElement>("following").disabled = first + found.rows.length >= found.total;
    for (const th of document.querySelectorAll("th[scope=col]")) {
      const name = th.querySelector("button")?.dataset["sort"];
      if (name === this.sort) th.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
  }

  private showSuspects(state: State): void {
    const colour = colours(state);
    byId("suspects-title").textContent = state.suspects.length ? `Labels to check (${state.suspects.length})` : "Labels to check";
    show(byId("suspects"), ...state.suspects.map((one) => h("li", {}, h("button", {
      type: "button", class: "row", "data-key": `suspect ${one.number}`, click: () => this.actions.walk(one.number),
    }, h("span", { class: "grow" }, named(one.name, 40)),
    h("span", { class: "with-dot" }, dot(colour(one.label), true), named(one.label, 18)),
    h("span", { class: "quiet" }, "others say"),
    h("span", { class: "with-dot" }, dot(colour(one.suggested)), named(one.suggested, 18)),
    h("span", { class: "number" }, percent(one.suggested_probability))))),
    state.suspects.length ? null : h("li", { class: "quiet" }, state.judged < 0 ? "not checked yet" : "no label looks wrong"));
  }
}
