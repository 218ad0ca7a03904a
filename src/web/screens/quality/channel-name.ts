import type { QualityStanding } from '../../../contract/entities/quality-check.ts'
import type { Say } from '../../lib/i18n.ts'
import type { texts } from './texts.ts'

export function channelName(
  { channel_id: id, channel_name: name }: Pick<QualityStanding, 'channel_id' | 'channel_name'>,
  say: Say<keyof typeof texts>,
): string {
  return name === '' ? say('gone', { id }) : name
}
