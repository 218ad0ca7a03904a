import type { DatabaseKind } from '../helpers/databases.ts'
import { sharedStages } from './shared-stage.ts'
import { type Answer, answeringUpstream, stage } from './stage.ts'

/**
 * A server with a channel to a vendor of the given type, whose models have the given prices: ratios for tokens, or dollars for a
 * call.
 */
export async function directStage(
  kind: DatabaseKind,
  answer: Answer,
  more: { channel: Record<string, unknown>; ratios?: Record<string, number>; prices?: Record<string, number> },
) {
  const staged = await beforeVendor(answer, (url) => stage(kind, url, { channel: more.channel }))
  const save = (key: string, value: Record<string, number>) =>
    staged.server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  if (more.ratios) await save('ModelRatio', more.ratios)
  if (more.prices) await save('ModelPrice', more.prices)
  return { ...staged, save }
}

/** The same on one shared server with these options. */
export function sharedDirectStages(...server: Parameters<typeof sharedStages>) {
  const sharedStage = sharedStages(...server)
  return (answer: Answer, channel: Record<string, unknown>) => beforeVendor(answer, (url) => sharedStage(url, channel))
}

async function beforeVendor(answer: Answer, open: (url: string) => ReturnType<typeof stage>) {
  const { url, heard } = await answeringUpstream(answer)
  const staged = await open(url)

  const form = async (path: string, data: FormData, key = staged.token.key) => {
    const response = await fetch(staged.server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: data,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ...staged, url, heard, form }
}

/** Lets fetches of untrusted addresses reach the loopback address, as if it were the public internet. */
export function openLoopback(server: { app: { upstream: object } }): void {
  Object.assign(server.app.upstream, {
    untrusted: {
      allowsPort: () => true,
      allows: () => true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    },
  })
}
