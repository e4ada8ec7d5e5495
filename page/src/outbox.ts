// What was said and is not yet acknowledged. It is sent in order, again and again until it is.

import { post, Refused, type Done } from "./api";

export interface Act { path: string; body: Record<string, unknown> }

export class Outbox {
  private waiting: Act[];
  private sending = false;

  constructor(
    private readonly key: string,
    private readonly done: (act: Act, answer: Done) => void,
    private readonly refused: (act: Act, error: Refused) => void,
    private readonly changed: (waiting: number, isAway: boolean) => void,
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
    let pause = 250;
    for (let act = this.waiting[0]; act; act = this.waiting[0]) {
      this.changed(this.waiting.length, pause > 250);
      try {
        const answer = await post<Done>(act.path, act.body);
        this.waiting.shift();
        this.keep();
        pause = 250;
        this.done(act, answer);
      } catch (error) {
        const isFinal = error instanceof Refused && ![401, 429, 500, 502, 503].includes(error.code);
        if (isFinal) {
          this.waiting.shift();
          this.keep();
          this.refused(act, error);
          continue;
        }
        this.changed(this.waiting.length, true);
        await new Promise((wake) => setTimeout(wake, pause));
        pause = Math.min(2 * pause, 4000);
      }
    }
    this.sending = false;
    this.changed(0, false);
  }
}
