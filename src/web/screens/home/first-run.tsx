import { Button } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleNumber1, IconCircleNumber2, IconCircleNumber3 } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { guideHidden, useFirstRun } from '../../lib/first-run.ts'
import { useText } from '../../lib/i18n.ts'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { FirstCall } from './first-call.tsx'
import styles from './home.module.css'
import { Moving } from './moving.tsx'
import { texts } from './texts.ts'

/** From nothing to the first answer: a channel, a token, a call. Hidden when everything is done and it was closed. */
export function FirstRun() {
  const say = useText(texts)
  const state = useFirstRun()
  // A site that was in use when the page was opened needs no guide; a site that completed the steps meanwhile shows that they are
  // done.
  const [isNew, setIsNew] = useState<boolean>()
  const isDone = Boolean(state?.has_channel && state.has_token && state.has_call)
  if (state !== undefined && isNew === undefined) setIsNew(!isDone)
  if (!state || !isNew) return null

  return (
    <Panel
      title={say('firstTitle')}
      description={say(isDone ? 'firstDone' : 'firstHint')}
      aside={
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => guideHidden.write(true)}>
          {say('firstHide')}
        </Button>
      }
    >
      <ol className={styles.steps}>
        <Step icon={<IconCircleNumber1 />} title={say('stepChannel')} hint={say('stepChannelHint')} done={state.has_channel}>
          <Button component={Link} to="/channel/add" variant={state.has_channel ? 'default' : 'filled'} size="sm">
            {say('stepChannelDo')}
          </Button>
        </Step>
        <Step icon={<IconCircleNumber2 />} title={say('stepToken')} hint={say('stepTokenHint')} done={state.has_token}>
          <Button component={Link} to="/token" variant={state.has_channel && !state.has_token ? 'filled' : 'default'} size="sm">
            {say('stepTokenDo')}
          </Button>
        </Step>
        <Step icon={<IconCircleNumber3 />} title={say('stepCall')} hint={say('stepCallHint')} done={state.has_call}>
          {state.has_channel ? <FirstCall /> : <p className={styles.stepHint}>{say('stepCallWaits')}</p>}
          {state.has_call && (
            <Button component={Link} to="/log" variant="default" size="sm">
              {say('stepLog')}
            </Button>
          )}
        </Step>
      </ol>
      {!state.has_channel && !state.has_token && <Moving />}
    </Panel>
  )
}

interface StepProps {
  readonly icon: ReactNode
  readonly title: string
  readonly hint: string
  readonly done: boolean
  readonly children: ReactNode
}

function Step({ icon, title, hint, done, children }: StepProps) {
  const say = useText(texts)
  return (
    <li className={styles.step} data-done={done}>
      <span className={styles.stepMark} role="img" aria-label={say(done ? 'stepDone' : 'stepOpen')}>
        {done ? <IconCircleCheckFilled /> : icon}
      </span>
      <div className={shared.grow}>
        <strong>{title}</strong>
        <p className={styles.stepHint}>{hint}</p>
        <div className={styles.stepActions}>{children}</div>
      </div>
    </li>
  )
}
