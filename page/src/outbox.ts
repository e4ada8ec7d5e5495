// What was said and is not yet acknowledged. It is sent in order, again and again until it is, also
// where the server has no room to keep it (409).

import { isPassing, pause, post, Refused, type Done } from "./api";

const FIRST = 250;  // milliseconds until something is sent again, at first

export interface Act { path: string; body: Record<string, unknown> }

export class Outbox {
  private waiting: Act[];
  private sending = false;

  constructor(
    private readonly key: string,
    private readonly done: (act: Act, answer: Done) => void,
    private readonly refused: (act: Act, error: Refused) => void,
    private readonly changed: (waiting: number, isAway: boolean, notKept: string) => void,
  ) {
    let kept: unknown = [];
    try { kept = JSON.parse(localStorage.getItem(key) ?? "[]"); } catch { /* nothing was kept */ }
    this.waiting = Array.isArray(kept) ? (kept as Act[]) : [];
    if (this.waiting.length) void this.send();
  }

  add(act: Act): void {
    this.waiting.push(act);
    this.keep();
    void this.send();
  }

  private keep(): void {
    try { localStorage.setItem(this.key, JSON.stringify(this.waiting)); } catch { /* no room: in memory only */ }
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    let patience = FIRST, notKept = "";
    for (let act = this.waiting[0]; act; act = this.waiting[0]) {
      this.changed(this.waiting.length, patience > FIRST && !notKept, notKept);
      try {
        const answer = await post<Done>(act.path, act.body);
        this.waiting.shift();
        this.keep();
        patience = FIRST;
        notKept = "";
        this.done(act, answer);
      } catch (error) {
        notKept = error instanceof Refused && error.code === 409 ? error.message : "";
        if (error instanceof Refused && error.code !== 401 && !notKept && !isPassing(error)) {
          this.waiting.shift();
          this.keep();
          this.refused(act, error);
          continue;
        }
        this.changed(this.waiting.length, !notKept, notKept);
        await pause(patience);
        patience = Math.min(2 * patience, 4000);
      }
    }
    this.sending = false;
    this.changed(0, false, "");
  }
}
