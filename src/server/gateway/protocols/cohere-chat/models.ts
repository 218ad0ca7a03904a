/** Models that think before they answer, and accept `thinking`. Source: Cohere's list of models, read 2026-11. */
export function canThink(model: string): boolean {
  return /command-a-reasoning/.test(model)
}

/**
 * `tool_choice` was introduced with Command R7B; older models return 400 for it. Source: Cohere's reference of `tool_choice`, read
 * 2026-11.
 */
export function takesToolChoice(model: string): boolean {
  return !/^(command$|command-nightly|command-light|command-r$|command-r-0|command-r-plus|c4ai-aya-(23|expanse))/.test(model)
}

/** Cohere recommends to leave a thousand of the 32 000 tokens of a reply for the text after the thinking. */
export const thinkingBudgetMax = 31_000
