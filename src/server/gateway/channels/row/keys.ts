import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Secrets } from '../../../base/lib/secrets/secrets.ts'
import type { Provider } from '../../providers/provider.ts'

/** Keys of channels: parsed from the admin's input, encrypted at rest. A key is bound to its channel, and sent only to its upstream. */
type Opener = { readonly secrets: Secrets }

const keysAtOnceMax = 1000

export function sealKey({ secrets }: Opener, channelId: number, key: string): string {
  return secrets.seal(key, place(channelId))
}

/** Throws when the row was tampered with or another master key sealed it. */
export function openKey({ secrets }: Opener, row: Pick<Row<'channel_keys'>, 'channel_id' | 'key_sealed'>): string {
  return secrets.open(row.key_sealed, place(row.channel_id))
}

/**
 * One key per line, or the whole text for providers whose keys have lines. A key may be pasted with the header that it is sent in.
 * Throws `channel_name_required` or `field_invalid`.
 */
export function readKeys({ keyHasLines }: Provider, text: string): string[] {
  const keys = (keyHasLines ? [text] : text.split(/\r\n|\r|\n/)).map(withoutScheme).filter((key) => key !== '')
  if (keys.length === 0) fail('channel_name_required')
  if (keys.length > keysAtOnceMax) refuse({ zh: `一次最多 ${keysAtOnceMax} 个`, en: `at most ${keysAtOnceMax} at once` })
  if (!keyHasLines && !keys.every(isHeaderText))
    refuse({ zh: '只能包含可见的 ASCII 字符', en: 'must hold visible ASCII characters only' })
  return keys
}

function withoutScheme(key: string): string {
  return key.trim().replace(/^(?:authorization\s*:\s*)?bearer(?:\s+|$)/i, '')
}

/** Reads the key of a channel that has one key and must keep only one. */
export function readOneKey(provider: Provider, text: string): string[] {
  const keys = readKeys(provider, text)
  if (keys.length > 1)
    refuse({ zh: '该渠道只有一个密钥；多个密钥请在密钥列表中添加', en: 'this channel has one key; add more in its list of keys' })
  return keys
}

/** The end of a key, by which an admin recognizes it; nothing of a short key, since its end would reveal too much. */
export function tailOf(key: string): string {
  return key.length < 12 ? '…' : `…${key.slice(-4)}`
}

/** Whether a text is valid in a header. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function refuse(reason: { zh: string; en: string }): never {
  fail('field_invalid', { field: { zh: '密钥', en: 'key' }, reason })
}

/** Named after the column that first held the only key of a channel: values encrypted then can still be decrypted. */
function place(channelId: number) {
  return { table: 'channels', column: 'key_sealed', row: channelId }
}
