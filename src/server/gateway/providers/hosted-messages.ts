import { acceptedBetas, betasIn, betasOf } from './messages-body.ts'
import type { MessagesHost } from './messages-hosts.ts'
import type { CallerHeaders } from './provider.ts'

/** Messages as hosted by a cloud: the model is in the URL, version and betas are in the body. */
export function hostedMessages(
  body: Readonly<Record<string, unknown>>,
  host: MessagesHost,
  caller: CallerHeaders | undefined,
): Record<string, unknown> {
  const betas = acceptedBetas(host, [...betasOf(body), ...betasIn(caller?.['anthropic-beta'])])
  return {
    model: undefined,
    anthropic_version: host.versions[0],
    anthropic_beta: betas.length === 0 ? undefined : betas,
  }
}

export function isClaude(model: string): boolean {
  return /(^|[./])(anthropic\.)?claude-/.test(model)
}
