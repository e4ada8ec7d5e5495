// The picture of a node's surroundings: sigma draws, the server has laid it out.

import Graph from "graphology";
import Sigma from "sigma";
import { createNodeBorderProgram } from "@sigma/node-border";
import type { Settings } from "sigma/settings";
import type { NodeDisplayData, PartialButFor } from "sigma/types";
import { get, type Colours, type Why } from "./api";
import { short } from "./dom";

const N_COLOURS = 12;

export class Picture {
  private graph = new Graph({ type: "undirected" });
  private sigma: Sigma | null = null;
  private focus = -1;
  private shown = "";
  private theme = { ink: "#000", paper: "#fff", line: "#ccc", other: "#888", accent: "#444", classes: [] as string[] };
  private colours: Colours | null = null;
  private nodes: number[] = [];

  constructor(
    private readonly place: HTMLElement,
    private readonly walk: (node: number) => void,
    private readonly expand: (node: number) => void,
  ) {
    this.readTheme();
    try {
      this.start();
    } catch {
      place.textContent = "This browser has no WebGL, so there is no picture; everything else works.";
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.readTheme();
      this.paint();
    });
  }

  private readTheme(): void {
    const style = getComputedStyle(document.documentElement);
    const value = (name: string) => style.getPropertyValue(name).trim();
    this.theme = {
      ink: value("--ink"), paper: value("--panel"), line: value("--line"), other: value("--other"),
      accent: value("--heat"),
      classes: Array.from({ length: N_COLOURS }, (_, k) => value(`--c${k}`)),
    };
  }

  private start(): void {
    const bordered = createNodeBorderProgram({
      borders: [
        { size: { attribute: "ring", defaultValue: 0 }, color: { attribute: "ringColor" } },
        { size: { attribute: "gap", defaultValue: 0 }, color: { attribute: "gapColor" } },
        { size: { fill: true }, color: { attribute: "color" } },
      ],
    });
    const settings: Partial<Settings> = {
      nodeProgramClasses: { bordered },
      defaultNodeType: "bordered",
      labelFont: "system-ui, sans-serif",
      labelSize: 11,
      labelDensity: 0.5,
      labelRenderedSizeThreshold: 7,
      zIndex: true,
      minCameraRatio: 0.05,
      maxCameraRatio: 3,
      stagePadding: 28,
      allowInvalidContainer: true,
      labelColor: { attribute: "labelColor" },
      defaultDrawNodeHover: (context, data) => this.drawHover(context, data),
    };
    const sigma = new Sigma(this.graph, this.place, settings);
    this.sigma = sigma;
    for (const canvas of this.place.querySelectorAll("canvas")) canvas.setAttribute("aria-hidden", "true");
    let dragged: string | null = null;
    let moved = false;
    sigma.on("downNode", ({ node }) => { dragged = node; moved = false; });
    sigma.on("moveBody", ({ event }) => {
      if (dragged === null) return;
      const at = sigma.viewportToGraph(event);
      this.graph.mergeNodeAttributes(dragged, { x: at.x, y: at.y });
      moved = true;
      event.preventSigmaDefault();
      event.original.preventDefault();
      event.original.stopPropagation();
    });
    const up = () => { dragged = null; };
    sigma.on("upNode", up);
    sigma.on("upStage", up);
    let clicked = 0;
    sigma.on("clickNode", ({ node }) => {
      if (moved) { moved = false; return; }
      window.clearTimeout(clicked);  // a second click expands instead
      clicked = window.setTimeout(() => this.walk(Number(node)), 260);
    });
    sigma.on("doubleClickNode", ({ node, event }) => {
      window.clearTimeout(clicked);
      event.preventSigmaDefault();
      this.expand(Number(node));
    });
    sigma.on("enterNode", () => { this.place.style.cursor = "pointer"; });
    sigma.on("leaveNode", () => { this.place.style.cursor = ""; });
    new ResizeObserver(() => { sigma.resize(); sigma.refresh(); }).observe(this.place);
  }

  private drawHover(
    context: CanvasRenderingContext2D,
    data: PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color">,
  ): void {
    const text = data.label ?? "";
    context.font = "600 12px system-ui, sans-serif";
    const width = context.measureText(text).width;
    context.fillStyle = this.theme.paper;
    context.strokeStyle = this.theme.line;
    context.beginPath();
    context.roundRect(data.x + data.size + 3, data.y - 11, width + 12, 22, 5);
    context.fill();
    context.stroke();
    context.fillStyle = this.theme.ink;
    context.textBaseline = "middle";
    context.fillText(text, data.x + data.size + 9, data.y + 0.5);
    context.textBaseline = "alphabetic";
  }

  /** Draws the surroundings of a node; nodes that are there already stay where they are. */
  show(focus: number, why: Why, expanded: number | null = null): void {
    const picture = why.picture;
    this.place.classList.remove("stale");
    const key = JSON.stringify([focus, picture.nodes, why.paths.map((path) => path.nodes)]);
    if (key === this.shown) return;
    const kept = new Map<string, { x: number; y: number }>();
    if (focus === this.focus) {
      this.graph.forEachNode((node, at) => kept.set(node, { x: Number(at["x"]), y: Number(at["y"]) }));
    }
    const middle = expanded === null ? undefined : kept.get(String(expanded));
    const newFocus = focus !== this.focus;
    this.focus = focus;
    this.shown = key;
    this.graph.clear();
    const onPath = new Set(why.paths.flatMap((path) => path.nodes));
    const ends = new Set(why.paths.map((path) => path.nodes.at(-1)));
    let fresh = 0;
    picture.nodes.forEach((number, k) => {
      const angle = 2.4 * fresh;
      const before = kept.get(String(number));
      const near = middle && !before
        ? { x: middle.x + (1 + 0.15 * fresh) * Math.cos(angle), y: middle.y + (1 + 0.15 * fresh) * Math.sin(angle) }
        : undefined;
      if (near) fresh += 1;
      const at = before ?? near ?? { x: picture.x[k] ?? 0, y: -(picture.y[k] ?? 0) };
      this.graph.addNode(String(number), {
        ...at,
        size: number === focus ? 13 : onPath.has(number) ? 7 : 4.5,
        label: short(picture.names[k] ?? "", 34),
        forceLabel: number === focus || ends.has(number),
        zIndex: number === focus ? 2 : 1,
      });
    });
    const heat = new Map<string, number>();
    for (const path of why.paths) {
      path.nodes.slice(1).forEach((node, k) => {
        const pair = [path.nodes[k] ?? 0, node].sort((a, b) => a - b).join("-");
        heat.set(pair, (heat.get(pair) ?? 0) + path.share);
      });
    }
    for (const [i, j] of picture.edges) {
      const a = picture.nodes[i] ?? 0, b = picture.nodes[j] ?? 0;
      const share = heat.get([a, b].sort((x, y) => x - y).join("-")) ?? 0;
      if (a !== b && !this.graph.hasEdge(String(a), String(b))) {
        this.graph.addEdge(String(a), String(b), { heat: share, size: share ? 2.6 + 6 * share : 0.7, zIndex: share ? 1 : 0 });
      }
    }
    this.nodes = picture.nodes;
    this.colours = null;
    this.paint();
    if (newFocus) void this.sigma?.getCamera().animatedReset({ duration: 200 });
    this.place.setAttribute(
      "aria-label", `Surroundings of the node: ${picture.nodes.length} nodes, ${picture.edges.length} edges`);
  }

  /** Shows that what is drawn is about another node. */
  wait(): void { this.place.classList.add("stale"); }

  /** Fetches the colours of what is drawn: after every label. */
  async recolour(): Promise<void> {
    if (!this.nodes.length) return;
    const nodes = this.nodes;
    const colours = await get<Colours>(`/api/colours?nodes=${nodes.join(",")}`);
    if (nodes !== this.nodes) return;
    this.colours = colours;
    this.paint();
    this.place.dataset["folded"] = String(colours.folded);
  }

  private paint(): void {
    const { theme, colours } = this;
    this.nodes.forEach((number, k) => {
      const node = String(number);
      if (!this.graph.hasNode(node)) return;
      const code = colours?.colours[k] ?? -1, sure = colours?.certainty[k] ?? 0;
      const pure = code < 0 ? theme.other : theme.classes[code] ?? theme.other;
      const color = code < 0 ? mixed(theme.other, theme.paper, 0.35) : mixed(pure, theme.paper, 0.25 + 0.75 * sure);
      const isSeed = colours?.seeds[k] === 1, isFocus = number === this.focus;
      this.graph.mergeNodeAttributes(node, {
        color,
        ring: isSeed || isFocus ? 0.16 : 0.07,
        ringColor: isSeed ? theme.ink : isFocus ? theme.accent : mixed(pure, theme.paper, 0.75),
        gap: isSeed || isFocus ? 0.12 : 0,
        gapColor: theme.paper,
        labelColor: theme.ink,
      });
    });
    this.graph.forEachEdge((edge, attributes) => {
      this.graph.setEdgeAttribute(edge, "color", Number(attributes["heat"]) ? theme.accent : mixed(theme.line, theme.paper, 0.8));
    });
    this.sigma?.refresh();
  }

  zoom(by: number): void {
    const camera = this.sigma?.getCamera();
    if (camera) void camera.animate({ ratio: camera.ratio * by }, { duration: 120 });
  }

  reset(): void {
    void this.sigma?.getCamera().animatedReset({ duration: 200 });
  }
}

/** So much of one colour, the rest of another; both as #rrggbb. */
export function mixed(one: string, other: string, share: number): string {
  const parts = (colour: string) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  const a = parts(one), b = parts(other);
  return `#${a.map((v, k) => Math.round(share * v + (1 - share) * (b[k] ?? 0)).toString(16).padStart(2, "0")).join("")}`;
}
