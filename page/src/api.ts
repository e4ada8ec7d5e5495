// The JSON interface of the server, typed. docs/labelling.md documents it.

export interface Brief {
  number: number;
  name: string;
  label: string | null;
  probability: number | null;
  status: string;
  degree?: number;
  skipped?: boolean;
  weight?: number;
}

export interface Card extends Brief {
  link: string | null;
  attributes: Record<string, string>;
  degree: number;
  classes: { name: string; probability: number }[];
  neighbours: Brief[];
  given: string | null;
  skipped: boolean;
  oracle: boolean;
  version: number;
}

export interface Why {
  seeds: { number: number; name: string; label: string; share: number }[];
  paths: { nodes: number[]; names: string[]; share: number }[];
  note: string;
  label?: string | null;
  own_label?: string | null;
  picture: { nodes: number[]; names: string[]; x: number[]; y: number[]; edges: [number, number][] };
}

export interface ClassState { name: string; colour: number; seeds: number; nodes: number }
export interface Suspect {
  number: number; name: string; label: string; suggested: string;
  own_probability: number; suggested_probability: number;
}
export interface Suggestion { number: number; name: string; why: string }

export interface State {
  title: string; nodes: number; edges: number; who: string; notes: string[];
  version: number; folded: number; judged: number; progress: number | null; fault: string;
  labels: number; given: number; skipped: number; is_saved: boolean;
  file: string; original: string | null; journal: string;
  classes: ClassState[];
  curve: [number, number, number, number][];
  bins: number[] | null;
  advice: { stop: boolean; reason: string } | null;
  suggestions: Suggestion[];
  suspects: Suspect[];
  truth: { right: number; total: number } | null;
}

export interface Colours { folded: number; classes: number[]; colours: number[]; certainty: number[]; seeds: number[] }
export interface Rows { total: number; page: number; size: number; rows: Brief[] }
export interface Done { entry: number | null; node: number | null; version: number; next: number | null }

/** What the server refuses, in its own words. */
export class Refused extends Error {
  constructor(message: string, readonly code: number, readonly canForce = false) { super(message); }
}

/** Whether the same request may be answered later: nobody was there, or too busy. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof Refused) || [429, 500, 502, 503].includes(error.code);

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((wake) => { window.setTimeout(wake, milliseconds); });

async function answer<T>(request: Promise<Response>): Promise<T> {
  const response = await request;
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  let told: { error: string; can_force?: boolean } = { error: text };
  try { told = JSON.parse(text) as typeof told; } catch { /* it was no JSON */ }
  throw new Refused(told.error, response.status, told.can_force);
}

export const get = <T>(path: string): Promise<T> => answer<T>(fetch(path));

export const post = <T>(path: string, body: object): Promise<T> =>
  answer<T>(fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }));
