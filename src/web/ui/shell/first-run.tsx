import { Box, Button, CloseButton, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { FirstRun } from '../../../contract/entities/system.ts'
import { guideHidden, useFirstRun } from '../../lib/first-run.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { storedFlag } from '../../lib/stored.ts'
import { Notice } from '../page/notice.tsx'

const texts = defineTexts({
  title: ['开始使用：第 {step} 步，共 3 步', 'Getting started: step {step} of 3'],
  channel: ['添加渠道，本站才有上游可用。', 'Add a channel to connect this site to an upstream.'],
  token: ['创建令牌，程序用它访问本站。', 'Create a token that apps use to call this site.'],
  call: ['发出第一个请求，看看一切是否就绪。', 'Send your first request to check that everything works.'],
  channelDo: ['添加渠道', 'Add channel'],
  tokenDo: ['创建令牌', 'Create token'],
  callDo: ['发送请求', 'Send request'],
  close: ['不再显示', 'Do not show again'],
})

/** A site that has answered once needs no reminder, and is not asked about again. */
const answered = storedFlag('first-run-answered', false)

const steps = [
  { name: 'channel', to: '/channel/add', at: '/channel' },
  { name: 'token', to: '/token', at: '/token' },
  { name: 'call', to: '/', at: '/' },
] as const

/** Guides through the first steps of a new installation, on every page except the one with the whole guide, until it is closed. */
export function FirstRunReminder({ path }: { path: string | undefined }) {
  const say = useText(texts)
  const isAnswered = answered.use()
  const state = useFirstRun({ enabled: !isAnswered })

  // Outside of React: local storage.
  useEffect(() => {
    if (state?.has_call) answered.write(true)
  }, [state])

  const index = state === undefined || isAnswered ? -1 : nextOf(state)
  const step = steps[index]
  if (step === undefined || path === '/') return null
  return (
    <Box mb="md">
      <Notice
        title={say('title', { step: index + 1 })}
        action={
          <Group gap="xs" wrap="nowrap">
            {step.at !== path && (
              <Button component={Link} to={step.to} size="compact-sm">
                {say(`${step.name}Do`)}
              </Button>
            )}
            <CloseButton aria-label={say('close')} title={say('close')} onClick={() => guideHidden.write(true)} />
          </Group>
        }
      >
        {say(step.name)}
      </Notice>
    </Box>
  )
}

/** The place of the first step that is not done, or -1. */
function nextOf({ has_channel: channel, has_token: token, has_call: call }: FirstRun): number {
  return call ? -1 : [channel, token, call].indexOf(false)
}
