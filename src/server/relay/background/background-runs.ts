import type { Owned } from '../stored-responses/local-responses.ts'
import type { BackgroundRun } from './background-run.ts'

/** The runs of this node, by whose they are. */
export class BackgroundRuns {
  readonly #runs = new Map<string, BackgroundRun>()

  add(owned: Owned, run: BackgroundRun): void {
    this.#runs.set(keyOf(owned), run)
  }

  remove(owned: Owned): void {
    this.#runs.delete(keyOf(owned))
  }

  find(owned: Owned): BackgroundRun | undefined {
    return this.#runs.get(keyOf(owned))
  }

  countOf(userId: number): number {
    return [...this.#runs.keys()].filter((key) => key.startsWith(`${userId} `)).length
  }

  /** The server is stopping, and has waited long enough. */
  stopAll(): void {
    for (const run of this.#runs.values()) run.stop()
  }
}

function keyOf({ userId, id }: Owned): string {
  return `${userId} ${id}`
}
