import { type JsonObject, textAt } from '../protocols/wire-format.ts'
import { acceptedBetas, betasIn, betasOf } from './messages-body.ts'
import { type MessagesHost, versionAt } from './messages-hosts.ts'
import type { CallerHeaders } from './provider.ts'

/** Messages as hosted by a cloud: the model is in the URL, version and betas are in the body. */
export function hostedMessages(
  body: JsonObject,
  { host, model }: { readonly host: MessagesHost; readonly model: string },
  caller: CallerHeaders | undefined,
): Record<string, unknown> {
  const asked = caller?.['anthropic-version'] ?? textAt(body, 'anthropic_version')
  const betas = acceptedBetas(host, [...betasOf(body), ...betasIn(caller?.['anthropic-beta'])])
  return {
    model: undefined,
    anthropic_version: versionAt(host, asked, model),
    anthropic_beta: betas.length === 0 ? undefined : betas,
  }
}

export function isClaude(model: string): boolean {
  return /(^|[./])(anthropic\.)?claude-/.test(model)
}
