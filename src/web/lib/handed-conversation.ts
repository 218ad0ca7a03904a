/** A conversation that another screen hands to the playground, to be run again there. */
export interface HandedConversation {
  readonly model: string
  readonly system: string
  /** With the parameter names of Chat Completions. */
  readonly parameters: Readonly<Record<string, number | string>>
  readonly turns: readonly (HandedQuestion & { readonly answer: string })[]
  /** The last question, which has no answer yet. */
  readonly question: HandedQuestion
}

export interface HandedQuestion {
  readonly text: string
  /** As URLs. */
  readonly pictures: readonly string[]
}

let handed: HandedConversation | undefined

export function handConversation(conversation: HandedConversation): void {
  handed = conversation
}

/** Returns the conversation that was handed over, and removes it. */
export function takeConversation(): HandedConversation | undefined {
  const taken = handed
  handed = undefined
  return taken
}
