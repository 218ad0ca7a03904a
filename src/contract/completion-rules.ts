/**
 * Price ratio of output to input tokens by model family, for models without an entry in the administrator's CompletionRatio. The first
 * matching pattern is used; without a match the ratio is 1. Public price lists as of April 2025.
 */
const rules: readonly (readonly [pattern: RegExp, ratio: number])[] = [
  // Names of several models; only the administrator knows their price.
  [/^gpt-4.*(-all|-gizmo-\*)$/, 1],
  [/^gpt-4o-2024-05-13$/, 3],
  [/^gpt-4o/, 4],
  [/^gpt-4\.5/, 2],
  [/^gpt-4-turbo/, 3],
  [/^gpt-4.*preview$/, 3],
  [/^gpt-4/, 2],
  [/^o[13]/, 4],
  [/^chatgpt-4o-latest$/, 3],
  [/claude-instant-1/, 3],
  [/claude-2/, 3],
  [/claude-3/, 5],
  [/^gpt-3\.5-turbo$/, 3],
  [/^gpt-3\.5.*0125$/, 3],
  [/^gpt-3\.5.*1106$/, 2],
  [/^gpt-3\.5/, 1.3333333333333333],
  [/^mistral-/, 3],
  [/^gemini-2\.5-pro-preview/, 8],
  [/^gemini-/, 4],
  [/^command-r$/, 3],
  [/^command-r-plus$/, 5],
  [/^command/, 4],
  [/^deepseek-(chat|reasoner)$/i, 4],
  [/^ERNIE-(Speed-|Lite-|Character|Functions)/, 2],
  [/^llama2-70b-4096$/, 1.25],
  [/^llama3-8b-8192$/, 2],
  [/^llama3-70b-8192$/, 1.3389830508474578],
]

export function familyCompletionRatio(model: string): number {
  return rules.find(([pattern]) => pattern.test(model))?.[1] ?? 1
}

/** Price ratio of audio input to text input. Source: OpenAI's price list, April 2025. */
const audioRules: readonly (readonly [pattern: RegExp, ratio: number])[] = [
  [/^gpt-4o-mini.*realtime/, 16.67],
  [/^gpt-4o.*realtime-preview(-2024-12-17)?$/, 8],
  [/realtime/, 8],
  [/^gpt-4o-mini-audio/, 66.67],
  [/^gpt-4o-audio-preview-2024-10-01$/, 40],
  [/^gpt-4o-audio/, 16],
]

/** Whether cached audio costs what cached text costs. Source: OpenAI's price list of the realtime models, November 2026. */
export function cachesAudioAsText(model: string): boolean {
  return /realtime/.test(model)
}

export function familyAudioRatio(model: string): number {
  return audioRules.find(([pattern]) => pattern.test(model))?.[1] ?? 1
}
