/**
 * Families that can think. For others Ollama returns 400: "does not support thinking". A name may have a namespace before it and a
 * size after it. Source: the thinking capability in Ollama's model library, read 2026-11.
 */
const thinkers =
  /^(gpt-oss|qwen3(?!-(coder|embedding))|deepseek-(r1|v3\.[1-9])|magistral|cogito|glm-\d|kimi-k2-thinking|nemotron)/

export function canThink(model: string): boolean {
  return thinkers.test(nameOf(model))
}

/** Models that accept a level; the others accept only a boolean. */
export function thinksInLevels(model: string): boolean {
  return nameOf(model).startsWith('gpt-oss')
}

function nameOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase()
}
