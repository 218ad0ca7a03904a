import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { confirm } from '../../../ui/dialog/confirm.tsx'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import { Facts } from '../../../ui/page/facts.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { TimeText } from '../../../ui/view/time-text.tsx'
import { NewerChanges, shownPrices } from './newer-changes.tsx'
import { newerTexts } from './newer-texts.ts'
import styles from './prices.module.css'

/** The public price data in use, and the changes of newer data, which super admins apply or dismiss. */
export function NewerPrices() {
  const say = useText(newerTexts)
  const state = useQuery(read('GET /api/pricing/data'))
  const check = useWrite('POST /api/pricing/data/check', { invalidates: shownPrices, success: ({ found }) => say(found) })
  const { in_use: inUse, newer, package_date: packageDate = '', undo } = state.data ?? {}
  const isApplied = inUse !== undefined && inUse.fetched_at > 0

  return (
    <Panel
      title={say('title')}
      description={say('description')}
      aside={
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} />}
          loading={check.isPending}
          onClick={() => check.mutate({})}
        >
          {say('check')}
        </Button>
      }
    >
      {state.error && <ErrorView error={state.error} onRetry={() => void state.refetch()} />}
      {inUse && (
        <Facts
          facts={[
            {
              label: say('inUse'),
              value: <Dated date={inUse.date}>{isApplied ? <TimeText seconds={inUse.fetched_at} /> : say('ofPackage')}</Dated>,
            },
            ...(undo ? [{ label: say('before'), value: <Return kind="undo" date={undo.date} /> }] : []),
            ...(isApplied ? [{ label: say('packageDate'), value: <Return kind="restore" date={packageDate} /> }] : []),
            {
              label: say('newerDate'),
              value: newer ? (
                <Dated date={newer.date}>
                  <TimeText seconds={newer.fetched_at} />
                </Dated>
              ) : (
                say('none')
              ),
            },
          ]}
        />
      )}
      {newer && <NewerChanges key={newer.hash} newer={newer} />}
    </Panel>
  )
}

/** The day of the newest price in the data, and where the data is from. */
function Dated({ date, children }: { date: string; children: ReactNode }) {
  return (
    <span className={styles.fact}>
      {date}
      <small className={shared.aside}>{children}</small>
    </span>
  )
}

const returns = {
  undo: { line: 'POST /api/pricing/data/undo', title: 'undoTitle', body: 'undoBody', done: 'undone' },
  restore: { line: 'POST /api/pricing/data/restore', title: 'restoreTitle', body: 'restoreBody', done: 'restored' },
} as const

interface ReturnProps {
  readonly kind: keyof typeof returns
  readonly date: string
}

/** Returns to the data before the last change, or to that of this version of the program. */
function Return({ kind, date }: ReturnProps) {
  const say = useText(newerTexts)
  const { line, title, body, done } = returns[kind]
  const back = useWrite(line, { invalidates: shownPrices, success: () => say(done) })

  async function ask(): Promise<void> {
    const question = { title: say(title), body: say(body, { date }), confirmLabel: say(kind) }
    if (await confirm(question)) back.mutate({})
  }

  return (
    <span className={styles.fact}>
      {date}
      <Button size="compact-sm" variant="light" loading={back.isPending} onClick={() => void ask()}>
        {say(kind)}
      </Button>
    </span>
  )
}
