import type { Channel } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { colorOf } from '../../../lib/colors.ts'
import { useQuotaFormat } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import type { RowGroup } from '../../../ui/list/listing.ts'
import shared from '../../../ui/shared.module.css'
import { useQuotaHint } from '../../../ui/view/quota-text.tsx'
import { Tag } from '../../../ui/view/tag.tsx'
import { texts } from '../texts.ts'
import { TagActions } from './tag-actions.tsx'
import type { Tagged } from './tagged.ts'

/** The heading of the channels of one tag: the number of enabled channels, their total usage, and actions on all of them. */
export function useTagGroups(rows: readonly Channel[], onEdit: (tagged: Tagged) => void): (channel: Channel) => RowGroup {
  const say = useText(texts)
  const format = useQuotaFormat()
  const hintOf = useQuotaHint()

  return ({ tag }) => {
    const channels = rows.filter((channel) => channel.tag === tag)
    const enabled = channels.filter(({ status }) => status === channelStatus.enabled).length
    const used = channels.reduce((sum, channel) => sum + channel.used_quota, 0)
    const title = (
      <span className={shared.facts}>
        {tag === '' ? <Tag>{say('noTag')}</Tag> : <Tag color={colorOf(tag)}>{say('tagGroup', { tag })}</Tag>}
        <span className={shared.aside}>{say('tagEnabled', { enabled, count: channels.length })}</span>
        <span className={shared.aside} title={hintOf(used)}>
          {say('tagUsed', { used: format(used) })}
        </span>
      </span>
    )
    if (tag === '') return { key: tag, name: say('noTag'), title }
    return { key: tag, title, actions: <TagActions tagged={{ tag, channels }} onEdit={onEdit} /> }
  }
}
