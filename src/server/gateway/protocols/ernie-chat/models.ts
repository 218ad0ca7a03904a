/**
 * The maximum output of a model: Baidu rejects a greater `max_output_tokens`. Source: Baidu's pages of the models, read 2026-11.
 */
export function outputTokensMaxOf(model: string): number {
  return /128k/i.test(model) ? 4096 : 2048
}

/** The minimum `max_output_tokens` that Baidu accepts. */
export const outputTokensMin = 2

/** Only some models support functions and JSON answers; the others refuse `functions` and `response_format`. Source: as above. */
export function takesFunctions(model: string): boolean {
  return /^ernie-(3\.5|4\.0|bot|functions)/i.test(model)
}
