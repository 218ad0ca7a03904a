import { isDeparted, type QualityCheck, type StandingState } from '../../../contract/entities/quality-check.ts'
import { useText } from '../../lib/i18n.ts'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './quality.module.css'
import { texts } from './texts.ts'

const colors: Readonly<Record<StandingState, string>> = { waiting: 'gray', ok: 'green', below: 'red', dropped: 'orange' }

export function StandingTag({ state }: { state: StandingState }) {
  const say = useText(texts)
  return (
    <Tag dot color={colors[state]}>
      {say(state)}
    </Tag>
  )
}

/** The state of a check, and the calls that its last run skipped. */
export function CheckState({ check }: { check: QualityCheck }) {
  const say = useText(texts)
  const { last_skipped: skipped, last_skip_code: code } = check
  return (
    <span className={styles.tags}>
      <MainTag check={check} />
      {skipped > 0 && (
        <HintTag
          color="yellow"
          hint={
            code === 'daily_limit' ? say('skipDaily') : code === 'price_missing' ? say('skipPrice') : say('skipOther', { code })
          }
        >
          {say('skipped', { count: skipped })}
        </HintTag>
      )}
    </span>
  )
}

function MainTag({
  check: { enabled, is_running: isRunning, standings, last_run_at: ranAt, last_skipped },
}: {
  check: QualityCheck
}) {
  const say = useText(texts)
  const away = standings.filter(({ state }) => isDeparted(state))
  if (isRunning)
    return (
      <Tag dot color="sluice">
        {say('running')}
      </Tag>
    )
  if (away.length > 0) {
    const hint = away.map(({ channel_name, channel_id, model }) => `${channel_name || `#${channel_id}`}: ${model}`).join(', ')
    return (
      <HintTag dot color="red" hint={hint}>
        {say('departed', { count: away.length })}
      </HintTag>
    )
  }
  if (!enabled) return <Tag>{say('off')}</Tag>
  if (ranAt === 0) return <Tag>{say('never')}</Tag>
  if (standings.length === 0) return last_skipped > 0 ? null : <Tag color="yellow">{say('noTarget')}</Tag>
  if (standings.some(({ state }) => state === 'ok')) return <StandingTag state="ok" />
  return <StandingTag state="waiting" />
}

/** Percent, without decimals. */
export function shareText(share: number): string {
  return share < 0 ? '—' : `${Math.round(share)}%`
}
