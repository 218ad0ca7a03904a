import type { Counters, Taken } from './counters.ts'
import type { Need, Refusal, Rule, Standing } from './rule.ts'

export interface TurnFacts {
  readonly rulesIn: (group: string) => readonly Rule[]
  /** The rules that hold for the request whatever its body says. */
  readonly certainRules: () => readonly Rule[]
  /** The group that counts for a request that fails before its group is known. */
  readonly ownGroup: string
}

export type TurnNeed = Omit<Need, 'id'> & { readonly group: string }

/** One request among the limits, from its entry to its end. */
export class Turn {
  readonly #counters: Counters
  readonly #id: string
  readonly #facts: TurnFacts
  #taken: Taken | undefined
  #isEntered = false
  #tokens = 0
  /** How far the limits are used, once the request has entered or was refused. */
  standings: readonly Standing[] = []

  constructor(counters: Counters, id: string, facts: TurnFacts) {
    this.#counters = counters
    this.#id = id
    this.#facts = facts
  }

  /** Whether the limits have seen the request. One that fails before counts all the same: let it enter with its own group. */
  get isEntered(): boolean {
    return this.#isEntered
  }

  /**
   * Answers what refuses the request by count, before its body is read; it is then not counted, as any that is refused. What passes has
   * still to enter. `asksAll`: worth a question to what counts for all nodes.
   */
  async refusedByCount(asksAll: boolean): Promise<Refusal | undefined> {
    const rules = this.#facts.certainRules()
    if (rules.length === 0) return undefined
    const { refusal, standings } = await this.#counters.look(rules, asksAll)
    if (!refusal) return undefined
    this.#isEntered = true
    this.standings = standings
    return refusal
  }

  /** Counts the request, or answers what refuses it. Once per request. */
  async enter({ group, ...need }: TurnNeed): Promise<Refusal | undefined> {
    this.#isEntered = true
    const rules = this.#facts.rulesIn(group)
    if (rules.length === 0) return undefined
    const { refusal, standings, taken } = await this.#counters.take(rules, { ...need, id: this.#id })
    this.standings = standings
    this.#taken = taken
    return refusal
  }

  /** Counts a request that fails before it is known what it needs. Answers what refuses it. */
  enterFailed(): Promise<Refusal | undefined> {
    return this.enter({ group: this.#facts.ownGroup, inputTokens: 0, outputTokens: 0 })
  }

  /** Notes the tokens that the request has been charged for. */
  used(tokens: number): void {
    this.#tokens = tokens
  }

  /** Gives back what the request held and did not use. Does nothing for one that was refused. */
  end(succeeded: boolean): void {
    if (this.#taken) this.#counters.end(this.#taken, { succeeded, tokens: this.#tokens })
    this.#taken = undefined
  }
}
