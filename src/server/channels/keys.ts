import type { Row } from '../db/schema.ts'
import { fail } from '../lib/failure.ts'
import type { Secrets } from '../lib/secrets.ts'
import type { Provider } from '../providers/provider.ts'

/** Keys of channels: read from what an admin typed, sealed at rest. A key is bound to its row, and never leaves but to its upstream. */
type Opener = { readonly secrets: Secrets }

const keysAtOnceMax = 1000

export function sealKey({ secrets }: Opener, id: number, key: string): string {
  return secrets.seal(key, place(id))
}

/** Throws when the row was tampered with or another master key sealed it. */
export function openKey({ secrets }: Opener, row: Pick<Row<'channels'>, 'id' | 'key_sealed'>): string {
  return secrets.open(row.key_sealed, place(row.id))
}

/** One key per line, or the whole text for providers whose keys have lines. Throws `channel_name_required` or `field_invalid`. */
export function readKeys({ keyHasLines }: Provider, text: string): string[] {
  const keys = (keyHasLines ? [text] : text.split(/\r\n|\r|\n/)).map((key) => key.trim()).filter((key) => key !== '')
  if (keys.length === 0) fail('channel_name_required')
  if (keys.length > keysAtOnceMax) refuse({ zh: `一次最多 ${keysAtOnceMax} 个`, en: `at most ${keysAtOnceMax} at once` })
  if (!keyHasLines && !keys.every(isHeaderText))
    refuse({ zh: '只能包含可见的 ASCII 字符', en: 'must hold visible ASCII characters only' })
  return keys
}

/** For a channel that exists: exactly one key. */
export function readOneKey(provider: Provider, text: string): string {
  const [key = '', ...more] = readKeys(provider, text)
  if (more.length > 0) refuse({ zh: '已有渠道只能有一个密钥', en: 'a channel that exists has one key' })
  return key
}

/** Whether a text can stand in a header. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function refuse(reason: { zh: string; en: string }): never {
  fail('field_invalid', { field: { zh: '密钥', en: 'key' }, reason })
}

function place(id: number) {
  return { table: 'channels', column: 'key_sealed', row: id }
}
