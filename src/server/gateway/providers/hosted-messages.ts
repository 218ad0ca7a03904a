import type { CallerHeaders } from './provider.ts'

/** Messages as hosted by a cloud: the model is in the URL, version and betas are in the body. */
export function hostedMessages(
  body: Readonly<Record<string, unknown>>,
  version: string,
  caller: CallerHeaders | undefined,
): Record<string, unknown> {
  const betas = new Set(
    [...textsIn(body.anthropic_beta), ...(caller?.['anthropic-beta'] ?? '').split(',')].map((beta) => beta.trim()),
  )
  betas.delete('')
  return {
    model: undefined,
    anthropic_version: version,
    anthropic_beta: betas.size === 0 ? undefined : [...betas],
  }
}

export function isClaude(model: string): boolean {
  return /(^|[./])(anthropic\.)?claude-/.test(model)
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
