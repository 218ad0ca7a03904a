import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Consumer, Overview } from '../../../contract/entities/call-statistics.ts'
import { logType } from '../../../contract/entities/log.ts'
import type { SystemInfo } from '../../../contract/entities/system.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { formatCount } from '../../lib/format.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { percent } from './figures.tsx'
import styles from './overview.module.css'
import { texts } from './texts.ts'

const failedCalls = { type: logType.error }

/** Channels with failures, each with its last error message. */
export function FailingPanel({ overview: { failing, from } }: { overview: Overview }) {
  const say = useText(texts)
  const language = useLanguage()
  return (
    <Panel title={say('failing')} description={say('failingHint')}>
      {failing.length === 0 ? (
        <p className={styles.none}>{say('noFailing')}</p>
      ) : (
        <ul className={shared.list}>
          {failing.map(({ id, name, attempts, failed, success, last }) => (
            <li key={id} className={styles.row}>
              <div className={styles.rowHead}>
                {name === '' ? (
                  <span>{say('gone', { id })}</span>
                ) : (
                  <Link to="/channel/edit/$id" params={{ id: String(id) }} className={styles.link}>
                    {name}
                  </Link>
                )}
                {success !== null && <Tag color={success < 0.9 ? 'red' : 'orange'}>{percent(success)}</Tag>}
                <span className={styles.quiet}>
                  {say('failedOf', { failed: formatCount(failed), attempts: formatCount(attempts) })}
                </span>
                <Link to="/log" search={{ ...failedCalls, channel: String(id), from }} className={styles.aside}>
                  {say('showLogs')}
                </Link>
              </div>
              {last && (
                <p className={styles.sentence}>
                  <code>{last.code}</code> {inOwnLanguage(last.message, language)}
                  <span className={styles.quiet}> · {say('lastSeen', { time: formatTime(last.last_at) })}</span>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

export function ErrorsPanel({ overview: { errors, from } }: { overview: Overview }) {
  const say = useText(texts)
  const language = useLanguage()
  return (
    <Panel title={say('errors')} description={say('errorsHint')}>
      {errors.length === 0 ? (
        <p className={styles.none}>{say('noErrors')}</p>
      ) : (
        <ul className={shared.list}>
          {errors.map(({ code, count, message }) => (
            <li key={code} className={styles.row}>
              <div className={styles.rowHead}>
                <Link to="/log" search={{ ...failedCalls, code, from }} className={styles.link}>
                  <code>{code}</code>
                </Link>
                <span className={styles.aside}>{say('times', { count: formatCount(count) })}</span>
              </div>
              {message !== '' && <p className={styles.sentence}>{inOwnLanguage(message, language)}</p>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

interface TopProps {
  readonly title: string
  readonly consumers: readonly Consumer[]
  /** The filter of the log for one consumer. */
  readonly searchOf: (consumer: Consumer) => Record<string, string>
  readonly from: number
}

/** The subjects with the most charges; each bar is relative to the greatest. */
export function TopPanel({ title, consumers, searchOf, from }: TopProps) {
  const say = useText(texts)
  const greatest = Math.max(1, ...consumers.map(({ quota }) => quota))
  return (
    <Panel title={title}>
      {consumers.length === 0 ? (
        <p className={styles.none}>{say('nobody')}</p>
      ) : (
        <ul className={shared.list}>
          {consumers.map((consumer) => {
            const { key, name, owner, requests, failed, quota } = consumer
            const detail = say('topDetail', { count: formatCount(requests), failed: formatCount(failed) })
            return (
              <li key={key} className={styles.top} title={detail}>
                <div className={styles.rowHead}>
                  {name === '' ? (
                    <span>{say('gone', { id: key })}</span>
                  ) : (
                    <Link to="/log" search={{ ...searchOf(consumer), from }} className={styles.link}>
                      {name}
                    </Link>
                  )}
                  {owner !== '' && <span className={styles.quiet}>{owner}</span>}
                  <span className={styles.aside}>
                    <QuotaText units={quota} />
                  </span>
                </div>
                <div className={styles.bar} aria-hidden="true">
                  <div style={{ width: `${(quota / greatest) * 100}%` }} />
                </div>
              </li>
            )
          })}
        </ul>
      )}
    </Panel>
  )
}

const everyMs = 15_000

/** Whether all nodes are alive and all jobs ended well. */
export function RunningPanel() {
  const say = useText(texts)
  const { data: system } = useQuery({ ...read('GET /api/system/'), refetchInterval: everyMs })
  const { data: jobs } = useQuery({ ...read('GET /api/job/'), refetchInterval: everyMs })
  const failed = jobs?.filter(({ outcome }) => outcome === 'failed' || outcome === 'timeout') ?? []
  return (
    <Panel
      title={say('running')}
      aside={
        <Button
          variant="default"
          size="compact-sm"
          renderRoot={(button) => <Link {...button} to="/setting" search={{ tab: 'runtime' }} />}
        >
          {say('showJobs')}
        </Button>
      }
    >
      <Facts
        facts={[
          {
            label: say('nodes'),
            value: system ? <NodeTags nodes={system.nodes} /> : '–',
          },
          {
            label: say('jobs'),
            value: jobs ? (
              <Tag color={failed.length === 0 ? 'green' : 'red'}>
                {failed.length === 0 ? say('jobsFine') : say('jobsFailed', { count: failed.length })}
              </Tag>
            ) : (
              '–'
            ),
          },
        ]}
      />
      <FailedJobs jobs={failed} />
    </Panel>
  )
}

function FailedJobs({
  jobs,
}: {
  jobs: readonly { readonly name: string; readonly label: { zh: string; en: string }; readonly detail: string }[]
}) {
  const local = useLocal()
  if (jobs.length === 0) return null
  return (
    <ul className={shared.list}>
      {jobs.map(({ name, label, detail }) => (
        <li key={name} className={styles.row}>
          <div className={styles.rowHead}>{local(label)}</div>
          {detail !== '' && <p className={styles.sentence}>{detail}</p>}
        </li>
      ))}
    </ul>
  )
}

/** A node that stopped is not listed; one that died stays for an hour, with the time of its last report. */
function NodeTags({ nodes }: Pick<SystemInfo, 'nodes'>) {
  const say = useText(texts)
  const gone = nodes.filter(({ alive }) => !alive)
  return (
    <Group gap={4}>
      <Tag color="green">{say('nodesAlive', { count: nodes.length - gone.length })}</Tag>
      {gone.map(({ name, seen_at }) => (
        <Tag key={name} color="gray">
          {say('nodeGone', { name, time: formatTime(seen_at) })}
        </Tag>
      ))}
    </Group>
  )
}
