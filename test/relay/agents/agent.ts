import { scenario } from '../../helpers/agents/scenario.ts'

/** The observations and results of an agent until its answer. */
interface AgentRun {
  /** The text of the model in each turn; '' for a turn of only calls. */
  readonly texts: readonly string[]
  /** Its reasoning, as far as the agent was shown any. */
  readonly thoughts: readonly string[]
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  /** The structured answer, as the agent's own library read it. */
  readonly answer: unknown
  /** The sum over all turns; undefined when the library does not read the reported usage. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number } | undefined
}

export interface Asked {
  readonly url: string
  readonly key: string
  readonly model: string
  /** Whether to request reasoning: some models refuse it. */
  readonly reasons: boolean
}

/** A loop of a library as its documentation shows it: streams, runs the tools, sends the results, reads the answer. */
export type Agent = (asked: Asked) => Promise<AgentRun>

export const imageUrl = `data:image/png;base64,${scenario.image}`

/** Gathers what an agent does, turn by turn. */
export class Notes {
  readonly texts: string[] = []
  readonly thoughts: string[] = []
  readonly calls: { name: string; input: unknown }[] = []
  readonly usage = { input: 0, cached: 0, output: 0 }

  turn({ text, thought = '' }: { text: string; thought?: string | undefined }): void {
    this.texts.push(text)
    this.thoughts.push(thought)
  }

  call(name: string, input: unknown): void {
    this.calls.push({ name, input })
  }

  used({ input, cached, output }: { input: number; cached: number; output: number }): void {
    this.usage.input += input
    this.usage.cached += cached
    this.usage.output += output
  }

  run(answer: unknown): AgentRun {
    const { texts, thoughts, calls, usage } = this
    return { texts, thoughts, calls, usage, answer }
  }
}

/** Agents give up after this many turns. */
export const turnsMax = 5
